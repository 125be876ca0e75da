import { expect, test } from "vitest";
import { isBriefOf, partsOf, type PlacedRow } from "./range-rows.ts";

test("rows are cut by number and by bytes, and one that is too large stands alone", () => {
  const row = (bytes: number) => ({ text: "x".repeat(bytes) });
  const sizes = (rows: object[], most: { rows: number; bytes: number }) => partsOf(rows, most).map((part) => part.length);
  expect(sizes(Array.from({ length: 7 }, () => row(1)), { rows: 3, bytes: 1_000 })).toEqual([3, 3, 1]);
  expect(sizes([row(400), row(400), row(400), row(2_000), row(10)], { rows: 100, bytes: 1_000 })).toEqual([2, 1, 1, 1]);
  expect(partsOf([], { rows: 1, bytes: 1 })).toEqual([]);
});

test("a brief of a row says the same in each of its columns", () => {
  const row: PlacedRow = Object.assign({ log_id: "a", partition: 0, offset: "1", index: 0 }, { more: 1 });
  expect([isBriefOf({ log_id: "a", partition: 0, offset: "1", index: 0 }, row), isBriefOf({ log_id: "a", partition: 0, offset: "1", index: 1 }, row)]).toEqual([true, false]);
});
