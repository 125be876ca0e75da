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
  const columns = columnsIn(table, rows[0]!);
  const writeRow = makeRowWriter(columns);
  const sink = makeByteSink(limit, spare);
  writeCount(sink, columns.length);
  for (const { name } of columns) writeText(sink, name);
  for (const { type } of columns) writeText(sink, type);
  for (const [rowIndex, row] of rows.entries()) if (!writeRow(sink, row, rowIndex)) return null;
  return { columns: columns.map(({ name }) => name), format: "RowBinaryWithNamesAndTypes", body: writtenBytes(sink) };
}

/** Encodes rows as they come, so that they need not all be in memory at the same time. */
export interface RowEncoder {
  /** Throws as `encodeRows`, and a `TypeError` for a row whose columns are not those of the first one. */
  add(rows: readonly object[]): void;
  /** Returns all rows, in as many parts as inserts take; none without rows. Nothing may be added after this. */
  finish(): EncodedRows[];
}

/** What one part holds at most, and where its memory is taken from. */
interface PartNeeds {
  mostRows: number;
  /** A part is closed by the row that reaches this, so it may be larger by that row. */
  mostBytes: number;
  spare: Buffer[];
}

/** A part that is being filled. */
interface OpenPart {
  columns: TableColumn[];
  writeRow: RowWriter;
  sink: ByteSink;
  ends: number[];
}

/** Makes an encoder of RowBinary without a head. All rows of a part have the columns of its first one. */
export function makeRowEncoder(table: readonly TableColumn[], { mostRows, mostBytes, spare }: PartNeeds): RowEncoder {
  const parts: EncodedRows[] = [];
  let open: OpenPart | null = null;

  function openPart(first: object): OpenPart {
    const columns = columnsIn(table, first);
    return { columns, writeRow: makeRowWriter(columns), sink: makeByteSink(Infinity, spare), ends: [] };
  }

  function close({ columns, sink, ends }: OpenPart): void {
    parts.push({ columns, body: writtenBytes(sink), ends: Uint32Array.from(ends) });
    open = null;
  }

  return {
    add(rows) {
      for (const row of rows) {
        const part: OpenPart = (open ??= openPart(row));
        if (!part.writeRow(part.sink, row, part.ends.length)) throw new TypeError("the rows do not have the columns of their table");
        part.ends.push(writtenCount(part.sink));
        if (part.ends.length >= mostRows || writtenCount(part.sink) >= mostBytes) close(part);
      }
    },
    finish() {
      if (open) close(open);
      return parts;
    },
  };
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

/** Writes a row; false, and a part of it written, when it has other columns. `rowIndex` is for the error's sentence. */
type RowWriter = (sink: ByteSink, row: object, rowIndex: number) => boolean;

function makeRowWriter(columns: readonly TableColumn[]): RowWriter {
  const names = columns.map(({ name }) => name);
  const writers = columns.map(writerFor);
  const { length } = names;
  return (sink, row, rowIndex) => {
    let count = 0;
    for (const _name in row) count++;
    if (count !== length) return false;
    let column = 0;
    try {
      for (; column < length; column++) {
        const value = (row as Record<string, unknown>)[names[column]!];
        if (value === undefined) return false;
        writers[column]!(sink, value);
      }
      return true;
    } catch (error) {
      throw placed(error, names[column]!, rowIndex);
    }
  };
}

/** Those of the table's columns that a row has. */
function columnsIn(table: readonly TableColumn[], row: object): TableColumn[] {
  return table.filter(({ name }) => (row as Record<string, unknown>)[name] !== undefined);
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
