import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createDemo } from "../../domain/organizations/create-demo.ts";
import { startEmbeddedClickHouse } from "../../platform/clickhouse/start-embedded.ts";
import type { Config } from "../../platform/config.ts";
import { claimDataFolder } from "../../platform/data-folder.ts";
import { makeLifecycle, type Lifecycle } from "../../platform/lifecycle.ts";
import type { Log } from "../../platform/log.ts";
import { writeAddress } from "../../platform/postgres/address-file.ts";
import { openDatabase } from "../../platform/postgres/database.ts";
import { startEmbeddedPostgres } from "../../platform/postgres/embedded.ts";
import { prepareLogins } from "../../platform/postgres/logins.ts";
import { migrate } from "../../platform/postgres/migrate.ts";
import { requireFreePort } from "../../platform/require-free-port.ts";
import type { Demo } from "../../roles/start.ts";
import type { Role } from "../../schemas/vocabulary.ts";
import { freePort } from "../../testing/kafka.ts";
import { startGateway } from "./gateway.ts";
import { startClusterKafka } from "./kafka.ts";
import { makeRoleProcess, type RoleProcess } from "./role-process.ts";

/** How many processes of each role. */
const COPIES: Record<Role, number> = { edge: 2, processor: 2, scheduler: 1, "control-plane": 2 };

/** Doors first, so that nothing new comes in; then what works on what came in. */
const STOP_ORDER: readonly (readonly Role[])[] = [["edge"], ["processor", "scheduler", "control-plane"]];

/** How long a part may take to end in good order, in ms; together below 20 s. */
const GATEWAY_STOP_MS = 2_000;
const ROLE_STOP_MS = 5_500;
const KAFKA_STOP_MS = 5_000;

/** Pharos in several processes on one machine. */
export interface Cluster {
  /** The gateway's address: everything of Pharos under one. */
  url: string;
  folder: string;
  processes: readonly RoleProcess[];
  kafka: { address: string; pid: number; logFile: string };
  gateway: { pid: number; logFile: string };
  databaseUrl: string;
  clickhouseUrl: string;
  /** The demo organization with its keys; on the first start only. */
  demo: Demo | null;
  /** Ends everything, doors first. Never rejects. */
  stop(): Promise<void>;
  stopping(): boolean;
}

interface ClusterNeeds {
  /** PHAROS_DATA_DIR, HOST and PORT (the gateway's; 0 picks one) are used here. */
  config: Config;
  /** What the processes get beside the addresses of the stores. */
  env: NodeJS.ProcessEnv;
  log: Log;
  /** A store or the gateway ended by itself. */
  onLost(sentence: string): void;
}

/** Starts the stores, then the processes, then the gateway. Throws StartFailure when a part cannot start; nothing is left then. */
export async function startCluster(needs: ClusterNeeds): Promise<Cluster> {
  const lifecycle = makeLifecycle(needs.log);
  try {
    return await start(needs, lifecycle);
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

async function start({ config, env, log, onLost }: ClusterNeeds, lifecycle: Lifecycle): Promise<Cluster> {
  const { HOST: host } = config;
  const dataFolder = await claimDataFolder(config.PHAROS_DATA_DIR);
  lifecycle.add({ name: "data folder", stop: () => dataFolder.release() });
  const folder = dataFolder.path;
  const logs = join(folder, "logs");
  await mkdir(logs, { recursive: true, mode: 0o700 });
  if (config.PORT !== 0) await requireFreePort("PORT", host, config.PORT);
  const port = config.PORT || (await freePort());

  const lost = (exited: Promise<string>) => void exited.then((sentence) => lifecycle.stopping() || onLost(sentence));
  const postgres = await startEmbeddedPostgres({ folder: join(folder, "postgres"), log, settings: { max_connections: "250" } });
  lifecycle.add({ name: "postgres", stop: () => postgres.stop() });
  lost(postgres.exited);
  const demo = await prepareDatabase(postgres.url, join(folder, "postgres"), { withDemo: config.DEMO, log });
  const clickhouse = await startEmbeddedClickHouse({ folder: join(folder, "clickhouse"), log });
  lifecycle.add({ name: "clickhouse", stop: () => clickhouse.stop() });
  lost(clickhouse.exited);

  const kafkaLog = join(logs, "kafka.log");
  const kafka = await startClusterKafka(join(folder, "kafka"), kafkaLog);
  lifecycle.add({ name: "kafka", stop: () => kafka.broker.end("SIGTERM", KAFKA_STOP_MS) });
  lost(kafka.broker.exited.then((code) => `Kafka ended with ${code}; ${kafkaLog} says why.`));

  const stores = { DATABASE_URL: postgres.url, CLICKHOUSE_URL: clickhouse.url, KAFKA_BROKERS: kafka.address };
  const processes = await startProcesses({ ...roleSettings(host, port), ...env, ...stores, PHAROS_DATA_DIR: folder, HOST: "127.0.0.1" }, logs, lifecycle);

  const portsOf = (role: Role) => processes.filter((each) => each.role === role).map((each) => each.port);
  const gatewayLog = join(logs, "gateway.log");
  const gateway = await startGateway({ folder: join(folder, "gateway"), logFile: gatewayLog, host, port, edgePorts: portsOf("edge"), controlPlanePorts: portsOf("control-plane") });
  // SIGQUIT answers what was taken in; SIGTERM would not.
  lifecycle.add({ name: "gateway", stop: () => gateway.end("SIGQUIT", GATEWAY_STOP_MS) });
  lost(gateway.exited.then((code) => `The gateway ended with ${code}; ${gatewayLog} says why.`));
  dataFolder.describe({ port, edgePort: null });

  return {
    url: addressOf(host, port),
    folder,
    processes,
    kafka: { address: kafka.address, pid: kafka.broker.pid, logFile: kafkaLog },
    gateway: { pid: gateway.pid, logFile: gatewayLog },
    databaseUrl: postgres.url,
    clickhouseUrl: clickhouse.url,
    demo,
    stop: () => lifecycle.stop(),
    stopping: () => lifecycle.stopping(),
  };
}

function addressOf(host: string, port: number): string {
  const everywhere = ["127.0.0.1", "0.0.0.0", "::"].includes(host);
  return `http://${everywhere ? "localhost" : host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** What the processes are told unless the environment says otherwise. */
function roleSettings(host: string, port: number): NodeJS.ProcessEnv {
  return { PUBLIC_URL: addressOf(host, port), SHUTDOWN_LIMIT_MS: "5000" };
}

/** Tables and, if it is wanted, the demo organization, before any process runs, so that its keys can be told here. */
async function prepareDatabase(url: string, folder: string, { withDemo, log }: { withDemo: boolean; log: Log }): Promise<Demo | null> {
  await migrate(url, log);
  const { application } = await prepareLogins({ url, log });
  await writeAddress(folder, application);
  const database = openDatabase(application, 1, log);
  try {
    return withDemo ? await createDemo(database) : null;
  } finally {
    await database.$client.end();
  }
}

async function startProcesses(env: NodeJS.ProcessEnv, logs: string, lifecycle: Lifecycle): Promise<RoleProcess[]> {
  const processes: RoleProcess[] = [];
  for (const [role, copies] of Object.entries(COPIES) as [Role, number][]) {
    for (let copy = 1; copy <= copies; copy++) {
      const name = `${role}-${copy}`;
      processes.push(makeRoleProcess({ name, role, port: await freePort(), logFile: join(logs, `${name}.log`), env }));
    }
  }
  for (const roles of STOP_ORDER.toReversed()) {
    const group = processes.filter(({ role }) => roles.includes(role));
    lifecycle.add({
      name: roles.join(", "),
      async stop() {
        await Promise.all(group.map((each) => each.end(ROLE_STOP_MS)));
      },
    });
  }
  // All at once, as a machine that comes up would: what is done once is done by one of them under a lock.
  const started = await Promise.allSettled(processes.map((each) => each.start()));
  for (const result of started) if (result.status === "rejected") throw result.reason;
  return processes;
}
