import { afterAll, beforeAll, expect, test } from "vitest";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { BEACON_SIDE_TABLES } from "./side-tables.ts";

let fresh: Awaited<ReturnType<typeof freshClickHouse>>;
beforeAll(async () => {
  fresh = await freshClickHouse();
});
afterAll(() => fresh.drop());

/** A statement as ClickHouse itself writes it, without the database before tables' names. */
async function formatted(statement: string): Promise<string> {
  const [row] = await fresh.clickhouse.query<{ text: string; database: string }>(
    "SELECT formatQuerySingleLine({statement:String}) AS text, currentDatabase() AS database",
    { statement },
  );
  return row!.text.replaceAll(`${row!.database}.`, "").replaceAll("`", "");
}

test.each(BEACON_SIDE_TABLES)("$view has the query that a replay runs", async ({ view, insertFrom }) => {
  const [made] = await fresh.clickhouse.query<{ as_select: string; create_table_query: string }>(
    "SELECT as_select, create_table_query FROM system.tables WHERE database = currentDatabase() AND name = {view:String}",
    { view },
  );
  const insert = await formatted(insertFrom("beacon_events"));
  const [, target, select] = /^INSERT INTO (\w+)(?: \([^)]*\))? (SELECT .*)$/.exec(insert) ?? [];
  expect(select).toBe(await formatted(made!.as_select));
  expect(made!.create_table_query).toMatch(new RegExp(`TO \\S*\\b${target}\\b`));
});

test("no view of beacon_events is forgotten", async () => {
  const views = await fresh.clickhouse.query<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'MaterializedView'
     AND as_select LIKE '%beacon_events%' ORDER BY name`,
  );
  expect(views.map(({ name }) => name)).toEqual(BEACON_SIDE_TABLES.map(({ view }) => view).toSorted());
});
