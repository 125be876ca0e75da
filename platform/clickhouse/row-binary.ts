import { makeByteSink, writeByte, writeCount, writeText, writtenBytes, writtenCount, type ByteSink } from "./byte-sink.ts";
import { writerOf, type ColumnWriter } from "./column-writers.ts";

/** A column that rows may be inserted into. */
export interface TableColumn {
  name: string;
  /** As ClickHouse prints it. */
  type: string;
}

/** Rows as one body, with its head; still in the memory that they were written to, which may be used again. */
export interface WrittenRows {
  /** In the order in which the rows have them. */
  columns: string[];
  format: "RowBinaryWithNamesAndTypes" | "RowBinaryWithDefaults";
  body: Buffer[];
}

/** Rows of which some can be left out without being encoded again. Plain data: it may travel from a worker thread. */
export interface EncodedRows {
  /** In the order in which the rows have them. */
  columns: TableColumn[];
  /** RowBinary without a head. */
  body: Uint8Array[];
  /** Where each row ends, in bytes from the beginning of the body. */
  ends: Uint32Array;
}

/** The most bytes of a body, and where its memory is taken from and goes back to. */
interface BodyNeeds {
  limit: number;
  spare: Buffer[];
}

/**
 * Rows in ClickHouse's RowBinary. A row is a plain object, column → value: string, number, boolean, bigint, Date or text
 * for a moment (in UTC), null for a Nullable column, a list, an object for a map. The columns stand in the table's order, so the same rows give
 * the same bytes. Types go along: a table that has changed meanwhile refuses them. Null when the rows do not all have the same columns, or
 * one that the table has not. A value that does not fit is a `TypeError` with its column and row, more than `limit` bytes a `RangeError`.
 */
export function encodeRows(table: readonly TableColumn[], rows: readonly object[], { limit, spare }: BodyNeeds): WrittenRows | null {
  const first = rows[0] as Record<string, unknown>;
  const columns = table.filter(({ name }) => first[name] !== undefined);
  const sink = makeByteSink(limit, spare);
  writeCount(sink, columns.length);
  for (const { name } of columns) writeText(sink, name);
  for (const { type } of columns) writeText(sink, type);
  if (!writeRows(sink, columns, rows)) return null;
  return { columns: columns.map(({ name }) => name), format: "RowBinaryWithNamesAndTypes", body: writtenBytes(sink) };
}

/**
 * Rows that all have the columns of the first one, in RowBinary without a head. Null when one has other columns, or one
 * that the table has not; throws as `encodeRows`.
 */
export function encodeRowsApart(
  table: readonly TableColumn[],
  rows: readonly object[],
  { limit, spare }: BodyNeeds,
): EncodedRows | null {
  const first = rows[0] as Record<string, unknown>;
  const columns = table.filter(({ name }) => first[name] !== undefined);
  const sink = makeByteSink(limit, spare);
  const ends = new Uint32Array(rows.length);
  return writeRows(sink, columns, rows, ends) ? { columns, body: writtenBytes(sink), ends } : null;
}

/** The rows for which `isWanted` says true, given the row's number; the bytes are not copied. */
export function selectRows({ columns, body, ends }: EncodedRows, isWanted: (row: number) => boolean): EncodedRows {
  const kept: Uint8Array[] = [];
  const keptEnds: number[] = [];
  let chunk = 0;
  let chunkFrom = 0;
  let bytes = 0;
  for (let row = 0; row < ends.length; row++) {
    if (!isWanted(row)) continue;
    const to = ends[row]!;
    let from = row === 0 ? 0 : ends[row - 1]!;
    bytes += to - from;
    keptEnds.push(bytes);
    while (from < to) {
      while (from >= chunkFrom + body[chunk]!.byteLength) chunkFrom += body[chunk++]!.byteLength;
      const end = Math.min(to, chunkFrom + body[chunk]!.byteLength);
      kept.push(body[chunk]!.subarray(from - chunkFrom, end - chunkFrom));
      from = end;
    }
  }
  return { columns, body: kept, ends: Uint32Array.from(keptEnds) };
}

function writeRows(
  sink: ByteSink,
  columns: readonly TableColumn[],
  rows: readonly object[],
  ends?: Uint32Array,
): boolean {
  const names = columns.map(({ name }) => name);
  const writers = columns.map(writerFor);
  const { length } = names;
  let rowIndex = 0;
  let column = 0;
  try {
    for (; rowIndex < rows.length; rowIndex++) {
      const row = rows[rowIndex] as Record<string, unknown>;
      let count = 0;
      for (const _name in row) count++;
      if (count !== length) return false;
      for (column = 0; column < length; column++) {
        const value = row[names[column]!];
        if (value === undefined) return false;
        writers[column]!(sink, value);
      }
      if (ends) ends[rowIndex] = writtenCount(sink);
    }
    return true;
  } catch (error) {
    throw placed(error, names[column]!, rowIndex);
  }
}

/**
 * Rows that have not all the same columns: what one leaves out, or has as undefined, gets its default. The types do not go along, so `table` must be
 * what ClickHouse says right now. Throws as `encodeRows`, and a `TypeError` for a column that the table has not.
 */
export function encodeUnevenRows(table: readonly TableColumn[], rows: readonly object[], { limit, spare }: BodyNeeds): WrittenRows {
  const named = new Set(rows.flatMap((row) => Object.entries(row).flatMap(([name, value]) => (value === undefined ? [] : [name]))));
  const columns = table.filter(({ name }) => named.delete(name));
  if (named.size > 0) throw new TypeError(`the table has no column ${[...named].map((name) => `"${name}"`).join(", ")} to insert into`);
  const writers = columns.map(writerFor);
  const sink = makeByteSink(limit, spare);
  for (const [rowIndex, row] of rows.entries()) {
    for (const [index, { name }] of columns.entries()) {
      const value = (row as Record<string, unknown>)[name];
      writeByte(sink, value === undefined ? 1 : 0);
      try {
        if (value !== undefined) writers[index]!(sink, value);
      } catch (error) {
        throw placed(error, name, rowIndex);
      }
    }
  }
  return { columns: columns.map(({ name }) => name), format: "RowBinaryWithDefaults", body: writtenBytes(sink) };
}

function writerFor({ name, type }: TableColumn): ColumnWriter {
  try {
    return writerOf(type);
  } catch (error) {
    throw error instanceof TypeError ? new TypeError(`column "${name}": ${error.message}`, { cause: error }) : error;
  }
}

function placed(error: unknown, column: string, rowIndex: number): unknown {
  return error instanceof TypeError ? new TypeError(`column "${column}" of row ${rowIndex + 1}: ${error.message}`, { cause: error }) : error;
}
