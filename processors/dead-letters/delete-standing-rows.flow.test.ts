import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  recordDeadLetters,
  WHOLE_RECORD,
  type NewDeadLetter,
} from "../../domain/dead-letters/record-dead-letters.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import { inTransaction } from "../../platform/postgres/database.ts";
import { deadLetters } from "../../schemas/tables/all.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { deleteStandingRows } from "./delete-standing-rows.ts";
import { ROWS_OF_ENTRY } from "../consume/row-places.ts";

const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");
let postgres: Awaited<ReturnType<typeof freshDatabase>>;
let store: Awaited<ReturnType<typeof freshClickHouse>>;

beforeAll(async () => {
  postgres = await freshDatabase();
  store = await freshClickHouse();
});
afterAll(async () => {
  await postgres.drop();
  await store.drop();
});

const MONTHS = ["2026-01-31 23:59:59.999", "2026-02-01 00:00:00.000"];

/**
 * Two rows of each of three entries of the records 5 and 6, in two months; the first of an entry
 * has an event id.
 */
function rowsOf(logId: string, extra: (at: number) => object) {
  return [5, 6].flatMap((offset) =>
    [0, 1, 2].flatMap((entry) =>
      [0, 1].map((at) => {
        const index = entry * ROWS_OF_ENTRY + at;
        const place = { log_id: logId, partition: 3, offset: String(offset), index };
        return Object.assign(
          place,
          { organization_id: newId(), received_at: MONTHS[offset - 5] },
          extra(at),
        );
      }),
    ),
  );
}

async function standing(table: string, logId: string): Promise<string[]> {
  const rows = await store.clickhouse.query<{ place: string }>(
    `SELECT concat(toString(offset), '/', toString(intDiv(index, ${ROWS_OF_ENTRY}))) AS place, count() FROM ${table} WHERE log_id = {logId:String} GROUP BY place ORDER BY place`,
    { logId },
  );
  return rows.map(({ place }) => place);
}

const letter = (consumerGroup: string, offset: bigint, entry: number): NewDeadLetter => ({
  consumerGroup,
  logId: "log",
  topic: "beacons",
  partition: 3,
  offset,
  entry,
  reason: "it was refused",
  bytes: Buffer.from("a frame"),
  rowsStand: true,
});

const states = async () =>
  (await postgres.database.select().from(deadLetters)).map(({ state }) => state);

test("the rows of letters go, their neighbours stay, and a round that dies before its letters are open is repeated", async () => {
  const { clickhouse } = store;
  const beacons = (logId: string) =>
    rowsOf(logId, (at) => ({
      service_id: newId(),
      signature_id: newId(),
      event_id: newId(),
      event_id_given: at === 0,
      type: "error",
      received_at: new Date().toISOString().slice(0, 23).replace("T", " "),
    }));
  for (const logId of ["log", "log/overflow", "other"])
    await clickhouse.insert("beacon_events", beacons(logId), {});
  await clickhouse.insert(
    "metric_samples",
    rowsOf("log", () => ({ service_id: newId(), name: "cpu" })),
    {},
  );
  await clickhouse.insert(
    "heartbeat_pings",
    rowsOf("log", () => ({ monitor_id: newId(), status: "ok" })),
    {},
  );
  const letters: NewDeadLetter[] = [
    letter("errors", 5n, 1),
    letter("errors", 6n, WHOLE_RECORD),
    { ...letter("errors-overflow", 5n, 0), topic: "beacons-overflow" },
    { ...letter("samples", 5n, 2), topic: "metrics" },
    { ...letter("samples", 6n, 2), topic: "metrics" },
    { ...letter("ping-history", 6n, WHOLE_RECORD), topic: "heartbeats" },
    { ...letter("metrics", 5n, 0), topic: "metrics" },
  ];
  await inTransaction(postgres.database, (transaction) => recordDeadLetters(transaction, letters));
  expect(await states()).toEqual(letters.map(() => "rows_stand"));

  await postgres.database.execute(
    sql`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'the process dies'; end $$`,
  );
  await postgres.database.execute(
    sql`create trigger refuse before update on dead_letters for each row execute function refuse()`,
  );
  const needs = { database: postgres.database, clickhouse, log };
  await expect(deleteStandingRows(needs)).rejects.toThrow();
  expect(await states()).toEqual(letters.map(() => "rows_stand"));
  const after = async () => ({
    errors: await standing("beacon_events", "log"),
    overflow: await standing("beacon_events", "log/overflow"),
    other: await standing("beacon_events", "other"),
    samples: await standing("metric_samples", "log"),
    pings: await standing("heartbeat_pings", "log"),
  });
  const all = ["5/0", "5/1", "5/2", "6/0", "6/1", "6/2"];
  const left = {
    errors: ["5/0", "5/2"],
    overflow: all.slice(1),
    other: all,
    samples: ["5/0", "5/1", "6/0", "6/1"],
    pings: all.slice(0, 3),
  };
  expect(await after()).toEqual(left);

  await postgres.database.execute(sql`drop trigger refuse on dead_letters`);
  // Two processes at once; the second takes what the first has not locked, which is nothing.
  await Promise.all([deleteStandingRows(needs), deleteStandingRows(needs)]);
  expect(await states()).toEqual(letters.map(() => "open"));
  expect(await after()).toEqual(left);
});
