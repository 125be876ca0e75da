import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { EncodedRows } from "../../platform/clickhouse/row-binary.ts";
import { encodePart } from "../../testing/encode-part.ts";
import { newId } from "../../platform/ids.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { LeaseLost, logOfRows, type ConsumerName } from "./cursor-name.ts";
import { makeRowStore, type Lane, type RowStore } from "./row-store.ts";

let fresh: Awaited<ReturnType<typeof freshClickHouse>>;
let clickhouse: ClickHouse;

beforeAll(async () => {
  fresh = await freshClickHouse();
  ({ clickhouse } = fresh);
});
afterAll(() => fresh.drop());

const ORGANIZATION = "00000000-0000-4000-8000-000000000001";
const SERVICE = "00000000-0000-4000-8000-000000000002";
const SAMPLES = { table: "metric_samples", sortKey: "service_id, name, received_at", sideTables: [] };

const main = (lease: string): { lease: string; lane: Lane } => ({ lease, lane: "main" });

function makeName(topic: ConsumerName["topic"] = "metrics"): ConsumerName {
  return { group: "tested", logId: newId(), topic };
}

interface Place {
  partition: number;
  offset: number;
  index: number;
}

/** Samples; every other one was received in the month before. */
function samplesAt(name: ConsumerName, places: readonly Place[]): object[] {
  return places.map(({ partition, offset, index }) => ({
    log_id: logOfRows(name),
    partition,
    offset: String(offset),
    index,
    organization_id: ORGANIZATION,
    service_id: SERVICE,
    name: `metric ${index % 3}`,
    value: offset,
    received_at: offset % 2 === 0 ? "2026-01-31 23:59:59.999" : "2026-02-01 00:00:00.000",
    reported_at: "2026-01-31 23:59:59.000",
  }));
}

function placesOf(partition: number, offsets: readonly number[], rowsEach: number): Place[] {
  return offsets.flatMap((offset) =>
    Array.from({ length: rowsEach }, (_each, index) => ({ partition, offset, index })),
  );
}

async function encode(table: string, rows: object[]): Promise<EncodedRows> {
  return encodePart(await clickhouse.columnsOf(table), rows);
}

async function countRows(name: ConsumerName): Promise<number> {
  const [row] = await clickhouse.query<{ rows: string }>(
    `SELECT count() AS rows FROM metric_samples WHERE log_id = {log:String}`,
    { log: logOfRows(name) },
  );
  return Number(row!.rows);
}

describe("fences", () => {
  const name = makeName();
  let store: RowStore;
  let rows: EncodedRows;
  const insert = (lease: string, partitions: number[], lane: Lane = "main") =>
    store.insertRows({ lease, lane }, partitions, rows);
  beforeAll(async () => {
    store = makeRowStore({ clickhouse, name, ...SAMPLES });
    const places = [...placesOf(0, [1, 2], 2), ...placesOf(1, [1], 2)];
    rows = await encode("metric_samples", samplesAt(name, places));
  });

  test("an insert is refused without a fence, and with one for some of its partitions", async () => {
    const lease = newId();
    await expect(insert(lease, [0])).rejects.toBeInstanceOf(LeaseLost);
    await store.raiseFences(lease, new Map([[0, 1n]]));
    await expect(insert(lease, [0, 1])).rejects.toBeInstanceOf(LeaseLost);
    expect(await countRows(name)).toBe(0);
  });

  test("the highest epoch of every partition inserts, in both lanes; older ones do not", async () => {
    const [older, newer] = [newId(), newId()];
    await store.raiseFences(older, new Map([[0, 5n], [1, 5n]]));
    await store.raiseFences(newer, new Map([[1, 6n]]));
    expect(await store.readFenceEpochs([0, 1, 2])).toEqual(new Map([[0, 5n], [1, 6n]]));
    await expect(insert(older, [0, 1])).rejects.toBeInstanceOf(LeaseLost);
    await expect(insert(newer, [0, 1])).rejects.toBeInstanceOf(LeaseLost);
    expect(await countRows(name)).toBe(0);
    await Promise.all([insert(older, [0]), insert(older, [0], "slow"), insert(newer, [1])]);
    expect(await countRows(name)).toBe(18);
  });

  test("of equal epochs one lease holds, whichever was raised last", async () => {
    const leases = [newId(), newId()].toSorted();
    for (const [partition, order] of [[10, leases], [11, leases.toReversed()]] as const) {
      for (const lease of order) await store.raiseFences(lease, new Map([[partition, 1n]]));
      const outcomes = await Promise.allSettled(leases.map((lease) => insert(lease, [partition])));
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    }
  });

  test("fences of another group or log hold nobody off", async () => {
    const lease = newId();
    await store.raiseFences(lease, new Map([[20, 1n]]));
    for (const other of [{ ...name, group: "another" }, { ...name, logId: newId() }]) {
      await makeRowStore({ clickhouse, name: other, ...SAMPLES }).raiseFences(newId(), new Map([[20, 9n]]));
    }
    await insert(lease, [20]);
  });
});

describe("a takeover amid an insert", () => {
  test("nothing of an older insert appears once it was ended, at whatever moment", async () => {
    const outcomes = { refused: 0, inserted: 0 };
    const places = placesOf(0, Array.from({ length: 400 }, (_each, n) => n), 100);
    for (let attempt = 0; attempt < 20; attempt++) {
      const name = makeName();
      const store = makeRowStore({ clickhouse, name, ...SAMPLES });
      const rows = await encode("metric_samples", samplesAt(name, places));
      const [older, newer] = [newId(), newId()];
      await store.raiseFences(older, new Map([[0, 1n]]));
      const inserting = store.insertRows(main(older), [0], rows).then(
        () => outcomes.inserted++,
        () => outcomes.refused++,
      );
      // Moments from before the request to behind the insert.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 150));
      await store.raiseFences(newer, new Map([[0, 2n]]));
      await store.endOlderInserts(newer, [0], []);
      const standing = await countRows(name);
      await inserting;
      expect(await countRows(name)).toBe(standing);
      await store.insertRows(main(newer), [0], rows);
      expect(await countRows(name)).toBe(standing + places.length);
    }
    expect(outcomes.refused).toBeGreaterThan(0);
  });

  test.each(["main", "slow"] as const)("an insert of the %s lane that passed its check is ended", async (lane) => {
    const name = makeName();
    const store = makeRowStore({ clickhouse, name, ...SAMPLES });
    const [older, newer] = [newId(), newId()];
    await store.raiseFences(older, new Map([[0, 1n]]));
    const rows = await encode("metric_samples", samplesAt(name, placesOf(0, [1, 2, 3], 100)));
    const queryId = lane === "main" ? older : `${older}/slow`;
    // Sleeps 10 ms at each row, three seconds in all.
    const inserting = clickhouse.insertEncoded("metric_samples", rows, { queryId, onlyIf: "sleepEachRow(0.01) = 0" }).then(
      () => "inserted",
      () => "ended",
    );
    await expect.poll(() => countRunning(queryId)).toBe(1);
    await store.raiseFences(newer, new Map([[0, 2n]]));
    await store.endOlderInserts(newer, [0], []);
    expect(await inserting).toBe("ended");
    expect(await countRows(name)).toBe(0);
  });

  test("inserts of this lease, of other partitions and of those named", async () => {
    const name = makeName();
    const store = makeRowStore({ clickhouse, name, ...SAMPLES });
    const [own, foreign, named] = [newId(), newId(), newId()];
    await store.raiseFences(own, new Map([[0, 2n]]));
    await store.raiseFences(foreign, new Map([[1, 1n]]));
    const rows = await encode("metric_samples", samplesAt(name, placesOf(0, [1], 100)));
    const slow = (queryId: string) =>
      clickhouse.insertEncoded("metric_samples", rows, { queryId, onlyIf: "sleepEachRow(0.02) = 0" });
    const outcomes = Promise.allSettled([own, foreign, named].map(slow));
    for (const queryId of [own, foreign, named]) await expect.poll(() => countRunning(queryId)).toBe(1);
    await store.endOlderInserts(own, [0], [named]);
    expect((await outcomes).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(await countRows(name)).toBe(200);
  });
});

/** Running inserts with this id; the embedded engine keeps it as their log comment. */
async function countRunning(queryId: string): Promise<number> {
  const [row] = await clickhouse.query<{ running: string }>(
    `SELECT count() AS running FROM system.processes
     WHERE (query_id = {id:String} OR Settings['log_comment'] = {id:String}) AND query ILIKE 'INSERT%'`,
    { id: queryId },
  );
  return Number(row!.running);
}

describe("what stands", () => {
  const name = makeName("beacons");
  const overflow: ConsumerName = { ...name, topic: "beacons-overflow" };
  const places = [
    ...placesOf(0, [3, 4, 7], 3),
    ...placesOf(1, [1, 9], 2),
    ...placesOf(2, [5], 1),
  ];
  const ofOverflow = placesOf(0, [100, 101], 2);
  let store: RowStore;
  let other: RowStore;
  beforeAll(async () => {
    store = makeRowStore({ clickhouse, name, ...SAMPLES });
    other = makeRowStore({ clickhouse, name: overflow, ...SAMPLES });
    await clickhouse.insert("metric_samples", samplesAt(name, places), {});
    await clickhouse.insert("metric_samples", samplesAt(overflow, ofOverflow), {});
    await clickhouse.insert("metric_samples", samplesAt(makeName(), placesOf(0, [3, 50], 1)), {});
  });

  const sorted = (found: { partition: number; offset: string; index: number }[]): Place[] =>
    found
      .map(({ partition, offset, index }) => ({ partition, offset: Number(offset), index }))
      .toSorted((one, two) => one.partition - two.partition || one.offset - two.offset || one.index - two.index);

  test("the highest offsets at or above cursors", async () => {
    expect(await store.highestStanding(new Map([[0, 0n], [1, 9n], [2, 6n], [3, 0n]]))).toEqual(new Map([[0, 7n], [1, 9n]]));
    expect(await other.highestStanding(new Map([[0, 0n], [1, 0n]]))).toEqual(new Map([[0, 101n]]));
    expect(await store.highestStanding(new Map())).toEqual(new Map());
  });

  test.each([
    ["one range", [{ partition: 0, first: 4n, last: 7n }]],
    ["ranges of several partitions", [{ partition: 0, first: 0n, last: 3n }, { partition: 1, first: 2n, last: 9n }, { partition: 2, first: 6n, last: 9n }]],
    ["ranges of one partition", [{ partition: 0, first: 3n, last: 3n }, { partition: 0, first: 7n, last: 7n }]],
    ["nothing there", [{ partition: 9, first: 0n, last: 99n }]],
  ])("places and rows of %s", async (_what, ranges) => {
    const isIn = ({ partition, offset }: Place): boolean =>
      ranges.some((range) => range.partition === partition && offset >= range.first && offset <= range.last);
    expect(sorted(await store.standingPlaces(ranges))).toEqual(places.filter(isIn));
    const rows = await store.standingRows<{ log_id: string; partition: number; offset: string; index: number; value: number }>(
      "log_id, partition, offset, `index`, value",
      ranges,
    );
    expect(sorted(rows)).toEqual(places.filter(isIn));
    expect(rows.every(({ log_id: logId, value, offset }) => logId === name.logId && value === Number(offset))).toBe(true);
  });

  test("each log has its own", async () => {
    const all = [{ partition: 0, first: 0n, last: 1_000n }];
    expect(sorted(await other.standingPlaces(all))).toEqual(ofOverflow);
    expect(await store.standingPlaces(all)).toHaveLength(9);
  });
});
