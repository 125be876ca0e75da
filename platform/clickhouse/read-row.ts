import { parseDataType, type DataType } from "./data-type.ts";
import { selectRows, type EncodedRows } from "./row-binary.ts";

/**
 * The rows that `isWanted` asks for by their numbers, as objects in the form in which ClickHouse
 * writes them as JSON: 64-bit integers are texts, moments `YYYY-MM-DD HH:MM:SS.mmm`. Throws a
 * TypeError for a column of a type that is not known here.
 */
export function readRows(rows: EncodedRows, isWanted: (row: number) => boolean): Record<string, unknown>[] {
  const { columns, body, ends } = selectRows(rows, isWanted);
  const bytes = Buffer.concat(body);
  const types = columns.map(({ type }) => knownType(type));
  return Array.from(ends, (_end, row) => {
    let at = row === 0 ? 0 : ends[row - 1]!;
    const values: Record<string, unknown> = {};
    for (const [number, { name }] of columns.entries()) {
      const end = endOfValue(types[number]!, bytes, at);
      values[name] = valueOf(types[number]!, bytes, at, end);
      at = end;
    }
    return values;
  });
}

const known = new Map<string, DataType>();

/** `parseDataType`, once for each type. */
export function knownType(text: string): DataType {
  const before = known.get(text);
  if (before) return before;
  const type = parseDataType(text);
  known.set(text, type);
  return type;
}

/** In bytes. */
const WIDTHS: Readonly<Record<string, number>> = {
  UInt8: 1, Int8: 1, Bool: 1, Enum8: 1, UInt16: 2, Int16: 2, Date: 2,
  UInt32: 4, Int32: 4, DateTime: 4, UInt64: 8, Int64: 8, Float64: 8, DateTime64: 8, UUID: 16,
};

/** Where the value that begins at `at` ends. Throws a TypeError for a type that is not known here. */
export function endOfValue({ name, args, text }: DataType, bytes: Buffer, at: number): number {
  const width = WIDTHS[name];
  if (width !== undefined) return at + width;
  if (name === "LowCardinality") return endOfValue(args[0]!, bytes, at);
  if (name === "Nullable") return bytes[at] === 1 ? at + 1 : endOfValue(args[0]!, bytes, at + 1);
  if (name === "String") return startOfText(bytes, at) + countAt(bytes, at);
  if (name === "Map") return endOfMap(args, bytes, at);
  throw new TypeError(`values of type ${text} cannot be passed over`);
}

function endOfMap([key, value]: DataType[], bytes: Buffer, at: number): number {
  let end = startOfText(bytes, at);
  for (let left = countAt(bytes, at); left > 0; left--) end = endOfValue(value!, bytes, endOfValue(key!, bytes, end));
  return end;
}

/** The unsigned LEB128 number in front of a text or a map. */
function countAt(bytes: Buffer, at: number): number {
  let count = 0;
  let factor = 1;
  for (let from = at; ; from++) {
    const byte = bytes[from]!;
    count += (byte & 127) * factor;
    factor *= 128;
    if (byte < 128) return count;
  }
}

/** Where that number ends. */
function startOfText(bytes: Buffer, at: number): number {
  let from = at;
  while (bytes[from]! >= 128) from++;
  return from + 1;
}

function valueOf(type: DataType, bytes: Buffer, at: number, end: number): unknown {
  const { name, args } = type;
  if (name === "LowCardinality") return valueOf(args[0]!, bytes, at, end);
  if (name === "Nullable") return bytes[at] === 1 ? null : valueOf(args[0]!, bytes, at + 1, end);
  if (name === "Map") return mapOf(args, bytes, at);
  const read = READERS[name];
  if (!read) throw new TypeError(`values of type ${type.text} cannot be read`);
  return read(bytes, at, end, type);
}

const READERS: Readonly<Record<string, (bytes: Buffer, at: number, end: number, type: DataType) => unknown>> = {
  String: (bytes, at, end) => bytes.toString("utf8", startOfText(bytes, at), end),
  Bool: (bytes, at) => bytes[at] === 1,
  Enum8: (bytes, at, _end, { args }) => args.find(({ code }) => code === bytes.readInt8(at))?.name,
  UInt8: (bytes, at) => bytes[at],
  UInt16: (bytes, at) => bytes.readUInt16LE(at),
  UInt32: (bytes, at) => bytes.readUInt32LE(at),
  Int8: (bytes, at) => bytes.readInt8(at),
  Int16: (bytes, at) => bytes.readInt16LE(at),
  Int32: (bytes, at) => bytes.readInt32LE(at),
  UInt64: (bytes, at) => String(bytes.readBigUInt64LE(at)),
  Int64: (bytes, at) => String(bytes.readBigInt64LE(at)),
  Float64: (bytes, at) => bytes.readDoubleLE(at),
  UUID: uuidAt,
  DateTime64: momentAt,
};

/** Two 64-bit halves, the lowest byte of each first. */
function uuidAt(bytes: Buffer, at: number): string {
  const digits = Buffer.from(bytes.subarray(at, at + 16)).swap64().toString("hex");
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join("-");
}

function momentAt(bytes: Buffer, at: number, _end: number, { args, text }: DataType): string {
  if (args[0]?.text !== "3") throw new TypeError(`values of type ${text} cannot be read`);
  return new Date(Number(bytes.readBigInt64LE(at))).toISOString().replace("T", " ").slice(0, -1);
}

function mapOf([key, value]: DataType[], bytes: Buffer, at: number): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  let from = startOfText(bytes, at);
  for (let left = countAt(bytes, at); left > 0; left--) {
    const middle = endOfValue(key!, bytes, from);
    const end = endOfValue(value!, bytes, middle);
    entries.push([String(valueOf(key!, bytes, from, middle)), valueOf(value!, bytes, middle, end)]);
    from = end;
  }
  return Object.fromEntries(entries);
}
