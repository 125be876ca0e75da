import { afterEach, beforeEach, expect, test } from "vitest";
import { DURABLE_TABLES } from "../../schemas/durable-tables.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { StartFailure } from "../start-failure.ts";
import { checkClickHouseDurability } from "./check-durability.ts";

let fresh: Awaited<ReturnType<typeof freshClickHouse>>;
beforeEach(async () => {
  fresh = await freshClickHouse();
});
afterEach(() => fresh.drop());

const alter = (table: string, setting: string): Promise<void> =>
  fresh.clickhouse.command(`ALTER TABLE ${table} MODIFY SETTING ${setting}`);

test("the tables are as our migrations make them", async () => {
  await expect(checkClickHouseDurability(fresh.clickhouse)).resolves.toBeUndefined();
});

test("every table that rows are written to is checked", async () => {
  const tables = await fresh.clickhouse.query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'",
  );
  const RETIRED = ["recent_event_ids", "signature_sessions"];
  expect(tables.map(({ name }) => name).toSorted()).toEqual([...DURABLE_TABLES, ...RETIRED].toSorted());
});

test.each([
  ["beacon_events", "fsync_after_insert", 0, "1"],
  ["schema_migrations", "fsync_part_directory", 0, "1"],
  ["seen_event_ids", "min_rows_to_fsync_after_merge", 0, "1"],
  ["signature_slots", "min_rows_to_fsync_after_merge", 1_000_000, "1"],
  ["insert_fences", "old_parts_lifetime", 479, "480 or more"],
])("%s with %s = %i refuses the start until its fix was run", async (table, setting, value, promised) => {
  await alter(table, `${setting} = ${value}`);
  const failure: unknown = await checkClickHouseDurability(fresh.clickhouse).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartFailure);
  const { message } = failure as StartFailure;
  expect(message).toContain(`rows of ${table} when the power fails: ${setting} is ${value} there and must be ${promised}.`);
  const [, fix] = / Run (ALTER TABLE .*);$/.exec(message)!;
  await fresh.clickhouse.command(fix!);
  await expect(checkClickHouseDurability(fresh.clickhouse)).resolves.toBeUndefined();
});

test("what a table does not say is the server's, and all that is weak is named in the fix", async () => {
  await fresh.clickhouse.command("ALTER TABLE metric_samples RESET SETTING fsync_after_insert, old_parts_lifetime");
  await alter("check_results", "fsync_part_directory = 0");
  await expect(checkClickHouseDurability(fresh.clickhouse)).rejects.toThrow(
    "Run ALTER TABLE check_results MODIFY SETTING fsync_part_directory = 1; ALTER TABLE metric_samples MODIFY SETTING fsync_after_insert = 1, old_parts_lifetime = 480;",
  );
});

test("stronger settings are taken", async () => {
  await alter("beacon_events", "old_parts_lifetime = 3600");
  await alter("beacon_events", "min_rows_to_fsync_after_merge = 0, min_compressed_bytes_to_fsync_after_merge = 1");
  await expect(checkClickHouseDurability(fresh.clickhouse)).resolves.toBeUndefined();
});
