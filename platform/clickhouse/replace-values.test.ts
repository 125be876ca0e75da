import { hash } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { replaceValues, type ReplacedValues } from "./replace-values.ts";
import { encodePart } from "../../testing/encode-part.ts";
import type { EncodedRows } from "./row-binary.ts";

const COLUMNS = [
  { name: "log", type: "LowCardinality(String)" },
  { name: "offset", type: "UInt64" },
  { name: "id", type: "UUID" },
  { name: "given", type: "Bool" },
  { name: "kind", type: "Enum8('error' = 1, 'vital' = 3)" },
  { name: "at", type: "DateTime64(3, 'UTC')" },
  { name: "maybe", type: "Nullable(String)" },
  { name: "user", type: "String" },
  { name: "environment", type: "LowCardinality(String)" },
  { name: "tags", type: "Map(LowCardinality(String), String)" },
];

const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(127, 128, 16_384, 600_000).map((length) => "x".repeat(length)));
const row = fc.record({
  log: text,
  offset: fc.nat().map(String),
  id: fc.uuid(),
  given: fc.boolean(),
  kind: fc.constantFrom("error", "vital"),
  at: fc.constant("2026-01-31 12:00:00.250"),
  maybe: fc.option(text),
  user: text,
  environment: text,
  tags: fc.dictionary(text, text, { maxKeys: 2, noNullPrototype: true }),
});

function encode(rows: object[]): EncodedRows {
  return encodePart(COLUMNS, rows);
}

const bytesOf = ({ body, ends }: EncodedRows) => ({ bytes: hash("sha256", Buffer.concat(body)), ends: [...ends] });

test("rows with other values have the bytes that they would have been encoded to", () => {
  const changes = fc.option(fc.record({ id: fc.uuid(), environment: text }, { requiredKeys: [] }));
  fc.assert(
    fc.property(fc.array(fc.tuple(row, changes), { minLength: 1, maxLength: 6 }), (given) => {
      const encoded = encode(given.map(([each]) => each));
      const before = bytesOf(encoded);
      const replaced = new Map(given.flatMap(([, values], number): [number, ReplacedValues][] => (values ? [[number, values]] : [])));
      const wanted = encode(given.map(([each, values]) => ({ ...each, ...values })));
      expect(bytesOf(replaceValues(encoded, replaced))).toEqual(bytesOf(wanted));
      expect(bytesOf(encoded)).toEqual(before);
    }),
    { numRuns: 30 },
  );
});

test("a column that the rows lack is refused", () => {
  const [one] = fc.sample(row, 1);
  expect(() => replaceValues(encode([one!]), new Map([[0, { nowhere: "x" }]]))).toThrow(TypeError);
});
