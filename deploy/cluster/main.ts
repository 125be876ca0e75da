/**
 * `npm run cluster`: Pharos in several processes on one machine, behind nginx, on a real Kafka. Settings are those of
 * docs/configuration.md; PORT is the gateway's, PHAROS_DATA_DIR is ./data/cluster unless given.
 */
import { setTimeout as wait } from "node:timers/promises";
import { readConfig } from "../../platform/config.ts";
import { makeLog } from "../../platform/log.ts";
import { StartFailure } from "../../platform/start-failure.ts";
import { greeting } from "../../roles/greeting.ts";
import type { RoleProcess } from "./role-process.ts";
import { startCluster, type Cluster } from "./start.ts";

const STOP_LIMIT_MS = 20_000;
/** Before a process that ended by itself is started again. */
const RESTART_AFTER_MS = 1_000;

const read = readConfig({ PHAROS_DATA_DIR: "./data/cluster", ...process.env, PHAROS_ROLES: "all" });
if ("faults" in read) {
  console.error(["The cluster cannot start with these settings:", ...read.faults.map((fault) => `  ${fault}`), "docs/configuration.md describes every setting."].join("\n"));
  process.exit(1);
}
const { config } = read;
const log = makeLog(config.LOG_LEVEL);
let cluster: Cluster | null = null;
let stopping = false;

function stop(reason: string, exitCode: number): void {
  // The guards of the processes end them when this one is gone.
  if (stopping) process.exit(exitCode || 1);
  stopping = true;
  console.log(`\n${reason}: stopping, doors first.`);
  setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
  if (cluster) void cluster.stop().then(() => process.exit(exitCode));
}

process.on("SIGTERM", () => stop("SIGTERM", 0));
process.on("SIGINT", () => stop("Ctrl-C", 0));

try {
  console.log("Starting PostgreSQL, ClickHouse, Kafka, seven processes of Pharos and nginx …");
  cluster = await startCluster({ config, env: process.env, log, onLost: (sentence) => (console.error(sentence), stop("A part was lost", 1)) });
  if (stopping) void cluster.stop().then(() => process.exit(0));
  else {
    console.log(greeting({ baseUrl: cluster.url, edgeUrl: null, demo: cluster.demo }));
    console.log(describe(cluster));
    for (const each of cluster.processes) void keepRunning(each);
  }
} catch (error) {
  if (!(error instanceof StartFailure)) throw error;
  console.error(error.message);
  process.exit(1);
}

function describe({ processes, kafka, gateway, folder }: Cluster): string {
  const rows = [
    ["gateway", String(gateway.pid), String(new URL(cluster!.url).port || 80), gateway.logFile],
    ...processes.map(({ name, pid, port, logFile }) => [name, String(pid()), String(port), logFile]),
    ["kafka", String(kafka.pid), kafka.address.split(":")[1]!, kafka.logFile],
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length), 4));
  const line = (row: readonly string[]) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`;
  return [
    line(["part", "pid", "port", "what it prints"]),
    ...rows.map(line),
    "",
    `PostgreSQL and ClickHouse live in ${folder}. Make more organizations with:`,
    `  PHAROS_DATA_DIR=${folder} npm run --silent pharos -- organization create --name Acme --plan team`,
    "A process that ends is started again. Ctrl-C stops everything.",
    "",
  ].join("\n");
}

async function keepRunning(each: RoleProcess): Promise<void> {
  for (;;) {
    const code = await each.exited();
    if (stopping) return;
    console.log(`${each.name} ended with ${code} and is started again; ${each.logFile}.old says what it said.`);
    await wait(RESTART_AFTER_MS);
    if (stopping) return;
    await each.start().then(
      () => console.log(`${each.name} runs again as ${each.pid()}.`),
      (error: unknown) => stopping || console.error(error instanceof Error ? error.message : String(error)),
    );
  }
}
