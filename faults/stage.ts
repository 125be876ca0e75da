import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { makeRoleProcess, type RoleProcess } from "../deploy/cluster/role-process.ts";
import { createOrganization, type CreatedOrganization } from "../domain/organizations/create.ts";
import type { ClickHouse } from "../platform/clickhouse/port.ts";
import { readConfig } from "../platform/config.ts";
import { makeLifecycle, type Lifecycle } from "../platform/lifecycle.ts";
import { makeLog } from "../platform/log.ts";
import type { Database } from "../platform/postgres/database.ts";
import { startPharos } from "../roles/start.ts";
import type { Role } from "../schemas/vocabulary.ts";
import type { FaultProxy } from "../testing/fault-proxy.ts";
import { freePort, type Kafka } from "../testing/kafka.ts";
import { buildService } from "../testing/service-process.ts";
import type { LoadedStage } from "./fault.ts";
import { startStores } from "./stores.ts";

const COPIES: Record<Role, number> = { edge: 2, processor: 2, scheduler: 1, "control-plane": 1 };
const STOP_MS = 15_000;
/** A count that has not grown for so long will not. */
const STANDS_STILL_MS = 60_000;
/** Nor may details be left out: an event is known by its url. */
const NO_LIMITS = { ERROR_DETAILS_PER_MINUTE: "1000000000", RATE_LIMIT_STANDARD: "free:0,pro:0,team:0", RATE_LIMIT_HEARTBEAT_MONITOR: "0", RATE_LIMIT_HEARTBEAT_KEY: "0", RATE_LIMIT_ANONYMOUS: "0" };

/** Pharos in several processes on stores that can be taken away, one organization for each fault. */
export interface Stage {
  processes: readonly RoleProcess[];
  of(role: Role): RoleProcess[];
  /** Addresses of the edges. */
  edges: readonly string[];
  /** Of the control plane. */
  base: string;
  kafka: Kafka;
  /** Between the processes and their stores. */
  postgres: FaultProxy;
  clickhouse: FaultProxy;
  /** PostgreSQL ends at once, as when its machine dies, and recovers. */
  killPostgres(): Promise<void>;
  /** Stops PostgreSQL, copies its files, and starts it again. */
  copyPostgres(): Promise<void>;
  /** Ends PostgreSQL at once and starts it with the files of the last copy: a restore from a backup. */
  restorePostgres(): Promise<void>;
  /** ClickHouse ends at once and starts again, at another port behind the same proxy. */
  killClickHouse(): Promise<void>;
  /** Past the proxies. */
  database: Database;
  rows: ClickHouse;
  organization(name: string): Promise<CreatedOrganization>;
  /** Occurrences that GET /errors tells of; null while the API does not answer. */
  counted(apiKey: string): Promise<number | null>;
  /** Waits until GET /errors has counted so many and no more come; gives the time in ms, Infinity beyond `limitMs`. Waits on as long as the count grows, so that what is late is not taken for lost. */
  untilCounted(apiKey: string, atLeast: () => number, limitMs: number): Promise<number>;
  stop(): Promise<void>;
}

interface StageNeeds {
  settings?: Record<string, string>;
  /** Where the processes keep their files, spools among them; a new folder unless given. */
  dataFolder?: string;
}

/** Starts everything; needs a real Kafka. Nothing is left when a part cannot start. */
export async function startStage(needs: StageNeeds = {}): Promise<Stage> {
  const lifecycle = makeLifecycle(makeLog("silent"));
  try {
    await buildService();
    return await start(needs, lifecycle);
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/** One Pharos with every role on its embedded stores, in this process: `npm start`, in a folder of the caller's. */
export async function startAlone(folder: string): Promise<LoadedStage & { stop(): Promise<void> }> {
  const read = readConfig({ PHAROS_DATA_DIR: folder, PORT: "0", EDGE_PORT: "0", HOST: "127.0.0.1", LOG_LEVEL: process.env.LOG_LEVEL ?? "silent", ...NO_LIMITS });
  if ("faults" in read) throw new Error(read.faults.join("\n"));
  const { house, baseUrl, edgeUrl, stop } = await startPharos({
    config: read.config,
    log: makeLog(read.config.LOG_LEVEL),
    onLost: (sentence) => {
      throw new Error(sentence);
    },
  });
  const counted = (apiKey: string) => countErrors(baseUrl!, apiKey);
  return {
    edges: [edgeUrl!],
    rows: house.clickhouse,
    organization: (name) => createOrganization(house.database, { name, plan: "team" }),
    counted,
    untilCounted: (apiKey, atLeast, limitMs) => untilCounted(() => counted(apiKey), atLeast, limitMs),
    stop,
  };
}

async function start({ settings = {}, dataFolder }: StageNeeds, lifecycle: Lifecycle): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "pharos-faults-"));
  lifecycle.add({ name: "folder", stop: () => rm(folder, { recursive: true, force: true }) });
  const stores = await startStores(folder, lifecycle);
  const env = {
    ...process.env,
    LOG_LEVEL: "warn",
    WORKER_THREADS: "1",
    ...NO_LIMITS,
    ...settings,
    ...stores.environment,
    PHAROS_DATA_DIR: dataFolder ?? folder,
    HOST: "127.0.0.1",
  };
  const processes: RoleProcess[] = [];
  for (const [role, copies] of Object.entries(COPIES) as [Role, number][]) {
    for (let copy = 1; copy <= copies; copy++) processes.push(makeRoleProcess({ name: `${role}-${copy}`, role, port: await freePort(), logFile: join(folder, `${role}-${copy}.log`), env }));
  }
  lifecycle.add({ name: "processes", stop: async () => void (await Promise.all(processes.map((each) => each.end(STOP_MS)))) });
  const started = await Promise.allSettled(processes.map((each) => each.start()));
  for (const result of started) if (result.status === "rejected") throw result.reason;

  const addresses = (role: Role) => processes.filter((each) => each.role === role).map(({ port }) => `http://127.0.0.1:${port}`);
  const base = addresses("control-plane")[0]!;
  const counted = (apiKey: string) => countErrors(base, apiKey);
  return {
    ...stores,
    processes,
    of: (role) => processes.filter((each) => each.role === role),
    edges: addresses("edge"),
    base,
    organization: (name) => createOrganization(stores.database, { name, plan: "team" }),
    counted,
    untilCounted: (apiKey, atLeast, limitMs) => untilCounted(() => counted(apiKey), atLeast, limitMs),
    stop: () => lifecycle.stop(),
  };
}

async function countErrors(base: string, apiKey: string): Promise<number | null> {
  try {
    const response = await fetch(`${base}/api/v1/errors?limit=100`, { headers: { "X-API-Key": apiKey }, signal: AbortSignal.timeout(10_000) });
    if (!response.ok) return null;
    const { errors } = (await response.json()) as { errors: { occurrences: number }[] };
    return errors.reduce((sum, { occurrences }) => sum + occurrences, 0);
  } catch {
    return null;
  }
}

/** What got no answer may be counted as well, so it ends when the count has stood for a second; or for long, when not all is there. */
async function untilCounted(count: () => Promise<number | null>, atLeast: () => number, limitMs: number): Promise<number> {
  const began = performance.now();
  let before: number | null = null;
  let reachedAfter: number | null = null;
  let grewAfter = 0;
  for (;;) {
    const now = await count();
    const took = performance.now() - began;
    if (now !== null && now >= atLeast()) reachedAfter ??= took;
    if (reachedAfter !== null && now === before) return reachedAfter <= limitMs ? reachedAfter : Infinity;
    if (now !== before) grewAfter = took;
    if (took > limitMs && took - grewAfter > STANDS_STILL_MS) return Infinity;
    before = now;
    await wait(reachedAfter === null ? 100 : 1_000);
  }
}
