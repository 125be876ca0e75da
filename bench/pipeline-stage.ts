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

/** Every role in one process beside a real Kafka, PostgreSQL and ClickHouse. `--profile folder` leaves a V8 CPU profile of it there. */
export interface Pipeline {
  base: string;
  edgePort: number;
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
  stop(): Promise<void>;
}

interface PipelineNeeds {
  /** How many services the organization has beside its first. */
  services?: number;
  /** Heartbeat monitors called job-0, job-1, … */
  monitors?: number;
  settings?: Record<string, string>;
}

export async function startPipeline({ services = 0, monitors = 0, settings = {} }: PipelineNeeds = {}): Promise<Pipeline> {
  await buildService();
  const stores = await startEdgeStores({ monitors, services });
  const folder = await mkdtemp(join(tmpdir(), "pharos-bench-"));
  const noLimits = { RATE_LIMIT_STANDARD: "free:0,pro:0,team:0", RATE_LIMIT_METRICS: "free:0,pro:0,team:0", RATE_LIMIT_HEARTBEAT_MONITOR: "0", RATE_LIMIT_HEARTBEAT_KEY: "0", RATE_LIMIT_ANONYMOUS: "0" };
  const environment = { ...process.env, ...noLimits, ...settings, ...stores.environment, PHAROS_DATA_DIR: folder, PORT: "0", EDGE_PORT: "0", LOG_LEVEL: "warn", NODE_ENV: "production" };
  const profile = option("profile", "");
  const child = spawn(process.execPath, [...(profile === "" ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]), join(PROJECT_ROOT, "dist/main.js")], { cwd: PROJECT_ROOT, env: environment, stdio: ["ignore", "pipe", "inherit"] });
  const database = openDatabase(stores.environment.DATABASE_URL!, 1, makeLog("silent"));
  const stop = async () => {
    await database.$client.end();
    await end(child);
    await stores.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const { base, edgePort } = await addresses(child);
    // The children of this process are the stores: PostgreSQL's processes, ClickHouse's engine, and the shell that guards the broker.
    const parts = new Map([["Pharos", () => cpuOf(child.pid!)], ...storeProcesses(child.pid!)]);
    return {
      base,
      edgePort,
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
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function addresses(child: ChildProcess): Promise<{ base: string; edgePort: number }> {
  let output = "";
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (/Fast ingest .*\n/.test(output)) break;
  }
  child.stdout!.resume();
  const base = /Start page\s+(\S+?)\/\n/.exec(output)?.[1];
  const edgePort = Number(/Fast ingest\s+http:\/\/localhost:(\d+)/.exec(output)?.[1]);
  if (base === undefined || !edgePort) throw new Error(`Pharos ended before it was ready:\n${output}`);
  return { base, edgePort };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}

const NAMES: readonly (readonly [RegExp, string])[] = [[/kafka\.Kafka/, "Kafka"], [/serve-embedded/, "ClickHouse"], [/postgres/, "PostgreSQL"]];

/** How to read the CPU time of each store: the processes below this one, backends that have ended among them as far as their parent counts them. */
function storeProcesses(except: number): [string, () => number][] {
  return NAMES.map(([pattern, name]) => [
    name,
    () =>
      descendantsOf(process.pid)
        .filter((pid) => pid !== except && pattern.test(commandOf(pid)))
        .reduce((sum, pid) => sum + cpuOrNothing(pid), 0),
  ]);
}

const commandOf = (pid: number): string => readOrEmpty(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
