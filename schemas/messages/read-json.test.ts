import { expect, test } from "vitest";
import { isDeeperThan, readJson } from "./read-json.ts";

test("a byte order mark is no part of the JSON", () => {
  expect(readJson(Buffer.from('\ufeff{"a":1}'))).toEqual({ a: 1 });
});

test("bytes that are no UTF-8 are refused, also inside a text", () => {
  expect(() => readJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow(TypeError);
});

test.each([
  [1, 0, false],
  [[], 0, true],
  [[[]], 2, false],
  [{ a: [{ b: 1 }] }, 3, false],
  [{ a: [{ b: [] }] }, 3, true],
])("%j is deeper than %i levels: %s", (value, levels, deeper) => {
  expect(isDeeperThan(value, levels)).toBe(deeper);
});

test("nesting without end is judged without falling over it", () => {
  expect(isDeeperThan(JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`), 16)).toBe(true);
});
