import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { makeLog } from "../log.ts";
import { openClickHouse } from "./client.ts";
import { migrateClickHouse } from "./migrate.ts";
import type { ClickHouse } from "./port.ts";
import { startEmbeddedClickHouse } from "./start-embedded.ts";

let fresh: Awaited<ReturnType<typeof freshClickHouse>>;
let clickhouse: ClickHouse;
beforeAll(async () => {
  fresh = await freshClickHouse();
  clickhouse = fresh.clickhouse;
});
afterAll(() => fresh.drop());

const SERVICE = "5f9e1d0a-2b1f-4b53-9f0b-6f6b2ad7c111";

/** Events of one range, every other one in the month before; far ahead, since the table of ids forgets after a day. */
function events(count: number, from: number, logId: string): object[] {
  return Array.from({ length: count }, (_each, index) => ({
    log_id: logId,
    partition: 1,
    offset: String(from + index),
    index: 0,
    service_id: SERVICE,
    signature_id: SERVICE,
    event_id: `00000000-0000-4000-8000-${String(from + index).padStart(12, "0")}`,
    event_id_given: true,
    type: "error",
    received_at: index % 2 === 0 ? "2099-01-31 23:59:59.999" : "2099-02-01 00:00:00.000",
    session_id: `session ${from + index}`,
    message: "m".repeat(50),
    tags: { a: "b" },
  }));
}

async function counts(store: ClickHouse, logId: string): Promise<number[]> {
  const [row] = await store.query<Record<"events" | "ids", string>>(
    "SELECT (SELECT count() FROM beacon_events WHERE log_id = {log:String}) AS events, (SELECT count() FROM seen_event_ids WHERE log_id = {log:String}) AS ids",
    { log: logId },
  );
  return [Number(row!.events), Number(row!.ids)];
}

test("a token inserts once, over two months and behind every view", async () => {
  const rows = events(100, 1, "once");
  for (let time = 0; time < 3; time++) await clickhouse.insert("beacon_events", rows, { token: "batch/range 1", queryId: "range 1" });
  expect(await counts(clickhouse, "once")).toEqual([100, 100]);
  expect(await clickhouse.query("SELECT uniqExactMerge(sessions) AS sessions FROM signature_slots WHERE service_id = {id:UUID}", { id: SERVICE })).toEqual([{ sessions: "100" }]);
});

test("another token inserts the same rows again, and rows without a token are inserted as often as sent", async () => {
  const rows = events(10, 1, "again");
  await clickhouse.insert("beacon_events", rows, { token: "batch/a" });
  await clickhouse.insert("beacon_events", rows, { token: "batch/b" });
  expect(await counts(clickhouse, "again")).toEqual([20, 20]);
  for (let time = 0; time < 2; time++) await clickhouse.insert("beacon_events", rows, {});
  expect(await counts(clickhouse, "again")).toEqual([40, 40]);
});

test("tokens sent at the same time, and one after another's failure, still insert once each", async () => {
  await Promise.all(Array.from({ length: 20 }, (_each, index) => clickhouse.insert("beacon_events", events(50, 1_000 * (index % 10), "storm"), { token: `batch/storm ${index % 10}` })));
  expect(await counts(clickhouse, "storm")).toEqual([500, 500]);
  await expect(clickhouse.insert("beacon_events", [...events(5, 1, "broken"), { offset: "no number" }], { token: "batch/broken" })).rejects.toThrow();
  expect(await counts(clickhouse, "broken")).toEqual([0, 0]);
  await clickhouse.insert("beacon_events", events(5, 1, "broken"), { token: "batch/broken" });
  expect(await counts(clickhouse, "broken")).toEqual([5, 5]);
});

test("60,000 rows in one statement are one unit for their token", async () => {
  const rows = events(60_000, 1, "large");
  await clickhouse.insert("beacon_events", rows, { token: "batch/large" });
  const parts = await clickhouse.query("SELECT partition, rows FROM system.parts WHERE database = currentDatabase() AND table = 'beacon_events' AND active AND rows >= 30000 ORDER BY partition");
  await clickhouse.insert("beacon_events", rows, { token: "batch/large" });
  expect(await counts(clickhouse, "large")).toEqual([60_000, 60_000]);
  expect(parts).toHaveLength(2);
});

test("an insert that is too large for one block is refused before it is sent", async () => {
  await expect(clickhouse.insert("beacon_events", events(100_001, 1, "too many"), { token: "batch/too many" })).rejects.toBeInstanceOf(RangeError);
  await expect(clickhouse.insert("beacon_events", [{ message: "x".repeat(65 * 1024 * 1024) }], { token: "batch/too big" })).rejects.toBeInstanceOf(RangeError);
});

test("a token repeated after a view failed halfway completes what is missing and doubles nothing", async () => {
  await clickhouse.command("CREATE TABLE switch (on UInt8) ENGINE = MergeTree ORDER BY on");
  await clickhouse.command("CREATE TABLE source (a UInt64) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100");
  for (const name of ["first", "last"]) {
    await clickhouse.command(`CREATE TABLE ${name} (a UInt64) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100`);
  }
  await clickhouse.command("CREATE MATERIALIZED VIEW a_first TO first AS SELECT a FROM source");
  await clickhouse.command("CREATE MATERIALIZED VIEW z_last TO last AS SELECT a + throwIf((SELECT count() FROM switch) > 0, 'switched on') AS a FROM source");
  const rows = Array.from({ length: 10 }, (_each, a) => ({ a }));
  await clickhouse.insert("switch", [{ on: 1 }], {});
  await expect(clickhouse.insert("source", rows, { token: "halfway" })).rejects.toMatchObject({ code: "395" });
  await clickhouse.command("TRUNCATE TABLE switch");
  for (let time = 0; time < 2; time++) await clickhouse.insert("source", rows, { token: "halfway" });
  const found = await clickhouse.query("SELECT (SELECT count() FROM source) AS source, (SELECT count() FROM first) AS first, (SELECT count() FROM last) AS last");
  expect(found).toEqual([{ source: "10", first: "10", last: "10" }]);
});

test("a token still inserts nothing after the engine was stopped, and after it was killed", async () => {
  const log = makeLog("silent");
  const folder = await mkdtemp(join(tmpdir(), "pharos-clickhouse-restart-"));
  try {
    for (const [end, own, rows] of [["stop", "first", 200], ["abandon", "second", 300], ["stop", "first", 300]] as const) {
      const engine = await startEmbeddedClickHouse({ folder, log });
      await migrateClickHouse(engine.url, log);
      const store = openClickHouse(engine.url, log);
      await store.insert("beacon_events", events(100, 1, "restart"), { token: "batch/range" });
      await store.insert("beacon_events", events(100, 101, "restart"), { token: `batch/${own}` });
      expect(await counts(store, "restart")).toEqual([rows, rows]);
      await store.close();
      if (end === "stop") await engine.stop();
      else engine.abandon();
      await engine.exited;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("an insert of the version before batches, which knows no fences, is refused", async () => {
  const old = clickhouse.insert("beacon_events", events(5, 1, "old"), { token: "0199a000-0000-7000-8000-000000000001" });
  await expect(old).rejects.toMatchObject({ code: "469" });
  expect(await counts(clickhouse, "old")).toEqual([0, 0]);
});
