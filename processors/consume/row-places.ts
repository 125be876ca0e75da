/** Every row of a table that is filled from the log knows where it stood there; 64-bit numbers travel as text. */
export interface PlacedRow {
  log_id: string;
  partition: number;
  offset: string;
  index: number;
}

/** A place at which a row stands in ClickHouse. */
export type StandingPlace = Pick<PlacedRow, "partition" | "offset" | "index">;

/** A frame may hold 262,144 entries, and an entry give 16,384 rows: more than fit into a record of 8 MiB. */
const ROWS_OF_ENTRY_BITS = 14;

/**
 * The index of a row within its record, from the number of its entry in the frame and its own number among the rows of
 * the entry. It follows from the frame's bytes alone, whichever of the entries could be read.
 */
export function rowIndexOf(entryIndex: number, position: number): number {
  return ((entryIndex << ROWS_OF_ENTRY_BITS) | position) >>> 0;
}

/** Indexes that each entry has. */
export const ROWS_OF_ENTRY = 2 ** ROWS_OF_ENTRY_BITS;

/** The number of the entry in its frame, from a row's index. */
export function entryIndexOf(rowIndex: number): number {
  return rowIndex >>> ROWS_OF_ENTRY_BITS;
}

/** Of computed rows, by number: those that stand in ClickHouse already. */
export interface StandingMatch<Row> {
  isStanding: (rowNumber: number) => boolean;
  standing: Row[];
}

/**
 * Matches computed rows with the places at which rows stand. Version 0.1 counted the index over the whole record, from
 * 0 without holes: a record of which rows stand at such places is matched by that count. Pure.
 */
export function matchStanding<Row extends PlacedRow>(computed: readonly Row[], places: readonly StandingPlace[]): StandingMatch<Row> {
  if (places.length === 0) return { isStanding: () => false, standing: [] };
  const byRecord = new Map<string, Set<number>>();
  for (const { partition, offset, index } of places) {
    const key = `${partition}/${offset}`;
    const indexes = byRecord.get(key);
    if (indexes) indexes.add(index);
    else byRecord.set(key, new Set([index]));
  }
  const standing = new Set<number>();
  for (const { from, to, indexes } of recordsOf(computed, byRecord)) {
    for (const number of numbersOf(computed.slice(from, to), indexes)) standing.add(from + number);
  }
  return { isStanding: (number) => standing.has(number), standing: computed.filter((_row, number) => standing.has(number)) };
}

/** Runs of rows of one record of which something stands. */
function* recordsOf(rows: readonly PlacedRow[], byRecord: ReadonlyMap<string, Set<number>>): Generator<{ from: number; to: number; indexes: Set<number> }> {
  for (let from = 0; from < rows.length; ) {
    const { partition, offset } = rows[from]!;
    let to = from + 1;
    while (to < rows.length && rows[to]!.offset === offset && rows[to]!.partition === partition) to++;
    const indexes = byRecord.get(`${partition}/${offset}`);
    if (indexes) yield { from, to, indexes };
    from = to;
  }
}

/** The numbers, within their record, of those rows that stand at these indexes. */
function numbersOf(rows: readonly PlacedRow[], indexes: ReadonlySet<number>): number[] {
  const own = new Map(rows.map(({ index }, number) => [index, number]));
  const isDense = isAllDense(rows, indexes);
  // Rows of the first entry have one index in both forms. So beside them each low index is a count, also when this
  // version has inserted what version 0.1 had left out, and was stopped before it moved its cursor.
  const isLowCounted = rows[0]!.index < ROWS_OF_ENTRY;
  return [...indexes].flatMap((index) => {
    const isCount = isDense || (isLowCounted && index < ROWS_OF_ENTRY);
    return isCount ? (index < rows.length ? [index] : []) : (own.get(index) ?? []);
  });
}

/** Whether all rows that stand of a record stand where version 0.1 placed them, and not all where this one would. */
function isAllDense(rows: readonly PlacedRow[], indexes: ReadonlySet<number>): boolean {
  const own = new Set(rows.map(({ index }) => index));
  return [...indexes].some((index) => !own.has(index)) && [...indexes].every((index) => index < rows.length);
}
