import { ClickHouseError } from "@clickhouse/client";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import type { ClickHouse } from "./port.ts";
import { keepSpare } from "./byte-sink.ts";
import { encodeRows, makeRowEncoder } from "./row-binary.ts";

let fresh: Awaited<ReturnType<typeof freshClickHouse>>;
let clickhouse: ClickHouse;
beforeAll(async () => {
  fresh = await freshClickHouse();
  clickhouse = fresh.clickhouse;
  await clickhouse.command(`CREATE TABLE every_type (
    run UInt32, position UInt32, u8 UInt8, u16 UInt16, u32 UInt32, u64 UInt64, i8 Int8, i16 Int16, i32 Int32, i64 Int64, f Float64, text String, low LowCardinality(String), few LowCardinality(Nullable(String)), id UUID, yes Bool,
    kind Enum8('it''s' = -128, 'tab\t' = 0, 'é, (b)' = 127), at DateTime64(3, 'UTC'), tenths DateTime64(1), second DateTime('UTC'), day Date, maybe Nullable(Int32), some Nullable(DateTime64(3, 'UTC')),
    tags Map(LowCardinality(String), String), list Array(String), lists Array(Array(Nullable(UInt16))), defaulted UInt8 DEFAULT 7, doubled UInt64 MATERIALIZED u64 * 2, other String ALIAS text
  ) ENGINE = MergeTree ORDER BY (run, position)`);
});
afterAll(() => fresh.drop());

/** Any text, some longer than what is written by hand, some above 127 and 16,383 bytes; no halves of surrogate pairs, which do not come back. */
const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme-ascii", maxLength: 60 }), fc.tuple(fc.string({ unit: "grapheme", minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 9_000 })).map(([part, times]) => part.repeat(times)));
const moment = fc.date({ min: new Date("1900-01-01T00:00:00.000Z"), max: new Date("2299-12-31T23:59:59.999Z"), noInvalidDate: true }).map((date) => date.toISOString().slice(0, 23).replace("T", " "));
const integer = (bits: number): fc.Arbitrary<number> => fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 });
const natural = (bits: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: 2 ** bits - 1 });

const row = fc.record(
  {
    u8: natural(8), u16: natural(16), u32: natural(32), i8: integer(8), i16: integer(16), i32: integer(32),
    u64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
    i64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    f: fc.double({ noDefaultInfinity: true, noNaN: true }).map((value) => value + 0),
    text, low: text, few: fc.option(text), id: fc.uuid(), yes: fc.boolean(),
    kind: fc.constantFrom("it's", "tab\t", "é, (b)"),
    at: moment,
    tenths: moment.map((value) => value.slice(0, 21)),
    second: fc.integer({ min: 0, max: 2 ** 32 - 1 }).map((seconds) => new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")),
    day: fc.integer({ min: 0, max: 65_535 }).map((days) => new Date(days * 86_400_000).toISOString().slice(0, 10)),
    maybe: fc.option(integer(32)), some: fc.option(moment),
    tags: fc.dictionary(text, text, { maxKeys: 5, noNullPrototype: true }),
    list: fc.array(text, { maxLength: 3 }),
    lists: fc.array(fc.array(fc.option(natural(16)), { maxLength: 4 }), { maxLength: 3 }),
    defaulted: natural(8),
  },
);

/** Not of an enumeration: ClickHouse has another one for a column that all rows leave out than for one that some do. */
const DEFAULTS = { u64: "0", text: "", few: null, maybe: null, tags: {}, lists: [], defaulted: 7 };

test("rows come back as they went in", { timeout: 90_000 }, async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 40 }), async (rows) => {
      run++;
      await clickhouse.insert("every_type", rows.map((each, position) => ({ ...each, position, run })), {});
      expect(await clickhouse.query("SELECT * EXCEPT (run, position) FROM every_type WHERE run = {run:UInt32} ORDER BY position", { run })).toEqual(rows);
    }),
    { numRuns: 15 },
  );
});

test("what some rows leave out gets its default", { timeout: 90_000 }, async () => {
  const names = Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[];
  let run = 1_000_000;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(row, fc.subarray(names), fc.boolean()), { minLength: 2, maxLength: 20 }), async (drawn) => {
      run++;
      const given = drawn.map(([full, without, asUndefined], position) => {
        const entries = Object.entries(full).map(([name, value]): [string, unknown] => [name, without.some((each) => each === name) ? undefined : value]);
        return { run, position, ...Object.fromEntries(entries.filter(([, value]) => asUndefined || value !== undefined)) };
      });
      await clickhouse.insert("every_type", given, {});
      const expected = drawn.map(([full, without]) => ({ ...full, ...Object.fromEntries(without.map((name) => [name, DEFAULTS[name]])) }));
      expect(await clickhouse.query("SELECT * EXCEPT (run, position) FROM every_type WHERE run = {run:UInt32} ORDER BY position", { run })).toEqual(expected);
    }),
    { numRuns: 10 },
  );
});

test.each([
  ["u8", 256], ["u8", -1], ["u8", 1.5], ["u8", Number.NaN], ["u16", "x"], ["u16", null], ["u32", 2 ** 32], ["u64", -1], ["u64", "18446744073709551616"], ["u64", "-1"], ["u64", 2 ** 53], ["u64", "1e3"], ["i64", -(2n ** 63n) - 1n], ["i8", 128], ["i32", "2147483648"],
  ["f", "one"], ["f", null], ["f", {}], ["text", null], ["text", {}], ["text", true], ["low", null], ["id", "5f9e1d0a-2b1f-4b53-9f0b-6f6b2ad7c11"], ["id", "5f9e1d0a-2b1f-4b53-9f0b-6f6b2ad7c11g"], ["id", "5f9e1d0a-2b1f-4b53-9f0b-6f6b2ad7c11\u0131"], ["id", "5f9e1d0a02b1f-4b53-9f0b-6f6b2ad7c111"],
  ["yes", "true"], ["yes", 2], ["kind", "unheard of"], ["kind", ""], ["at", "yesterday"], ["at", "1899-12-31 00:00:00"], ["at", 5], ["at", new Date(Number.NaN)], ["second", "1969-12-31 23:59:59"], ["second", "2106-02-08 00:00:00"], ["day", "2149-06-07"], ["maybe", "x"], ["tags", []], ["tags", null], ["tags", { a: null }], ["list", "x"], ["list", [null]], ["lists", [[70_000]]],
])("a wrong %s is named, with its row, and nothing is sent (%s)", async (column, value) => {
  const right = { run: 2_000_000, position: 1, [column]: column === "tags" ? {} : ["list", "lists"].includes(column) ? [] : DEFAULT_OF[column] };
  for (const rows of [[right, { ...right, [column]: value }], [right, { ...right, text: "uneven", low: "", [column]: value }]]) {
    await expect(clickhouse.insert("every_type", rows, {})).rejects.toThrow(new RegExp(`^column "${column}" of row 2: .* expected`));
  }
  expect(await clickhouse.query("SELECT count() AS rows FROM every_type WHERE run = 2000000")).toEqual([{ rows: "0" }]);
});

const DEFAULT_OF: Record<string, unknown> = { f: 0, text: "", low: "", id: "5f9e1d0a-2b1f-4b53-9f0b-6f6b2ad7c111", yes: false, kind: "it's", at: "2026-01-01 00:00:00", second: "2026-01-01 00:00:00", day: "2026-01-01", maybe: null, u8: 0, u16: 0, u32: 0, u64: 0, i8: 0, i32: 0, i64: 0 };

test("columns that a table has not, or that it fills itself, are named", async () => {
  for (const name of ["nope", "doubled", "other"]) await expect(clickhouse.insert("every_type", [{ run: 1, [name]: 1 }], {})).rejects.toThrow(`the table has no column "${name}"`);
  await clickhouse.command("CREATE TABLE sums (a UInt8, s AggregateFunction(sum, UInt64), fine DateTime64(9)) ENGINE = MergeTree ORDER BY a");
  await expect(clickhouse.insert("sums", [{ a: 1, s: 1 }], {})).rejects.toThrow('column "s": values of type AggregateFunction(sum, UInt64) cannot be inserted');
  await expect(clickhouse.insert("sums", [{ fine: new Date() }], {})).rejects.toThrow('column "fine": values of type DateTime64(9) cannot be inserted');
  await clickhouse.insert("sums", [{ a: 1 }], {});
});

test("a table that changes between two inserts never takes a value for another", async () => {
  await clickhouse.command("CREATE TABLE changing (a UInt32, b String, c Enum8('one' = 1)) ENGINE = MergeTree ORDER BY tuple()");
  const given = { a: 1, b: "2", c: "one" };
  await clickhouse.insert("changing", [given], {});
  await clickhouse.command("ALTER TABLE changing ADD COLUMN d String DEFAULT 'new' AFTER a");
  await clickhouse.insert("changing", [given], {});
  await clickhouse.insert("changing", [{ ...given, d: "given" }], {});
  await clickhouse.command("ALTER TABLE changing MODIFY COLUMN a UInt64");
  // What we took for the table's types is refused; whoever repeats it asks for them first.
  await expect(clickhouse.insert("changing", [given], {})).rejects.toBeInstanceOf(ClickHouseError);
  await clickhouse.insert("changing", [{ ...given, a: "5000000000" }], {});
  await clickhouse.command("ALTER TABLE changing MODIFY COLUMN c Enum8('one' = 1, 'two' = 2)");
  await expect(clickhouse.insert("changing", [{ ...given, c: "two" }], {})).rejects.toThrow('column "c" of row 1');
  await clickhouse.insert("changing", [{ ...given, c: "two" }], {});
  expect(await clickhouse.query("SELECT a, b, c, d FROM changing ORDER BY a, c, d")).toEqual([
    { a: "1", b: "2", c: "one", d: "given" },
    { a: "1", b: "2", c: "one", d: "new" },
    { a: "1", b: "2", c: "one", d: "new" },
    { a: "1", b: "2", c: "two", d: "new" },
    { a: "5000000000", b: "2", c: "one", d: "new" },
  ]);
});

test("the same rows give the same bytes, whatever the order of their columns", () => {
  const table = [{ name: "a", type: "UInt64" }, { name: "b", type: "String" }, { name: "c", type: "Map(String, String)" }];
  const bodies = { limit: 1_000, spare: [] };
  const one = encodeRows(table, [{ a: "1", b: "x", c: { k: "v" } }], bodies)!;
  const other = encodeRows(table, [{ c: { k: "v" }, b: "x", a: 1n }], bodies)!;
  expect(other).toEqual(one);
  expect(one.columns).toEqual(["a", "b", "c"]);
  expect(encodeRows(table, [{ a: 1 }, { a: 1, b: "" }], bodies)).toBeNull();
  expect(encodeRows(table, [{ a: 1, d: 1 }], bodies)).toBeNull();
  expect(() => encodeRows(table, [{ b: "x".repeat(1_000) }], bodies)).toThrow(RangeError);
});

test("rows that come one after another are cut into parts by their number and their bytes", () => {
  const table = [{ name: "n", type: "UInt8" }, { name: "t", type: "String" }];
  const partsOf = (needs: { mostRows: number; mostBytes: number }, texts: string[][]): [number[], string][] => {
    const encoder = makeRowEncoder(table, { ...needs, spare: [] });
    for (const some of texts) encoder.add(some.map((t) => ({ n: t.length, t })));
    return encoder.finish().map(({ ends, body }) => [[...ends], Buffer.concat(body).toString("latin1")]);
  };
  expect(partsOf({ mostRows: 9, mostBytes: 9_000 }, [])).toEqual([]);
  expect(partsOf({ mostRows: 9, mostBytes: 9_000 }, [[], ["a"], ["", "bc"]])).toEqual([[[3, 5, 9], "\x01\x01a\0\0\x02\x02bc"]]);
  expect(partsOf({ mostRows: 2, mostBytes: 9_000 }, [["a"], ["b", "c", "d"]])).toEqual([[[3, 6], "\x01\x01a\x01\x01b"], [[3, 6], "\x01\x01c\x01\x01d"]]);
  expect(partsOf({ mostRows: 9, mostBytes: 5 }, [["a", "b", "c"]])).toEqual([[[3, 6], "\x01\x01a\x01\x01b"], [[3], "\x01\x01c"]]);
  const encoder = makeRowEncoder(table, { mostRows: 9, mostBytes: 9_000, spare: [] });
  encoder.add([{ n: 1 }]);
  expect(() => encoder.add([{ n: 1, t: "" }])).toThrow(TypeError);
  expect(() => encoder.add([{ t: "" }])).toThrow(TypeError);
});

test("rows of many chunks are the rows one by one, whatever falls on the end of a chunk", { timeout: 90_000 }, () => {
  const types = { text: "String", id: "UUID", at: "DateTime64(3, 'UTC')", second: "DateTime('UTC')", day: "Date", u64: "UInt64", tags: "Map(String, String)" };
  const table = Object.entries(types).map(([name, type]) => ({ name, type }));
  const bodies = { limit: 64 * 1024 * 1024, spare: [] as Buffer[] };
  const encoded = (rows: object[]): Buffer => {
    const { body } = encodeRows(table, rows, bodies)!;
    const bytes = Buffer.concat(body);
    keepSpare(bodies.spare, body);
    return bytes;
  };
  const header = encoded([{ text: "", id: DEFAULT_OF.id, at: new Date(0), second: new Date(0), day: "1970-01-01", u64: 0, tags: {} }]).length - (1 + 16 + 8 + 4 + 2 + 8 + 1);
  for (let length = 0; length < 2; length++) {
    // Seven rows of each value, so that what is repeated stands in the chunk before now and then.
    const rows = Array.from({ length: 12_000 }, (_each, n) => {
      const group = Math.floor(n / 7);
      const at = new Date(1.7e12 + group * 86_400_123);
      return { text: "\u00e9".repeat(length), id: `5f9e1d0a-2b1f-4b53-9f0b-${String(group).padStart(12, "0")}`, at, second: at, day: at.toISOString().slice(0, 10), u64: n, tags: { a: "b" } };
    });
    const alone = rows.map((each) => encoded([each]).subarray(header));
    expect(encoded(rows).subarray(header).equals(Buffer.concat(alone))).toBe(true);
  }
});
