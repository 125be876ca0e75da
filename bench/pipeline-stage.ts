import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOrganization, type CreatedOrganization } from "../domain/organizations/create.ts";
import { openDatabase } from "../platform/postgres/database.ts";
import { makeLog } from "../platform/log.ts";
import { PROJECT_ROOT } from "../platform/root.ts";
import { buildService } from "../testing/service-process.ts";
import { startEdgeStores } from "./edge-stores.ts";
import { cpuOf, cpuOrNothing, descendantsOf, option, readOrEmpty } from "./measuring.ts";
import { endServer, startServer, type Server } from "./servers.ts";

/**
 * Every role in one process beside a real Kafka, PostgreSQL and ClickHouse; with `edges`, the edges in processes of their own.
 * `--profile folder` leaves a V8 CPU profile of the former there.
 */
export interface Pipeline {
  base: string;
  /** Of the first edge. */
  edgePort: number;
  edgePorts: number[];
  databaseUrl: string;
  clickhouseUrl: string;
  organizationId: string;
  apiKey: string;
  beaconKey: string;
  serviceIds: string[];
  /** Another one, with a service of its own. */
  createOrganization(name: string): Promise<CreatedOrganization>;
  /** µs so far of each server process, by what it is; the load generator is not among them. */
  cpu(): Map<string, number>;
  /** Tells Postgres how much its tables hold, which in a service that runs it found out long ago. */
  analyze(): Promise<void>;
  /** Events that signatures count so far. */
  counted(): Promise<number>;
  /** Events that stand in the log and are not processed. */
  lag(): Promise<number>;
  /** Stops the one process where it stands, as a machine that hangs; with `edges`, they go on. */
  freeze(): void;
  /** Lets it go on. */
  thaw(): void;
  stop(): Promise<void>;
}

interface PipelineNeeds {
  /** How many services the organization has beside its first. */
  services?: number;
  /** Heartbeat monitors called job-0, job-1, … */
  monitors?: number;
  settings?: Record<string, string>;
  /** How many processes play the edge alone; unless given, the one process plays every role. */
  edges?: number;
  /** How many more processes there are that play the processor alone. */
  processors?: number;
  /** Where PostgreSQL and ClickHouse live and stay; they are deleted unless given. */
  storesFolder?: string;
}

export async function startPipeline({ services = 0, monitors = 0, settings = {}, edges = 0, processors = 0, storesFolder }: PipelineNeeds = {}): Promise<Pipeline> {
  if (!process.env.NOBUILD) await buildService();
  const stores = await startEdgeStores({ monitors, services, ...(storesFolder !== undefined && { folder: storesFolder }) });
  const folder = await mkdtemp(join(tmpdir(), "pharos-bench-"));
  const noLimits = { RATE_LIMIT_STANDARD: "free:0,pro:0,team:0", RATE_LIMIT_METRICS: "free:0,pro:0,team:0", RATE_LIMIT_HEARTBEAT_MONITOR: "0", RATE_LIMIT_HEARTBEAT_KEY: "0", RATE_LIMIT_ANONYMOUS: "0" };
  const common = { ...noLimits, ...settings, ...stores.environment, PORT: "0", EDGE_PORT: "0", LOG_LEVEL: "warn", NODE_ENV: "production" };
  const environment = { ...process.env, ...common, PHAROS_DATA_DIR: folder, ...(edges > 0 && { PHAROS_ROLES: "processor,scheduler,control-plane" }) };
  const profile = option("profile", "");
  const child = spawn(process.execPath, [...(profile === "" ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]), join(PROJECT_ROOT, "dist/main.js")], { cwd: PROJECT_ROOT, env: environment, stdio: ["ignore", "pipe", "inherit"] });
  const database = openDatabase(stores.environment.DATABASE_URL!, 1, makeLog("silent"));
  const apart: Server[] = [];
  const more: Server[] = [];
  const stop = async () => {
    await Promise.all([...apart, ...more].map(endServer));
    await database.$client.end();
    await end(child);
    await stores.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const { base, edgePort } = await addresses(child, edges > 0 ? /Start page .*\n/ : /Fast ingest .*\n/);
    // One after the other: together their starts would take all of a small machine.
    for (let number = 0; number < edges; number++) apart.push(await startServer([join(PROJECT_ROOT, "dist/main.js")], { ...common, PHAROS_ROLES: "edge", PHAROS_DATA_DIR: join(folder, `edge-${number}`) }, /Fast ingest\s+http:\/\/localhost:(\d+)/));
    for (let number = 0; number < processors; number++) more.push(await startServer([join(PROJECT_ROOT, "dist/main.js")], { ...common, PHAROS_ROLES: "processor", PHAROS_DATA_DIR: join(folder, `processor-${number}`) }, /Pharos is ready\./));
    const edgePorts = apart.length > 0 ? apart.map(({ port }) => port) : [edgePort];
    const pids = [child, ...[...apart, ...more].map((server) => server.child)].map(({ pid }) => pid!);
    const cpuOfAll = (servers: readonly Server[]) => () => servers.reduce((sum, server) => sum + cpuOf(server.child.pid!), 0);
    // The children of this process are the stores: PostgreSQL's processes, ClickHouse's engine, and the shell that guards the broker.
    const parts = new Map<string, () => number>([["Pharos", () => cpuOf(child.pid!)], ...(edges > 0 ? [["edges", cpuOfAll(apart)] as const] : []), ...(processors > 0 ? [["more processors", cpuOfAll(more)] as const] : []), ...storeProcesses(pids)]);
    return {
      base,
      edgePort: edgePorts[0]!,
      edgePorts,
      databaseUrl: stores.environment.DATABASE_URL!,
      clickhouseUrl: stores.environment.CLICKHOUSE_URL!,
      organizationId: stores.organization.organizationId,
      apiKey: stores.organization.apiKey,
      beaconKey: stores.organization.beaconKey,
      serviceIds: stores.serviceIds,
      createOrganization: (name) => createOrganization(database, { name, plan: "team" }),
      cpu: () => new Map([...parts].map(([name, read]) => [name, read()])),
      async analyze() {
        await database.$client.query("vacuum analyze");
      },
      async counted() {
        const { rows } = await database.$client.query<{ counted: string }>("select coalesce(sum(occurrences), 0) as counted from error_signatures");
        return Number(rows[0]!.counted);
      },
      async lag() {
        const text = await (await fetch(`${base}/metrics`)).text();
        return [...text.matchAll(/^pharos_pipeline_lag_events\{.*\} (\S+)$/gm)].reduce((sum, [, value]) => sum + Number(value), 0);
      },
      freeze: () => void child.kill("SIGSTOP"),
      thaw: () => void child.kill("SIGCONT"),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** `edgePort` is 0 when the process plays no edge. */
async function addresses(child: ChildProcess, ready: RegExp): Promise<{ base: string; edgePort: number }> {
  let output = "";
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (ready.test(output)) break;
  }
  child.stdout!.resume();
  const base = /Start page\s+(\S+?)\/\n/.exec(output)?.[1];
  const edgePort = Number(/Fast ingest\s+http:\/\/localhost:(\d+)/.exec(output)?.[1] ?? 0);
  if (base === undefined || !ready.test(output)) throw new Error(`Pharos ended before it was ready:\n${output}`);
  return { base, edgePort };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}

const NAMES: readonly (readonly [RegExp, string])[] = [[/kafka\.Kafka/, "Kafka"], [/serve-embedded/, "ClickHouse"], [/postgres/, "PostgreSQL"]];

/** How to read the CPU time of each store: the processes below this one, backends that have ended among them as far as their parent counts them. */
function storeProcesses(except: readonly number[]): [string, () => number][] {
  return NAMES.map(([pattern, name]) => [
    name,
    () =>
      descendantsOf(process.pid)
        .filter((pid) => !except.includes(pid) && pattern.test(commandOf(pid)))
        .reduce((sum, pid) => sum + cpuOrNothing(pid), 0),
  ]);
}

const commandOf = (pid: number): string => readOrEmpty(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
