import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import { freshClickHouse } from "../../../testing/clickhouse.ts";
import { makeSeenGenerations, SLOT_MS, slotOf } from "./generations.ts";
import { hashGivenIds } from "./id-hash.ts";
import { lookUpIds, type AskedId } from "./look-up.ts";
import { warmUp } from "./warm-up.ts";

const PARTITIONS = 4;
const ROWS_OF_PART = 500_000;
const PARTS = 6;
const now = slotOf(Date.now()) + SLOT_MS / 2;
const logId = randomUUID();

let fresh: Awaited<ReturnType<typeof freshClickHouse>>;

beforeAll(async () => {
  fresh = await freshClickHouse();
  // A quarter of the ids stands in the other log; 80 minutes of them, in one part an hour.
  for (let part = 0; part < PARTS; part++) {
    await fresh.clickhouse.command(
      `INSERT INTO beacon_events (log_id, partition, offset, index, service_id, signature_id, event_id, event_id_given, received_at)
       SELECT if(number % 16 < 12, {log:String}, concat({log:String}, '/overflow')), number % {partitions:UInt16}, number, 0, toUUID({service:String}), toUUID({service:String}),
         generateUUIDv4(), true, fromUnixTimestamp64Milli({now:Int64} - toInt64(number * 7919 % 4800000))
       FROM numbers({from:UInt64}, {rows:UInt64})`,
      { log: logId, partitions: PARTITIONS, service: randomUUID(), now, from: part * ROWS_OF_PART, rows: ROWS_OF_PART },
    );
  }
  await fresh.clickhouse.command("OPTIMIZE TABLE seen_event_ids FINAL");
});
afterAll(() => fresh.drop());

interface Estimate {
  table: string;
  rows: number;
  marks: number;
}

/** Asks ClickHouse before each question how much it would read for it. */
function estimating(clickhouse: ClickHouse): { clickhouse: ClickHouse; estimates: Estimate[] } {
  const estimates: Estimate[] = [];
  const estimate = async (sql: string, params?: Record<string, unknown>): Promise<void> => {
    for (const { table, rows, marks } of await clickhouse.query<{ table: string; rows: string; marks: string }>(`EXPLAIN ESTIMATE ${sql}`, params)) estimates.push({ table, rows: Number(rows), marks: Number(marks) });
  };
  return {
    estimates,
    clickhouse: {
      ...clickhouse,
      async query<Row>(sql: string, params?: Record<string, unknown>) {
        await estimate(sql, params);
        return clickhouse.query<Row>(sql, params);
      },
      async *stream(sql, params) {
        await estimate(sql, params);
        yield* clickhouse.stream(sql, params);
      },
    },
  };
}

test("a look-up of a few ids among millions reads few granules, in either log", async () => {
  const rows = await fresh.clickhouse.query<{ service_id: string; event_id: string; partition: number; received: string; overflow: number }>(
    `SELECT service_id, event_id, partition, toUnixTimestamp64Milli(received_at) AS received, endsWith(log_id, '/overflow') AS overflow FROM beacon_events
     WHERE offset IN (5, 700001, 1400002, 2100012, 2999999)`,
  );
  const hashes = hashGivenIds(rows);
  const asked: AskedId[] = rows.map((row, at) => ({ ...row, hash: (BigInt(hashes[2 * at + 1]!) << 32n) | BigInt(hashes[2 * at]!), receivedAt: Number(row.received) }));
  expect(new Set(rows.map(({ overflow }) => overflow)).size).toBe(2);
  for (const [anywhere, most] of [[false, 150], [true, 350]] as const) {
    const { clickhouse, estimates } = estimating(fresh.clickhouse);
    const found = await lookUpIds(clickhouse, asked, { anywhere });
    expect(found.map(({ event_id: id }) => id).toSorted()).toEqual(rows.map(({ event_id: id }) => id).toSorted());
    const [candidates, confirmed] = estimates;
    // For each id a granule of each log and slot (and partition), and one at each of their borders, however many ids stand.
    expect(candidates!.marks).toBeLessThan(most);
    expect(confirmed!.rows).toBeLessThan(asked.length * PARTS * 8_192);
    expect(confirmed!.marks).toBeLessThanOrEqual(2 * asked.length * PARTS);
  }
});

test("a look-up of ids that stand nowhere never touches the rows", async () => {
  const { clickhouse, estimates } = estimating(fresh.clickhouse);
  const asked = Array.from({ length: 5 }, () => ({ service_id: randomUUID(), event_id: randomUUID(), partition: 1, receivedAt: now, hash: BigInt(`0x${randomUUID().replaceAll("-", "").slice(0, 16)}`) }));
  expect(await lookUpIds(clickhouse, asked, { anywhere: false })).toEqual([]);
  expect(estimates.map(({ table }) => table)).not.toContain("beacon_events");
});

test("warming reads only the partition's own ids, of the slots that matter, and finds them all", async () => {
  const { clickhouse, estimates } = estimating(fresh.clickhouse);
  const filter = makeSeenGenerations({ left: 2 ** 30 }, () => now);
  const read = await warmUp({ clickhouse, logId, partition: 2, now, stopped: () => false }, filter);
  const own = (PARTS * ROWS_OF_PART * 12) / 16 / PARTITIONS;
  expect(read).toBeGreaterThan(own * 0.85);
  expect(read).toBeLessThanOrEqual(own);
  // The newest slot is found from the end; then the slots are counted and read once.
  const rows = estimates.slice(2).reduce((sum, each) => sum + each.rows, 0);
  expect(rows).toBeLessThan(own * 1.2);
  const hour = await fresh.clickhouse.query<{ service_id: string; event_id: string }>(
    "SELECT service_id, event_id FROM beacon_events WHERE log_id = {log:String} AND partition = 2 AND received_at > fromUnixTimestamp64Milli({since:Int64}) LIMIT 200000",
    { log: logId, since: now - 60 * 60_000 },
  );
  const hashes = hashGivenIds(hour);
  for (let at = 0; at < hour.length; at++) if (!filter.mayContain(hashes[2 * at]!, hashes[2 * at + 1]!)) throw new Error(`${hour[at]!.event_id} was missed.`);
});
