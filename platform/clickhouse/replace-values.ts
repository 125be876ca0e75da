import { makeByteSink, repeatBytes, writtenBytes, writtenCount, type ByteSink } from "./byte-sink.ts";
import { writerOf, type ColumnWriter } from "./column-writers.ts";
import { endOfValue, knownType } from "./read-row.ts";
import type { EncodedRows, TableColumn } from "./row-binary.ts";

/** New values of one row, by column. */
export type ReplacedValues = Readonly<Record<string, unknown>>;

/**
 * Encoded rows of which some get other values; `replaced` holds those by the row's number. All bytes
 * are copied, so the given rows stay as they are. Throws a TypeError for a column that the rows lack,
 * for one that stands behind a column of a type that `endOfValue` does not know, and for a value that
 * does not fit.
 */
export function replaceValues(
  rows: EncodedRows,
  replaced: ReadonlyMap<number, ReplacedValues>,
): EncodedRows {
  const { columns, ends } = rows;
  const sink = makeByteSink(Number.POSITIVE_INFINITY, []);
  const newEnds = new Uint32Array(ends.length);
  const read = makeReader(rows.body);
  const writers = new Map<string, ColumnWriter>();
  for (let row = 0; row < ends.length; row++) {
    const pieces = read(ends[row]! - (row === 0 ? 0 : ends[row - 1]!));
    const values = replaced.get(row);
    if (values) writeChanged(sink, columns, { bytes: Buffer.concat(pieces), values, writers });
    else for (const piece of pieces) repeatBytes(sink, piece, 0, piece.length);
    newEnds[row] = writtenCount(sink);
  }
  return { columns, body: writtenBytes(sink), ends: newEnds };
}

/** Gives the next bytes of a body, in as many pieces as they stand in. */
function makeReader(body: readonly Uint8Array[]): (count: number) => Buffer[] {
  let chunk = 0;
  let at = 0;
  return (count) => {
    const pieces: Buffer[] = [];
    for (let left = count; left > 0; ) {
      while (at === body[chunk]!.byteLength) {
        chunk++;
        at = 0;
      }
      const { buffer, byteOffset, byteLength } = body[chunk]!;
      const taken = Math.min(left, byteLength - at);
      pieces.push(Buffer.from(buffer, byteOffset + at, taken));
      at += taken;
      left -= taken;
    }
    return pieces;
  };
}

interface ChangedRow {
  bytes: Buffer;
  values: ReplacedValues;
  /** By column. */
  writers: Map<string, ColumnWriter>;
}

/** Copies a row up to each of the columns, and writes the new value in place of the old one. */
function writeChanged(
  sink: ByteSink,
  columns: readonly TableColumn[],
  { bytes, values, writers }: ChangedRow,
): void {
  let left = Object.keys(values).length;
  let copied = 0;
  let at = 0;
  for (const { name, type } of columns) {
    if (left === 0) break;
    const end = endOfValue(knownType(type), bytes, at);
    if (Object.hasOwn(values, name)) {
      repeatBytes(sink, bytes, copied, at);
      const write = writers.get(name) ?? writerOf(type);
      writers.set(name, write);
      write(sink, values[name]);
      copied = end;
      left--;
    }
    at = end;
  }
  if (left > 0) throw new TypeError("a value was given for a column that the rows do not have");
  repeatBytes(sink, bytes, copied, bytes.length);
}
