import { serviceEnvironment, startServiceProcess, type ServiceProcess } from "../../testing/service-process.ts";

const started = new Set<ServiceProcess>();

/** Six partitions: some are left as the kill leaves them. Every row keeps its url, by which a ledger knows it. */
export function upgradeEnvironment(folder: string, settings: Record<string, string> = {}): NodeJS.ProcessEnv {
  return serviceEnvironment(folder, { LOG_PARTITIONS: "6", ERROR_DETAILS_PER_MINUTE: "1000000", ...settings });
}

/** Starts Pharos, of this version unless another `program` is given; `endServices` ends it. */
export async function startService(environment: NodeJS.ProcessEnv, program?: string): Promise<ServiceProcess> {
  const service = await startServiceProcess(environment, program);
  started.add(service);
  void service.exited.then(() => started.delete(service));
  return service;
}

/** Ends what a run that failed has left. */
export async function endServices(): Promise<void> {
  const left = [...started];
  for (const { child } of left) child.kill("SIGKILL");
  await Promise.all(left.map(({ exited }) => exited));
}
