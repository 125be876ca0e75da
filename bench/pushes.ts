import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOrganization } from "../domain/organizations/create.ts";
import { systemClock } from "../platform/clock.ts";
import { openEmbeddedLog } from "../platform/event-log/embedded.ts";
import { encodeFrame } from "../platform/event-log/frame.ts";
import type { EventLog } from "../platform/event-log/port.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { makeMetrics } from "../platform/metrics.ts";
import { openDatabase, type Database } from "../platform/postgres/database.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded.ts";
import { migrate } from "../platform/postgres/migrate.ts";
import { moduleFile } from "../platform/root.ts";
import { startWorkerPool } from "../platform/worker-pool.ts";
import { startMetricsConsumer, type EvaluationPool } from "../processors/metrics/consume.ts";
import { option } from "./measuring.ts";
import { cursors, services } from "../schemas/tables/all.ts";

/**
 * Measures what a processor needs to judge, apply and answer metrics pushes that stand in the embedded log: 2,000 services, five figures
 * a push, frames of 64, every push waited for. CPU-µs a push of this process and of PostgreSQL. `npx tsx bench/pushes.ts [--pushes 100000]`.
 */
const PUSHES = Number(option("pushes", "100000"));
const SERVICES = 2_000;
const FRAME = 64;
const PARTITIONS = 4;
/** The kernel counts a process's time in hundredths of a second (USER_HZ). */
const US_PER_TICK = 10_000;

/** CPU time in µs of PostgreSQL: its first process, which may have another parent than this one, and all that it started. */
function cpuOfPostgres(first: number): number {
  let sum = 0;
  for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "latin1").split(") ").at(-1)!.split(" ");
      if (Number(name) === first || Number(fields[1]) === first) sum += (Number(fields[11]) + Number(fields[12])) * US_PER_TICK;
    } catch {
      // It ended while the list was read.
    }
  }
  return sum;
}

/** The process that PostgreSQL's folder names. */
function firstOf(folder: string): number {
  const file = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((each) => each.endsWith("postmaster.pid"));
  return Number(readFileSync(join(folder, file!), "utf8").split("\n")[0]);
}

async function fill(eventLog: EventLog, organizationId: string, serviceIds: string[]): Promise<void> {
  const edgeId = newId();
  for (let frame = 0; frame < PUSHES / FRAME; frame++) {
    const entries = Array.from({ length: FRAME }, (_, entry) => {
      const made = frame * FRAME + entry;
      const subjectId = serviceIds[(made * 1_009) % SERVICES]!;
      const metrics = { error_rate: (made % 7) / 100, latency_p50: 40 + (made % 13), latency_p99: 90 + (made % 17), requests: made % 997, saturation: (made % 11) / 20 };
      return { requestNumber: made, receivedAt: Date.now(), detached: false, organizationId, subjectId, body: Buffer.from(JSON.stringify({ service_id: subjectId, metrics })) };
    });
    await eventLog.append("metrics", frame % PARTITIONS, encodeFrame({ edgeId, sequence: BigInt(frame + 1) }, entries));
  }
}

async function untilDone(eventLog: EventLog, database: Database): Promise<void> {
  const ends = await eventLog.ends("metrics");
  for (;;) {
    const rows = await database.select().from(cursors);
    if (ends.every((end, partition) => end === 0n || rows.some((row) => row.partition === partition && row.nextOffset === end))) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function main(): Promise<void> {
  const log = makeLog("warn");
  const folder = await mkdtemp(join(tmpdir(), "pharos-bench-"));
  const postgres = await startEmbeddedPostgres({ folder: join(folder, "postgres"), log });
  await migrate(postgres.url, log);
  const database = openDatabase(postgres.url, 10, log);
  const { organizationId } = await createOrganization(database, { name: "Bench", plan: "team" });
  const serviceIds = Array.from({ length: SERVICES }, newId);
  await database.insert(services).values(serviceIds.map((id, number) => ({ id, organizationId, name: `Service ${number}` })));
  const eventLog = await openEmbeddedLog({ folder: join(folder, "log"), partitions: PARTITIONS, retentionBytes: 1e10, retentionMs: 1e9, clock: systemClock, log });
  const pool: EvaluationPool = startWorkerPool({ file: moduleFile("../processors/metrics/worker.ts", import.meta.url), name: "evaluateBatch", threads: 1, deadlineMs: 30_000 });
  await fill(eventLog, organizationId, serviceIds);

  const first = firstOf(folder);
  const before = { own: process.cpuUsage(), stores: cpuOfPostgres(first), at: performance.now() };
  const consumer = await startMetricsConsumer({ eventLog, database, clock: systemClock, log, metrics: makeMetrics(), pool });
  await untilDone(eventLog, database);
  const { user, system } = process.cpuUsage(before.own);
  const seconds = (performance.now() - before.at) / 1_000;
  const stores = (cpuOfPostgres(first) - before.stores) / PUSHES;
  const own = (user + system) / PUSHES;
  console.log(`${PUSHES} pushes, ${SERVICES} services, load average ${readFileSync("/proc/loadavg", "utf8").split(" ")[0]}, Node ${process.versions.node}\n`);
  console.log("| processor, CPU-µs a push | PostgreSQL, CPU-µs a push | both | pushes a second |\n| --- | --- | --- | --- |");
  console.log(`| ${own.toFixed(1)} | ${stores.toFixed(1)} | ${(own + stores).toFixed(1)} | ${Math.round(PUSHES / seconds)} |`);

  await consumer.stop();
  await pool.close();
  await eventLog.close();
  await database.$client.end();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

await main();
