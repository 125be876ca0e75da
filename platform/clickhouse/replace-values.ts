import { makeByteSink, repeatBytes, writtenBytes, writtenCount, type ByteSink } from "./byte-sink.ts";
import { writerOf, type ColumnWriter } from "./column-writers.ts";
import { parseDataType, type DataType } from "./data-type.ts";
import type { EncodedRows, TableColumn } from "./row-binary.ts";

/** New values of one row, by column. */
export type ReplacedValues = Readonly<Record<string, unknown>>;

/**
 * Encoded rows of which some get other values; `replaced` holds those by the row's number. All bytes
 * are copied, so the given rows stay as they are. Throws a TypeError for a column that the rows lack,
 * for one that stands behind a column of another type than texts, numbers and moments, and for a
 * value that does not fit.
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
    const end = endOfValue(typeOf(type), bytes, at);
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

const types = new Map<string, DataType>();

function typeOf(text: string): DataType {
  const known = types.get(text);
  if (known) return known;
  const type = parseDataType(text);
  types.set(text, type);
  return type;
}

/** In bytes. */
const WIDTHS: Readonly<Record<string, number>> = {
  UInt8: 1, Int8: 1, Bool: 1, Enum8: 1, UInt16: 2, Int16: 2, Date: 2,
  UInt32: 4, Int32: 4, DateTime: 4, UInt64: 8, Int64: 8, Float64: 8, DateTime64: 8, UUID: 16,
};

/** Where the value that begins at `at` ends. */
function endOfValue({ name, args, text }: DataType, bytes: Buffer, at: number): number {
  const width = WIDTHS[name];
  if (width !== undefined) return at + width;
  if (name === "LowCardinality") return endOfValue(args[0]!, bytes, at);
  if (name === "Nullable") return bytes[at] === 1 ? at + 1 : endOfValue(args[0]!, bytes, at + 1);
  if (name === "String") return endOfText(bytes, at);
  throw new TypeError(`values of type ${text} cannot be passed over`);
}

/** A text has its length in front, as an unsigned LEB128 number. */
function endOfText(bytes: Buffer, at: number): number {
  let length = 0;
  let factor = 1;
  for (let from = at; ; from++) {
    const byte = bytes[from]!;
    length += (byte & 127) * factor;
    factor *= 128;
    if (byte < 128) return from + 1 + length;
  }
}
