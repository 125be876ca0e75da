import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../platform/ids.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { FILLED, fillSamples, filledEnd } from "../../testing/fill-samples.ts";
import { watchReads, type WatchedReads } from "../../testing/watch-reads.ts";
import type { ConsumerName } from "./cursor-name.ts";
import { makeRowStore, type OffsetRange, type RowStore } from "./row-store.ts";

const GRANULE = 8_192;
const PARTS = 4;
const PART_ROWS = 400_000;
const END = filledEnd(PARTS * PART_ROWS);

const name: ConsumerName = { group: "tested", logId: newId(), topic: "metrics" };
let fresh: Awaited<ReturnType<typeof freshClickHouse>>;
let watched: WatchedReads;
let store: RowStore;

const PROJECTION =
  "by_place (SELECT log_id, partition, offset, `index`, service_id, name, received_at ORDER BY log_id, partition, offset)";

beforeAll(async () => {
  fresh = await freshClickHouse();
  watched = watchReads(fresh.clickhouse, fresh.url);
  store = makeRowStore({
    clickhouse: watched.clickhouse,
    name,
    table: "metric_samples",
    sortKey: "service_id, name, received_at",
    sideTables: [],
  });
  await fresh.clickhouse.command("SYSTEM STOP MERGES metric_samples");
  for (let part = 0; part < PARTS; part++) await fill(part);
});
afterAll(() => fresh.drop());

const fill = (part: number): Promise<void> =>
  fillSamples(fresh.clickhouse, { logId: name.logId, from: part * PART_ROWS, to: (part + 1) * PART_ROWS });

/** The last `records` records of the first `partitions` partitions. */
function lastOf(partitions: number, records: number): OffsetRange[] {
  return Array.from({ length: partitions }, (_each, partition) => ({
    partition,
    first: END - BigInt(records),
    last: END - 1n,
  }));
}

const cursors = (partitions: number, offset: bigint): Map<number, bigint> =>
  new Map(lastOf(partitions, 1).map(({ partition }) => [partition, offset]));

/** Of each part, the granules in which the rows of so many ranges begin and end. */
const edges = (ranges: number, parts = PARTS): number => parts * ranges * 2 * GRANULE;

test("the highest offset is found at the ends of the parts, however much stands above the cursor", async () => {
  for (const offset of [END - 1n, 0n]) {
    const reads = await watched.measureReads(async () =>
      expect(await store.highestStanding(cursors(4, offset))).toEqual(cursors(4, END - 1n)),
    );
    expect(reads.rows).toBeLessThanOrEqual(edges(4));
  }
});

test("places are read by the index, of one partition or several", async () => {
  for (const partitions of [1, 4]) {
    const reads = await watched.measureReads(async () =>
      expect(await store.standingPlaces(lastOf(partitions, 2))).toHaveLength(partitions * 2 * FILLED.rowsOfRecord),
    );
    expect(reads.rows).toBeLessThanOrEqual(edges(partitions));
  }
});

test("rows are read by the sort key, of the parts of their time alone", async () => {
  const reads = await watched.measureReads(async () =>
    expect(await store.standingRows("offset, value", lastOf(1, 1))).toHaveLength(FILLED.rowsOfRecord),
  );
  expect(reads.rows).toBeLessThanOrEqual(edges(1) + PART_ROWS);
});

test("parts without the index are read whole, the others are not", async () => {
  const { clickhouse } = fresh;
  await clickhouse.command("SYSTEM START MERGES metric_samples");
  await clickhouse.command("ALTER TABLE metric_samples DROP PROJECTION by_place SETTINGS mutations_sync = 2");
  await clickhouse.command(`ALTER TABLE metric_samples ADD PROJECTION ${PROJECTION}`);
  await clickhouse.command("SYSTEM STOP MERGES metric_samples");
  await fill(PARTS);
  const range = { partition: 3, first: END, last: END };
  const read = () =>
    watched.measureReads(async () => expect(await store.standingPlaces([range])).toHaveLength(FILLED.rowsOfRecord));
  const { rows } = await read();
  expect(rows).toBeGreaterThanOrEqual(PARTS * PART_ROWS);
  expect(rows).toBeLessThanOrEqual(PARTS * PART_ROWS + edges(1, 1));

  await clickhouse.command("SYSTEM START MERGES metric_samples");
  await clickhouse.command("ALTER TABLE metric_samples MATERIALIZE PROJECTION by_place SETTINGS mutations_sync = 2");
  expect((await read()).rows).toBeLessThanOrEqual(edges(1, PARTS + 1));
});
