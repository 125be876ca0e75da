import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unpackBriefRows } from "../domain/errors/brief-rows.ts";
import { keepSpare } from "../platform/clickhouse/byte-sink.ts";
import { openClickHouse } from "../platform/clickhouse/client.ts";
import { migrateClickHouse } from "../platform/clickhouse/migrate.ts";
import { startEmbeddedClickHouse } from "../platform/clickhouse/start-embedded.ts";
import { encodeFrame } from "../platform/event-log/frame.ts";
import type { TableColumn } from "../platform/clickhouse/row-binary.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { moduleFile } from "../platform/root.ts";
import { handingOver, startWorkerPool } from "../platform/worker-pool.ts";
import { option, quantile } from "./measuring.ts";
import { rowsOfRecords, type RowsResult, type RowsTask } from "../processors/errors/worker.ts";

/**
 * Measures what it costs to turn beacons into rows: ten errors of 0.6 KB with eight frames in a beacon, 5,000 signatures that repeat,
 * every event with an id of its own. CPU-µs an event, medians and spread: on this thread, then in a worker thread with the way there and back.
 *
 *   npx tsx bench/rows.ts [--seconds 5] [--changing]
 *
 * `--changing` puts a number of its own into each message, which V8 repeats above the stack.
 */
const SECONDS = Number(option("seconds", "5"));
const CHANGING = process.argv.includes("--changing");
const SIGNATURES = 5_000;
const BEACONS = 100;
const EVENTS = 10;

async function describeTable(): Promise<TableColumn[]> {
  const folder = await mkdtemp(join(tmpdir(), "pharos-bench-"));
  const log = makeLog("silent");
  const engine = await startEmbeddedClickHouse({ folder, log });
  try {
    await migrateClickHouse(engine.url, log);
    const clickhouse = openClickHouse(engine.url, log);
    const found = await clickhouse.columnsOf("beacon_events");
    await clickhouse.close();
    return found.map(({ name, type }) => ({ name, type }));
  } finally {
    await engine.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Eight frames of the signature's own functions, in three files of the application and one of a library. */
function stackOf(signature: number): string {
  const files = ["https://x.io/app-4f2a91c7.js", "https://x.io/cart-9b1d22e0.js", "https://x.io/vendor-77aa01cd.js"];
  return Array.from({ length: 8 }, (_, depth) => `    at step${depth}Of${signature % 997} (${files[depth % 3]}:1:${signature * 8 + depth + 1})`).join("\n");
}

const stacks = Array.from({ length: SIGNATURES }, (_, signature) => stackOf(signature));

/** What `DESCRIBE TABLE beacon_events` says. */
const columns = await describeTable();

let made = 0;
let sequence = 0n;
const edgeId = newId();
const services = Array.from({ length: 50 }, newId);
const organizationId = newId();

function frame(): Buffer {
  const entries = Array.from({ length: BEACONS }, (_, requestNumber) => {
    const events = Array.from({ length: EVENTS }, () => {
      // A walk that meets every signature and has no order that a cache could lean on.
      const signature = (made++ * 2_039) % SIGNATURES;
      const message = CHANGING ? `item ${made} of cart is not iterable` : "cart.items is not iterable";
      return { event_id: newId(), type: "error", error_type: "TypeError", message, stack: `TypeError: ${message}\n${stacks[signature]!}`, timestamp: Date.now(), url: "https://x.io/pay" };
    });
    const body = Buffer.from(JSON.stringify({ key: "bpk_measured", session_id: `s${requestNumber}`, release: "web@4.7.1", environment: "production", sdk: "pharos-js/1.0.0", events }));
    return { requestNumber, receivedAt: Date.now(), detached: true, organizationId, subjectId: services[requestNumber % services.length]!, body };
  });
  return encodeFrame({ edgeId, sequence: (sequence += 1n) }, entries);
}

let offset = 0n;
function task(encoded: boolean): RowsTask {
  return { logId: edgeId, records: [{ partition: 1, offset: (offset += 1n), value: frame() }], ...(encoded && { columns }) };
}

/** CPU-µs an event of the whole process for each round; tasks are made outside of what is counted. */
async function measure(name: string, encoded: boolean, run: (task: RowsTask) => Promise<RowsResult> | RowsResult): Promise<void> {
  const costs: number[] = [];
  const waits: number[] = [];
  const end = performance.now() + SECONDS * 1_000;
  for (let round = 0; round < 6 || performance.now() < end; round++) {
    const tasks = Array.from({ length: 5 }, () => task(encoded));
    const before = process.cpuUsage();
    const start = performance.now();
    for (const each of tasks) await run(each);
    const { user, system } = process.cpuUsage(before);
    // The first rounds meet every signature once and warm the compiler up.
    if (round < 3) continue;
    costs.push((user + system) / (tasks.length * BEACONS * EVENTS));
    waits.push((performance.now() - start) / tasks.length);
  }
  const at = (share: number): string => quantile(costs, share).toFixed(1);
  console.log(`| ${name} | ${at(0.5)} (${at(0.1)}–${at(0.9)}) | ${(waits.reduce((sum, each) => sum + each, 0) / waits.length).toFixed(1)} |`);
}

const bytes = frame().byteLength / (BEACONS * EVENTS);
console.log(`${SIGNATURES} signatures, ${bytes.toFixed(0)} bytes an event, frames of ${BEACONS * EVENTS} events, load average ${readFileSync("/proc/loadavg", "utf8").split(" ")[0]}, Node ${process.versions.node}\n`);
console.log("| way | CPU-µs an event (10–90 %) | ms a frame |\n| --- | --- | --- |");
const pool = startWorkerPool<RowsTask, RowsResult>({ file: moduleFile("../processors/errors/worker.ts", import.meta.url), name: "rowsOfRecords", threads: 1, deadlineMs: 30_000 });
const spare: Buffer[] = [];
await measure("rows, on this thread", false, rowsOfRecords);
await measure("rows, in a worker, there and back", false, (each) => pool.run(each));
await measure("encoded, on this thread", true, rowsOfRecords);
await measure("encoded, in a worker, there and back", true, async (each) => {
  const memory = spare.splice(0);
  const result = await pool.run(handingOver({ ...each, spare: memory }, memory.map(({ buffer }) => buffer as ArrayBuffer)));
  for (const { body } of result.encoded) keepSpare(spare, body);
  if (unpackBriefRows(result.rows).length !== BEACONS * EVENTS) throw new Error("rows are missing");
  return result;
});
await pool.close();
