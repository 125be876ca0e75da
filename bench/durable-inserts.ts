import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openClickHouse } from "../platform/clickhouse/client.ts";
import { migrateClickHouse } from "../platform/clickhouse/migrate.ts";
import type { ClickHouse } from "../platform/clickhouse/port.ts";
import { startEmbeddedClickHouse, type EmbeddedClickHouse } from "../platform/clickhouse/start-embedded.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { cpuOf, machine, median, option, table } from "./measuring.ts";

/**
 * Measures what the settings against power loss cost an insert into `beacon_events` and the tables behind its views:
 * CPU-ms of the engine and ms, in turns with a database that has only `fsync_after_insert`, medians.
 * `npx tsx bench/durable-inserts.ts [--inserts 60]`. Prints a table.
 */
const INSERTS = Number(option("inserts", "60"));
/** Inserts whose CPU is counted together: the kernel counts in hundredths of a second. */
const TOGETHER = 10;
const TABLES = ["beacon_events", "signature_slots", "seen_event_ids"];

interface Cost {
  cpuMs: number;
  wallMs: number;
}

function eventRows(count: number): object[] {
  return Array.from({ length: count }, (_each, index) => ({
    log_id: "measured",
    partition: index % 4,
    offset: String(index),
    index,
    service_id: `00000000-0000-4000-8000-${String(index % 50).padStart(12, "0")}`,
    signature_id: `00000000-0000-4000-8000-${String(index % 500).padStart(12, "0")}`,
    event_id: newId(),
    event_id_given: true,
    type: "error",
    received_at: new Date(),
    occurred_at: new Date(),
    session_id: newId(),
    message: `TypeError: cart ${index % 500} is not iterable`,
    stack: `TypeError: cart ${index % 500} is not iterable\n${"    at step (https://shop.example/assets/app.js:1:17)\n".repeat(8)}`,
  }));
}

async function openSide(url: string, database: string, weaker: boolean): Promise<ClickHouse> {
  const address = new URL(url);
  address.pathname = `/${database}`;
  const log = makeLog("silent");
  await migrateClickHouse(address.href, log);
  const clickhouse = openClickHouse(address.href, log);
  const settings = "fsync_part_directory = 0, min_rows_to_fsync_after_merge = 0, old_parts_lifetime = 0";
  if (weaker) for (const name of TABLES) await clickhouse.command(`ALTER TABLE ${name} MODIFY SETTING ${settings}`);
  return clickhouse;
}

async function measureInserts(clickhouse: ClickHouse, pid: number, rows: number): Promise<Cost> {
  const batches = Array.from({ length: TOGETHER }, () => eventRows(rows));
  const cpu = cpuOf(pid);
  const start = performance.now();
  for (const batch of batches) await clickhouse.insert("beacon_events", batch, {});
  const wallMs = (performance.now() - start) / TOGETHER;
  return { cpuMs: (cpuOf(pid) - cpu) / 1_000 / TOGETHER, wallMs };
}

async function measure(engine: EmbeddedClickHouse): Promise<void> {
  const sides = {
    "fsync_after_insert alone": await openSide(engine.url, "weaker", true),
    "all settings": await openSide(engine.url, "durable", false),
  };
  const lines: string[][] = [["rows an insert", "settings", "engine, CPU-ms an insert", "ms"]];
  for (const rows of [300, 3_000]) {
    const costs = new Map<string, Cost[]>(Object.keys(sides).map((side) => [side, []]));
    for (let turn = -1; turn < INSERTS / TOGETHER; turn++) {
      for (const [side, clickhouse] of Object.entries(sides)) {
        const cost = await measureInserts(clickhouse, engine.pid, rows);
        // The first turn warms both up.
        if (turn >= 0) costs.get(side)!.push(cost);
      }
    }
    for (const [side, each] of costs) {
      const of = (figure: (cost: Cost) => number): string => median(each.map(figure)).toFixed(1);
      lines.push([String(rows), side, of(({ cpuMs }) => cpuMs), of(({ wallMs }) => wallMs)]);
    }
  }
  console.log(`${INSERTS} inserts, medians of ${TOGETHER} at a time; ${machine()}\n\n${table(lines)}`);
  for (const clickhouse of Object.values(sides)) await clickhouse.close();
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "pharos-bench-"));
  const engine = await startEmbeddedClickHouse({ folder, log: makeLog("silent") });
  try {
    await measure(engine);
  } finally {
    await engine.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
