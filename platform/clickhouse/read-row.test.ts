import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readRows } from "./read-row.ts";
import { encodePart } from "../../testing/encode-part.ts";

const COLUMNS = [
  { name: "log", type: "LowCardinality(String)" },
  { name: "small", type: "UInt16" },
  { name: "offset", type: "UInt64" },
  { name: "days", type: "Nullable(Int32)" },
  { name: "id", type: "UUID" },
  { name: "given", type: "Bool" },
  { name: "kind", type: "Enum8('error' = 1, 'vital' = 3)" },
  { name: "at", type: "DateTime64(3, 'UTC')" },
  { name: "maybe", type: "Nullable(String)" },
  { name: "tags", type: "Map(LowCardinality(String), String)" },
  { name: "value", type: "Float64" },
];

const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom(127, 128, 16_384).map((length) => "x".repeat(length)));
const row = fc.record({
  log: text,
  small: fc.nat({ max: 65_535 }),
  offset: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
  days: fc.option(fc.integer()),
  id: fc.uuid(),
  given: fc.boolean(),
  kind: fc.constantFrom("error", "vital"),
  at: fc.date({ min: new Date("2000-01-01"), max: new Date("2099-12-31"), noInvalidDate: true }).map((date) => date.toISOString().replace("T", " ").slice(0, -1)),
  maybe: fc.option(text),
  tags: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
  value: fc.double({ noNaN: true }),
});

test("rows are read as they were written, those that are wanted", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(row, fc.boolean()), { minLength: 1, maxLength: 6 }), (given) => {
      const encoded = encodePart(COLUMNS, given.map(([each]) => each));
      const wanted = given.flatMap(([each, isWanted]) => (isWanted ? [each] : []));
      expect(readRows(encoded, (number) => given[number]![1])).toEqual(wanted);
    }),
    { numRuns: 50 },
  );
});

test("a moment of another precision is refused, not misread", () => {
  const encoded = { columns: [{ name: "at", type: "DateTime64(6, 'UTC')" }], body: [Buffer.alloc(8)], ends: Uint32Array.of(8) };
  expect(() => readRows(encoded, () => true)).toThrow("DateTime64(6, 'UTC') cannot be read");
});
