import { expect, test } from "vitest";
import { entryIndexOf, matchStanding, rowIndexOf, type PlacedRow } from "./row-places.ts";

const OFFSET = "7";

/** Rows of a record, from the number of rows of each entry. */
function rowsOf(entries: readonly number[], { partition = 0, offset = OFFSET } = {}): PlacedRow[] {
  return entries.flatMap((count, entry) =>
    Array.from({ length: count }, (_, position) => ({
      log_id: "log",
      partition,
      offset,
      index: rowIndexOf(entry, position),
    })),
  );
}

const at = (indexes: readonly number[], { partition = 0, offset = OFFSET } = {}) =>
  indexes.map((index) => ({ partition, offset, index }));
const numbersOf = (rows: readonly PlacedRow[], places: ReturnType<typeof at>) => {
  const { isStanding } = matchStanding(rows, places);
  return rows.flatMap((_row, number) => (isStanding(number) ? [number] : []));
};

/** Entries of a frame by their rows, indexes that stand, and the numbers of the rows that these are. */
const CASES: [string, number[], number[], number[]][] = [
  ["nothing stands", [2, 1], [], []],
  ["all of it, as this version places it", [2, 2], [0, 1, rowIndexOf(1, 0), rowIndexOf(1, 1)], [0, 1, 2, 3]],
  ["all of it, as version 0.1 placed it", [2, 2], [0, 1, 2, 3], [0, 1, 2, 3]],
  ["one entry is placed alike by both", [3], [0, 2], [0, 2]],
  ["the rows of the first entry are placed alike by both", [2, 2], [0, 1], [0, 1]],
  ["a part, as version 0.1 placed it", [2, 2], [1, 3], [1, 3]],
  ["a part, as this version places it", [2, 2], [1, rowIndexOf(1, 1)], [1, 3]],
  ["only rows behind the first entry, by version 0.1", [1, 3], [2, 3], [2, 3]],
  ["only rows behind the first entry, by this version", [1, 3], [rowIndexOf(1, 1)], [2]],
  ["a first entry without rows, by version 0.1", [0, 2, 1], [0, 2], [0, 2]],
  ["a first entry without rows, by this version", [0, 2, 1], [rowIndexOf(1, 0), rowIndexOf(2, 0)], [0, 2]],
  ["an entry without rows between others, by version 0.1", [1, 0, 2], [1, 2], [1, 2]],
  ["the row of an entry that is left out now", [2], [rowIndexOf(1, 0), 1], [1]],
  ["a part by version 0.1, the rest by this version", [1, 2], [0, 1, rowIndexOf(1, 1)], [0, 1, 2]],
  ["a part by version 0.1, then a part by this version", [2, 2, 2], [0, 3, rowIndexOf(2, 0)], [0, 3, 4]],
  ["an entry that is left out now, by this version", [1, 0, 2], [0, rowIndexOf(1, 0), rowIndexOf(2, 1)], [0, 2]],
  ["the only row of version 0.1 behind an entry without rows", [0, 1], [0], [0]],
];

test.each(CASES)("%s", (_name, entries, indexes, standing) => {
  expect(numbersOf(rowsOf(entries), at(indexes))).toEqual(standing);
});

test("each record is matched for itself", () => {
  const rows = [...rowsOf([1, 1]), ...rowsOf([1, 1], { offset: "8" }), ...rowsOf([1, 1], { partition: 1 })];
  const old = at([0, 1]);
  const own = at([rowIndexOf(1, 0)], { offset: "8" });
  expect(numbersOf(rows, [...old, ...own])).toEqual([0, 1, 3]);
  expect(matchStanding(rows, own).standing).toEqual([rows[3]]);
  expect(numbersOf(rows, at([0, 1], { offset: "9" }))).toEqual([]);
});

test("an index tells its entry, up to the most that a frame may hold", () => {
  for (const entry of [0, 1, 262_143]) {
    expect(entryIndexOf(rowIndexOf(entry, 0))).toBe(entry);
    expect(entryIndexOf(rowIndexOf(entry, 16_383))).toBe(entry);
  }
});
