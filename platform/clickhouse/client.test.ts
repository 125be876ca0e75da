import { afterAll, beforeAll, expect, test } from "vitest";
import { freshClickHouse } from "../../testing/clickhouse.ts";

let fresh: Awaited<ReturnType<typeof freshClickHouse>>;
beforeAll(async () => {
  fresh = await freshClickHouse();
});
afterAll(() => fresh.drop());

test("rows come back as they went in", async () => {
  expect(await fresh.clickhouse.query("SELECT {a:UInt64} AS a, {b:String} AS b", { a: 1, b: "x'\\y\n{a:String}" })).toEqual([{ a: "1", b: "x'\\y\n{a:String}" }]);
});
