import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openClickHouse } from "../platform/clickhouse/client.ts";
import { migrateClickHouse } from "../platform/clickhouse/migrate.ts";
import { startEmbeddedClickHouse } from "../platform/clickhouse/start-embedded.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { makeRowStore, type OffsetRange } from "../processors/consume/row-store.ts";
import { FILLED, fillSamples, filledEnd } from "../testing/fill-samples.ts";
import { watchReads } from "../testing/watch-reads.ts";
import { machine, median, option, table } from "./measuring.ts";

/**
 * Measures what a processor reads when it takes partitions over, by the size of the table: rows read and ms, medians.
 * `npx tsx bench/replay.ts [--rows 10000000] [--parts 8] [--rounds 5]`. Prints a table.
 */
const ROWS = Number(option("rows", "10000000"));
const PARTS = Number(option("parts", "8"));
const ROUNDS = Number(option("rounds", "5"));
const GRANULE = 8_192;
const END = filledEnd(ROWS);

/** The last `records` records of each partition. */
function lastOf(partitions: number, records: number): OffsetRange[] {
  return Array.from({ length: partitions }, (_each, partition) => ({
    partition,
    first: END - BigInt(records),
    last: END - 1n,
  }));
}

function cursorsAt(offset: bigint): Map<number, bigint> {
  return new Map(lastOf(FILLED.partitions, 1).map(({ partition }) => [partition, offset]));
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "pharos-bench-"));
  const log = makeLog("silent");
  const engine = await startEmbeddedClickHouse({ folder, log });
  await migrateClickHouse(engine.url, log);
  const clickhouse = openClickHouse(engine.url, log);
  try {
    const name = { group: "measured", logId: newId(), topic: "metrics" } as const;
    await clickhouse.command("SYSTEM STOP MERGES metric_samples");
    for (let part = 0; part < PARTS; part++) {
      const [from, to] = [(ROWS / PARTS) * part, (ROWS / PARTS) * (part + 1)];
      await fillSamples(clickhouse, { logId: name.logId, from, to });
    }
    const watched = watchReads(clickhouse, engine.url);
    const sortKey = "service_id, name, received_at";
    const store = makeRowStore({ clickhouse: watched.clickhouse, name, table: "metric_samples", sortKey, sideTables: [] });
    const columns = "log_id, partition, offset, `index`, service_id, name, value, received_at";
    const works: [string, () => Promise<unknown>][] = [
      ["highest offset of 16 partitions, 12 records above the cursor", () => store.highestStanding(cursorsAt(END - 12n))],
      ["the same, all rows above the cursor", () => store.highestStanding(cursorsAt(0n))],
      ["places of 100 rows", () => store.standingPlaces(lastOf(1, 1))],
      ["places of 19,200 rows of 16 partitions", () => store.standingPlaces(lastOf(16, 12))],
      ["100 rows", () => store.standingRows(columns, lastOf(1, 1))],
      ["19,200 rows of 16 partitions", () => store.standingRows(columns, lastOf(16, 12))],
    ];
    const lines: (string | number)[][] = [["what", "granules read", "of", "ms"]];
    for (const [what, work] of works) {
      const reads = [];
      for (let round = 0; round < ROUNDS; round++) reads.push(await watched.measureReads(work));
      const granules = Math.ceil(median(reads.map(({ rows }) => rows)) / GRANULE);
      lines.push([what, granules, Math.ceil(ROWS / GRANULE), median(reads.map(({ ms }) => ms)).toFixed(0)]);
    }
    console.log(`${ROWS} rows in ${PARTS} parts; ${machine()}\n\n${table(lines)}`);
  } finally {
    await clickhouse.close();
    await engine.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
