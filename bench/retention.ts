import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openClickHouse } from "../platform/clickhouse/client.ts";
import { migrateClickHouse } from "../platform/clickhouse/migrate.ts";
import { startEmbeddedClickHouse } from "../platform/clickhouse/start-embedded.ts";
import { systemClock } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { makeMetrics } from "../platform/metrics.ts";
import { openDatabase } from "../platform/postgres/database.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded.ts";
import { migrate } from "../platform/postgres/migrate.ts";
import { keepRetention } from "../processors/due-work/keep-retention.ts";
import { cutoffOf } from "../domain/retention/plan-partition.ts";
import { organizations, services } from "../schemas/tables/all.ts";
import type { Plan } from "../schemas/vocabulary.ts";
import { insertAgedRows } from "../testing/aged-rows.ts";
import { machine, option, quantile, table } from "./measuring.ts";

/**
 * Measures one run of retention over rows of four organizations (7, 30, 60 and 730 days) that are spread over 120 days: how many rows and bytes go, how
 * long it takes, and how long an insert like the pipeline's and queries like the API's take before and meanwhile. Checks that exactly the right rows
 * stay. `npx tsx bench/retention.ts [--rows 10000000] [--seconds 30]`.
 */
const ROWS = Number(option("rows", "10000000"));
const SECONDS = Number(option("seconds", "30"));
const DAYS = 120;
const DAY_MS = 86_400_000;
const KEPT: readonly (readonly [Plan, number])[] = [["free", 30], ["team", 7], ["pro", 60], ["team", 730]];
/** Of all rows, by table. */
const SHARES = { beacon_events: 0.6, metric_samples: 0.2, heartbeat_pings: 0.2 } as const;
const TABLES = Object.keys(SHARES) as (keyof typeof SHARES)[];
/** Most statements of `insertAgedRows` are smaller than this. */
const CHUNK = 500_000;

const log = makeLog("silent");
const folder = await mkdtemp(join(tmpdir(), "pharos-bench-"));
const [postgres, engine] = await Promise.all([startEmbeddedPostgres({ folder: join(folder, "postgres"), log }), startEmbeddedClickHouse({ folder: join(folder, "clickhouse"), log })]);
await Promise.all([migrate(postgres.url, log), migrateClickHouse(engine.url, log)]);
const database = openDatabase(postgres.url, 10, log);
const clickhouse = openClickHouse(engine.url, log);
const now = new Date();
const owners = KEPT.map(([plan, days]) => ({ plan, days, organizationId: newId(), serviceId: newId(), monitorId: newId() }));
let isExact = true;

try {
  console.log(machine());
  await fill();
  const before = { rows: await rowsNow(), bytes: await bytesNow() };
  const expected = await Promise.all(TABLES.flatMap((name) => owners.map((owner) => countOf(name, owner))));
  const quiet = await measureUntil(pause(SECONDS * 1_000));
  const began = performance.now();
  const meanwhile = await measureUntil(runOnce());
  const seconds = (performance.now() - began) / 1_000;
  const after = { rows: await rowsNow(), bytes: await bytesNow() };
  const stayed = await Promise.all(TABLES.flatMap((name) => owners.map((owner) => countOf(name, owner, 0))));
  isExact = expected.every((count, n) => count === stayed[n]);
  console.log(table([["", "before", "after"], ["rows", before.rows, after.rows], ["MB on disk", megabytes(before.bytes), megabytes(after.bytes)]]));
  console.log(`One run: ${seconds.toFixed(1)} s. ${isExact ? "Exactly the right rows stayed." : `Wrong rows stayed: ${stayed.join(", ")} for ${expected.join(", ")}.`}`);
  const line = (name: string, times: number[]) => [name, times.length, ...[0.5, 0.95, 1].map((share) => quantile(times, share).toFixed(0))];
  console.log(table([["ms", "times", "p50", "p95", "longest"], ...Object.keys(quiet).flatMap((name) => [line(`${name}, before`, quiet[name]!), line(`${name}, meanwhile`, meanwhile[name]!)])]));
} finally {
  await clickhouse.close();
  await database.$client.end();
  await Promise.all([engine.stop(), postgres.stop()]);
  await rm(folder, { recursive: true, force: true });
}
process.exit(isExact ? 0 : 1);

async function fill(): Promise<void> {
  const span = DAYS * DAY_MS;
  for (const { plan, days, ...owner } of owners) {
    await database.insert(organizations).values({ id: owner.organizationId, name: "Acme", plan, retentionDays: days });
    await database.insert(services).values({ id: owner.serviceId, organizationId: owner.organizationId, name: "Shop" });
    for (const name of TABLES) {
      const rows = Math.round((ROWS * SHARES[name]) / owners.length);
      const chunks = Math.ceil(rows / CHUNK);
      for (let n = 0; n < chunks; n++) {
        const [from, until] = [n, n + 1].map((each) => new Date(now.getTime() - span + Math.round((span * each) / chunks)));
        await insertAgedRows(clickhouse, { ...owner, rows: Math.round(rows / chunks), from: from!, until: until! }, [name]);
      }
    }
  }
}

async function runOnce(): Promise<void> {
  const metrics = makeMetrics();
  const retention = keepRetention({ database, clickhouse, clock: systemClock, log: makeLog("info"), metrics, pauseMs: 200 });
  retention.start();
  while ((await metrics.retention.lastRun.get()).values[0]!.value === 0) await pause(50);
  await retention.stop();
}

/** Until `work` is done: an insert of 300 errors and then each query, again and again, four times a second. */
async function measureUntil(work: Promise<unknown>): Promise<Record<string, number[]>> {
  const state = { isDone: false };
  const ended = work.finally(() => (state.isDone = true));
  const { serviceId, organizationId } = owners[3]!;
  // Of an organization of their own: exactly what was there is counted.
  const fresh = Array.from({ length: 300 }, (_, n) => ({ log_id: "fresh", partition: 0, offset: String(n), index: 0, organization_id: newId(), service_id: newId(), signature_id: newId(), event_id: newId(), type: "error", received_at: now.toISOString().slice(0, 23).replace("T", " "), occurred_at: now.toISOString().slice(0, 23).replace("T", " "), session_id: `s${n}`, message: "failed", stack: "at x".repeat(100) }));
  const works: Record<string, () => Promise<unknown>> = {
    "insert of 300 errors": () => clickhouse.insert("beacon_events", fresh, {}),
    "last 50 errors of a signature": () => clickhouse.query("SELECT event_id, message, stack FROM beacon_events WHERE service_id = {id:UUID} AND signature_id = {id:UUID} ORDER BY received_at DESC LIMIT 50", { id: serviceId }),
    "an hour of metric samples": () => clickhouse.query("SELECT toStartOfMinute(received_at) AS minute, avg(value) FROM metric_samples WHERE organization_id = {organizationId:UUID} AND service_id = {id:UUID} AND name = 'cpu' AND received_at > now() - 3600 GROUP BY minute", { id: serviceId, organizationId }),
    "what stands above a cursor": () => clickhouse.query("SELECT count() FROM metric_samples WHERE log_id = 'log' AND partition = 1 AND offset > 400000", {}),
  };
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(works).map((name) => [name, []]));
  while (!state.isDone) {
    for (const [name, call] of Object.entries(works)) {
      const began = performance.now();
      await call();
      times[name]!.push(performance.now() - began);
    }
    await pause(250);
  }
  await ended;
  return times;
}

async function countOf(name: string, { organizationId, days }: { organizationId: string; days: number }, since = cutoffOf(days, now)): Promise<number> {
  const [row] = await clickhouse.query<{ rows: string }>(`SELECT count() AS rows FROM ${name} WHERE organization_id = {organizationId:UUID} AND received_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')`, { organizationId, since: String(since) });
  return Number(row!.rows);
}

async function rowsNow(): Promise<number> {
  return sumOf("rows");
}

async function bytesNow(): Promise<number> {
  return sumOf("bytes_on_disk");
}

async function sumOf(column: string): Promise<number> {
  const [row] = await clickhouse.query<{ sum: string }>(`SELECT sum(${column}) AS sum FROM system.parts WHERE database = currentDatabase() AND active AND table IN ({tables:Array(String)})`, { tables: TABLES });
  return Number(row!.sum);
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
