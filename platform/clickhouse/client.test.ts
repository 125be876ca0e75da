import { createServer, type AddressInfo } from "node:net";
import { ClickHouseError } from "@clickhouse/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { makeLog } from "../log.ts";
import { openClickHouse } from "./client.ts";
import { ClickHouseUnavailable, type ClickHouse } from "./port.ts";

let fresh: Awaited<ReturnType<typeof freshClickHouse>>;
let clickhouse: ClickHouse;
beforeAll(async () => {
  fresh = await freshClickHouse();
  clickhouse = fresh.clickhouse;
});
afterAll(() => fresh.drop());

const UUID = "5f9e1d0a-2b1f-4b53-9f0b-6f6b2ad7c111";
const AWKWARD = ["", "plain", "it's", `"quoted"`, "back\\slash", "tab\tline\nreturn\r", "nul\u0000byte", "ünïcødé 漢字 🦉", "{a:String}", "'); DROP TABLE every_type; --", "\\N", "\\'", "$tag$", "\u2028"];

beforeEach(async () => {
  await clickhouse.command("DROP TABLE IF EXISTS every_type SYNC");
  await clickhouse.command(`CREATE TABLE every_type (
    u64 UInt64, i64 Int64, i32 Int32, f Float64, text String, low LowCardinality(String), id UUID, yes Bool,
    kind Enum8('error' = 1, 'it''s' = 2), at DateTime64(3, 'UTC'), second DateTime('UTC'), day Date,
    maybe Nullable(Int32), tags Map(LowCardinality(String), String), list Array(String), defaulted UInt8 DEFAULT 7, doubled UInt64 MATERIALIZED u64 + u64
  ) ENGINE = MergeTree ORDER BY u64`);
});

test("every kind of value comes back as it went in", async () => {
  const row = {
    u64: 18446744073709551615n,
    i64: -9223372036854775808n,
    i32: -5,
    f: 0.1,
    text: "ünïcødé 🦉",
    low: "low",
    id: UUID,
    yes: true,
    kind: "it's",
    at: new Date("2026-01-02T03:04:05.678Z"),
    second: new Date("2026-01-02T03:04:05.000Z"),
    day: "2026-01-02",
    maybe: null,
    tags: { "it's": "a \"value\"", "": "漢字" },
    list: ["", "it's", "\\"],
  };
  await clickhouse.insert("every_type", [row, { ...row, u64: 1, maybe: 3, at: "2026-01-02T03:04:05.678Z", defaulted: 1 }], {});
  const back = { ...row, u64: "18446744073709551615", i64: "-9223372036854775808", at: "2026-01-02 03:04:05.678", second: "2026-01-02 03:04:05", defaulted: 7 };
  expect(await clickhouse.query("SELECT * FROM every_type ORDER BY u64 DESC")).toEqual([back, { ...back, u64: "1", maybe: 3, defaulted: 1 }]);
});

test("awkward texts come back unchanged, as rows and as parameters", async () => {
  await clickhouse.insert("every_type", AWKWARD.map((text, index) => ({ u64: index, text, low: text, tags: { [text]: text }, list: [text, text] })), {});
  const rows = await clickhouse.query<{ text: string; low: string; tags: object; list: string[] }>("SELECT text, low, tags, list FROM every_type ORDER BY u64");
  expect(rows).toEqual(AWKWARD.map((text) => ({ text, low: text, tags: { [text]: text }, list: [text, text] })));
  for (const text of AWKWARD) {
    const [echo] = await clickhouse.query("SELECT {t:String} AS t, {n:Nullable(String)} AS n, {a:Array(String)} AS a, {m:Map(String, String)} AS m, (SELECT count() FROM every_type WHERE text = {t:String}) AS found", { t: text, n: text, a: [text, text], m: { [text]: text } });
    expect(echo).toEqual({ t: text, n: text, a: [text, text], m: { [text]: text }, found: "1" });
  }
});

test("floats that JSON cannot say, and halves of surrogate pairs, do not spoil an insert", async () => {
  await clickhouse.insert("every_type", [{ u64: 1, f: Number.NaN, text: "half \ud83d" }, { u64: 2, f: Infinity, tags: { "\udc00": "\ud800" } }, { u64: 3, f: -Infinity, text: "whole \u{1f989}" }], {});
  const rows = await clickhouse.query("SELECT f, text, tags FROM every_type ORDER BY u64");
  expect(rows).toEqual([{ f: "nan", text: "half \ufffd", tags: {} }, { f: "inf", text: "", tags: { "\ufffd": "\ufffd" } }, { f: "-inf", text: "whole \u{1f989}", tags: {} }]);
});

test("parameters of every type are filled in, and cannot leave their place", async () => {
  const [row] = await clickhouse.query("SELECT {n:UInt64} AS n, {f:Float64} AS f, {id:UUID} AS id, {ids:Array(UUID)} AS ids, {at:DateTime64(3, 'UTC')} AS at, {none:Nullable(UInt8)} AS none, {yes:Bool} AS yes, '{n:UInt64}' AS text LIMIT {l:UInt8}", {
    n: 18446744073709551615n, f: -0.5, id: UUID, ids: [UUID, UUID], at: new Date("2026-01-02T03:04:05.678Z"), none: null, yes: true, l: 1,
  });
  expect(row).toEqual({ n: "18446744073709551615", f: -0.5, id: UUID, ids: [UUID, UUID], at: "2026-01-02 03:04:05.678", none: null, yes: true, text: "{n:UInt64}" });
  for (const attack of ["1) UNION ALL SELECT 2 --", "1'); DROP TABLE every_type; --", "\\' OR 1 = 1 --", "\\\\' OR 1 = 1 --"]) {
    await expect(clickhouse.query("SELECT {n:UInt64} AS n", { n: attack })).rejects.toBeInstanceOf(ClickHouseError);
    expect(await clickhouse.query("SELECT count() AS found FROM every_type WHERE text = {t:String}", { t: attack })).toEqual([{ found: "0" }]);
  }
  await expect(clickhouse.query("SELECT {missing:String}")).rejects.toMatchObject({ code: "456", type: "UNKNOWN_QUERY_PARAMETER" });
});

test("a list of ids too long for a URL goes through", async () => {
  const ids = Array.from({ length: 20_000 }, (_each, index) => `${String(index).padStart(8, "0")}${UUID.slice(8)}`);
  expect(await clickhouse.query("SELECT length({ids:Array(UUID)}) AS length", { ids })).toEqual([{ length: "20000" }]);
});

test("a refused statement says with ClickHouse's code and name why", async () => {
  await expect(clickhouse.query("SELECT * FROM nowhere")).rejects.toMatchObject({ code: "60", type: "UNKNOWN_TABLE" });
  await expect(clickhouse.query("SELEC 1")).rejects.toMatchObject({ code: "62" });
  await expect(clickhouse.command("SELECT 1; SELECT 2")).rejects.toMatchObject({ code: "62" });
  await expect(clickhouse.insert("nowhere", [{ a: 1 }], {})).rejects.toMatchObject({ code: "60" });
  await expect(clickhouse.insert("every_type", [{ u64: "not a number" }], {})).rejects.toThrow('column "u64" of row 1');
  await expect(clickhouse.insert("every_type", [{ kind: "unheard of" }], {})).rejects.toThrow('column "kind" of row 1');
  await expect(clickhouse.insert("every_type (u64) VALUES (1) --", [{ u64: 1 }], {})).rejects.toThrow("is no table's name");
  expect(await clickhouse.query("SELECT count() AS rows FROM every_type")).toEqual([{ rows: "0" }]);
});

test("a query is stopped at its time limit", async () => {
  await expect(clickhouse.query("SELECT sum(sleepEachRow(0.1)) FROM numbers(100) SETTINGS max_block_size = 1", {}, { timeoutMs: 500 })).rejects.toMatchObject({ code: "159", type: "TIMEOUT_EXCEEDED" });
});

test("a killed query has ended when the kill resolves", async () => {
  const slow = fetch(`${addressOf(fresh.url)}&query_id=slow-one`, { method: "POST", body: "SELECT sum(sleepEachRow(0.1)) FROM numbers(200) SETTINGS max_block_size = 1", headers: authorization(fresh.url) });
  await expect.poll(() => clickhouse.query("SELECT 1 FROM system.processes WHERE Settings['log_comment'] = 'slow-one'")).toHaveLength(1);
  await clickhouse.killQueries(["slow-one"]);
  expect(await clickhouse.query("SELECT 1 FROM system.processes WHERE Settings['log_comment'] = 'slow-one'")).toHaveLength(0);
  expect((await slow).headers.get("x-clickhouse-exception-code")).toBe("394");
  await clickhouse.killQueries(["nobody has this id", "nor this"]);
});

test("twenty queries run while rows are inserted", async () => {
  const rows = (from: number): object[] => Array.from({ length: 1_000 }, (_each, index) => ({ u64: from + index, text: "x".repeat(100) }));
  const inserts = Array.from({ length: 5 }, (_each, index) => clickhouse.insert("every_type", rows(index * 1_000), { token: `t${index}` }));
  const queries = Array.from({ length: 20 }, (_each, index) => clickhouse.query<{ n: number; rows: number }>("SELECT {n:UInt8} AS n, count() % 1000 AS rows FROM every_type WHERE NOT ignore(sleep(0.05))", { n: index }));
  expect(await Promise.all(queries)).toEqual(Array.from({ length: 20 }, (_each, index) => [{ n: index, rows: 0 }]));
  await Promise.all(inserts);
  expect(await clickhouse.query("SELECT count() AS rows FROM every_type")).toEqual([{ rows: "5000" }]);
});

test("a ClickHouse that is away, or lets go in the middle, is unavailable rather than refusing", async () => {
  const rude = createServer((socket) => socket.on("data", () => socket.destroy()));
  await new Promise<void>((resolve) => rude.listen(0, "127.0.0.1", resolve));
  const { port } = rude.address() as AddressInfo;
  const away = openClickHouse(`http://default:x@127.0.0.1:${port}/pharos`, makeLog("silent"));
  await expect(away.query("SELECT 1")).rejects.toBeInstanceOf(ClickHouseUnavailable);
  await expect(away.insert("t", [{ a: 1 }], {})).rejects.toBeInstanceOf(ClickHouseUnavailable);
  rude.close();
  await expect(away.ping()).rejects.toBeInstanceOf(ClickHouseUnavailable);
  await expect(away.command("SELECT 1")).rejects.toBeInstanceOf(ClickHouseUnavailable);
  await expect(away.killQueries(["x"])).rejects.toBeInstanceOf(ClickHouseUnavailable);
  await away.close();
});

test("a wrong password is refused", async () => {
  const url = new URL(fresh.url);
  url.password = "wrong";
  const wrong = openClickHouse(url.href, makeLog("silent"));
  await expect(wrong.query("SELECT 1")).rejects.toMatchObject({ code: "516", type: "AUTHENTICATION_FAILED" });
  await expect(wrong.insert("every_type", [{ u64: 1 }], {})).rejects.toMatchObject({ code: "516" });
  await wrong.close();
});

function addressOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `http://${host}/?database=${pathname.slice(1)}`;
}

function authorization(url: string): Record<string, string> {
  return { "X-ClickHouse-User": "default", "X-ClickHouse-Key": new URL(url).password };
}

test("rows are streamed as their bytes, and a query that fails amid them rejects without any", async () => {
  const bytes: Buffer[] = [];
  for await (const piece of clickhouse.stream("SELECT number + {from:UInt64} FROM numbers(100000)", { from: 7 })) bytes.push(Buffer.from(piece));
  const all = Buffer.concat(bytes);
  expect(all.byteLength).toBe(800_000);
  expect(all.readBigUInt64LE(0)).toBe(7n);
  expect(all.readBigUInt64LE(799_992)).toBe(100_006n);
  for await (const piece of clickhouse.stream("SELECT number FROM numbers(100000)")) if (piece.byteLength > 0) break;
  const failing = async (): Promise<number> => {
    let read = 0;
    for await (const piece of clickhouse.stream("SELECT throwIf(number = 900000) FROM numbers(1000000)")) read += piece.byteLength;
    return read;
  };
  await expect(failing()).rejects.toBeInstanceOf(ClickHouseError);
});
