import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@clickhouse/client";
import { openClickHouse } from "../platform/clickhouse/client.ts";
import { migrateClickHouse } from "../platform/clickhouse/migrate.ts";
import { startEmbeddedClickHouse } from "../platform/clickhouse/start-embedded.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { rowsOfBody } from "../domain/errors/rows-of-body.ts";
import { sampleRows } from "../domain/metrics/sample-rows.ts";
import { judge } from "./goals.ts";
import { cpuOf, machine, median, option } from "./measuring.ts";

/**
 * Measures what an insert of 10,000 rows costs, of errors (2.7 KB a row) and of metric samples, in turns with such rows as JSONEachRow through
 * the client: CPU-µs a row of this process and of the engine's, medians of the pairs. `npx tsx bench/insert.ts [--pairs 9]`. Prints a table; exits 1 when a figure
 * is not reached.
 */
const PAIRS = Number(option("pairs", "9"));
const ROWS = 10_000;
const SIGNATURES = 5_000;

interface Cost {
  node: number;
  engine: number;
  wallMs: number;
}

const services = Array.from({ length: 50 }, (_each, n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`);

/** Errors of 0.6 KB and eight frames, ten a request. */
function errorRows(from: number): object[] {
  return Array.from({ length: ROWS / 10 }, (_each, request) => {
    const events = Array.from({ length: 10 }, (_event, n) => {
      const signature = (request * 10 + n) % SIGNATURES;
      const frames = Array.from({ length: 8 }, (_frame, depth) => `    at step${depth}Of${signature} (https://shop.example/assets/app-${depth}.js:${depth + 1}:${signature + 17})`);
      return { event_id: newId(), type: "error", message: `TypeError: cart ${signature} is not iterable`, stack: `TypeError: cart ${signature} is not iterable\n${frames.join("\n")}`, tags: { page: "checkout" }, url: "https://shop.example/checkout" };
    });
    const body = Buffer.from(JSON.stringify({ key: "bpk_measured", session_id: newId(), release: "web@4.7.1", environment: "production", sdk: "pharos-js/1.0.0", events }));
    const entry = { body, receivedAt: Date.now(), organizationId: services[0]!, serviceId: services[request % services.length]! };
    return rowsOfBody(entry, { logId: services[1]!, partition: 1, offset: BigInt(from + request), edgeId: services[2]!, sequence: 1n, entryIndex: 0, firstIndex: 0 });
  }).flat();
}

async function cost(pid: number, insert: () => Promise<unknown>): Promise<Cost> {
  const engine = cpuOf(pid);
  const own = process.cpuUsage();
  const start = performance.now();
  await insert();
  const wallMs = performance.now() - start;
  const { user, system } = process.cpuUsage(own);
  return { node: (user + system) / ROWS, engine: (cpuOf(pid) - engine) / ROWS, wallMs };
}

/** Five figures a push. */
function metricRows(from: number): object[] {
  return Array.from({ length: ROWS / 5 }, (_each, push) => {
    const metrics = Object.fromEntries(["error_rate", "latency_p50", "latency_p99", "queue", "saturation"].map((name, n) => [name, ((push * 7 + n) % 997) / 13]));
    const entry = { body: Buffer.from(JSON.stringify({ service_id: services[push % services.length]!, metrics })), receivedAt: Date.now(), organizationId: services[0]!, subjectId: services[push % services.length]!, requestNumber: push, detached: false };
    return sampleRows({ logId: services[1]!, partition: 1, offset: BigInt(from + push), firstIndex: 0 }, entry);
  }).flat();
}

function line(name: string, costs: Cost[]): string {
  const of = (figure: (each: Cost) => number): number => median(costs.map(figure));
  return `| ${name} | ${of((each) => each.node).toFixed(2)} | ${of((each) => each.engine).toFixed(1)} | ${of(({ node, engine }) => node + engine).toFixed(1)} | ${of((each) => each.wallMs).toFixed(0)} |`;
}

/** Prints the lines of one table; true when the figures are reached. */
async function measure(table: string, pid: number, makeRows: (from: number) => object[], inserts: Record<"ours" | "reference", (rows: object[]) => Promise<unknown>>): Promise<boolean> {
  const costs: Record<"ours" | "reference", Cost[]> = { ours: [], reference: [] };
  let from = 0;
  for (let pair = -2; pair < PAIRS; pair++) {
    for (const side of ["ours", "reference"] as const) {
      const rows = makeRows((from += ROWS));
      if (rows.length !== ROWS) throw new Error(`${rows.length} rows instead of ${ROWS}`);
      const spent = await cost(pid, () => inserts[side](rows));
      // The first pairs warm both up.
      if (pair >= 0) costs[side].push(spent);
    }
  }
  const [ours, reference] = [costs.ours, costs.reference].map((each) => median(each.map(({ node }) => node))) as [number, number];
  console.log(line(`${table}: Pharos, RowBinary`, costs.ours));
  console.log(line(`${table}: @clickhouse/client, JSONEachRow`, costs.reference));
  return [judge("insert/node", ours), judge("insert/ratio", reference / ours)].every(Boolean);
}

async function main(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "pharos-bench-"));
  const log = makeLog("silent");
  const engine = await startEmbeddedClickHouse({ folder, log });
  try {
    await migrateClickHouse(engine.url, log);
    const clickhouse = openClickHouse(engine.url, log);
    const client = createClient({ url: engine.url });
    const inserts = (table: string) => ({
      ours: (rows: object[]) => clickhouse.insert(table, rows, { token: newId() }),
      reference: (rows: object[]) => client.insert({ table, values: rows, format: "JSONEachRow", clickhouse_settings: { async_insert: 0, insert_deduplication_token: newId(), deduplicate_blocks_in_dependent_materialized_views: 1 } }),
    });
    console.log(`${ROWS} rows an insert, ${PAIRS} pairs, medians; ${machine()}; wanted: Node side ≤ 2.5 µs and half of the reference's\n`);
    console.log("| insert | Node, µs a row | engine, µs a row | both | wall, ms |\n|---|---|---|---|---|");
    const reached = [await measure("metric_samples", engine.pid, metricRows, inserts("metric_samples")), await measure("beacon_events", engine.pid, errorRows, inserts("beacon_events"))];
    await clickhouse.close();
    await client.close();
    return reached.every(Boolean);
  } finally {
    await engine.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

process.exitCode = (await main()) ? 0 : 1;
