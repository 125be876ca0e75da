import { repeatBytes, reserve, writeByte, writeCount, writeInt32, writeInt64, writeText, type ByteSink } from "./byte-sink.ts";
import { parseDataType, type DataType } from "./data-type.ts";
import { momentIn } from "./moment-in.ts";

/** Writes one value as ClickHouse's RowBinary has it; a `TypeError` that says what was expected when the value does not fit. */
export type ColumnWriter = (sink: ByteSink, value: unknown) => void;

/** The writer of a column's type, for one sink: it remembers what it wrote there last. A `TypeError` for a type that it does not know. */
export function writerOf(typeText: string): ColumnWriter {
  return makeWriter(parseDataType(typeText));
}

function makeWriter({ name, args, text }: DataType): ColumnWriter {
  const integer = INTEGERS[name];
  if (integer) return integer;
  switch (name) {
    case "String": return repeating(writeString);
    case "UUID": return repeating(writeUuid);
    case "Bool": return writeBool;
    case "Float64": return writeFloat64;
    case "Date": return repeating(writeDate);
    case "DateTime": return repeating(writeDateTime);
    case "DateTime64": return repeating(makeDateTime64(Number(args[0]?.text), text));
    case "Enum8": return makeEnum8(args);
    // A dictionary is the table's matter; the value travels as its own type.
    case "LowCardinality": return makeWriter(args[0]!);
    case "Nullable": return makeNullable(makeWriter(args[0]!));
    case "Array": return makeArray(makeWriter(args[0]!));
    case "Map": return makeMap(makeWriter(args[0]!), makeWriter(args[1]!));
    default: throw new TypeError(`values of type ${text} cannot be inserted`);
  }
}

function wrong(expected: string, value: unknown): never {
  // The value itself may be what must not be logged.
  throw new TypeError(`${expected} was expected, but ${value === null ? "null" : typeof value} came that is none`);
}

/** Many columns have the same value row after row: what it was written as is copied. Only for what is written in one piece. */
function repeating(write: ColumnWriter): ColumnWriter {
  let last: unknown;
  let chunk: Buffer | undefined;
  let from = 0;
  let to = 0;
  return (sink, value) => {
    if (value === last && chunk) {
      repeatBytes(sink, chunk, from, to);
      return;
    }
    const { bytes, at } = sink;
    write(sink, value);
    last = value;
    // When the value opened a chunk, it stands at its beginning.
    chunk = sink.bytes;
    from = chunk === bytes ? at : 0;
    to = sink.at;
  };
}

function writeString(sink: ByteSink, value: unknown): void {
  if (typeof value === "string") writeText(sink, value);
  else if (typeof value === "number" || typeof value === "bigint") writeText(sink, String(value));
  else wrong("a text", value);
}

function writeBool(sink: ByteSink, value: unknown): void {
  if (typeof value !== "boolean" && value !== 0 && value !== 1) wrong("true or false", value);
  writeByte(sink, value ? 1 : 0);
}

/** 36 characters → two 64-bit halves, the lowest byte of each first. */
function writeUuid(sink: ByteSink, value: unknown): void {
  if (typeof value !== "string" || value.length !== 36) wrong("a UUID", value);
  reserve(sink, 16);
  const { bytes, at } = sink;
  // A digit that is none leaves a bit above the lowest four.
  let digits = 0;
  for (let index = 0; index < 16; index++) {
    const place = UUID_PLACES[index]!;
    const first = value.charCodeAt(place);
    const second = value.charCodeAt(place + 1);
    const high = HEX[first & 127]!;
    const low = HEX[second & 127]!;
    digits |= high | low | ((first | second) & ~127);
    bytes[at + (index ^ 7)] = (high << 4) | low;
  }
  if (digits > 15 || value[8] !== "-" || value[13] !== "-" || value[18] !== "-" || value[23] !== "-") wrong("a UUID", value);
  sink.at = at + 16;
}

const UUID_PLACES = new Uint8Array([0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]);
const HEX = new Uint8Array(128).fill(255);
for (let digit = 0; digit < 16; digit++) {
  const character = digit.toString(16);
  HEX[character.charCodeAt(0)] = digit;
  HEX[character.toUpperCase().charCodeAt(0)] = digit;
}

const INTEGERS: Record<string, ColumnWriter> = {
  UInt8: makeInteger(1, 0, 2 ** 8 - 1),
  UInt16: makeInteger(2, 0, 2 ** 16 - 1),
  UInt32: makeInteger(4, 0, 2 ** 32 - 1),
  Int8: makeInteger(1, -(2 ** 7), 2 ** 7 - 1),
  Int16: makeInteger(2, -(2 ** 15), 2 ** 15 - 1),
  Int32: makeInteger(4, -(2 ** 31), 2 ** 31 - 1),
  UInt64: makeInteger64(0n, 2n ** 64n - 1n),
  Int64: makeInteger64(-(2n ** 63n), 2n ** 63n - 1n),
};

function makeInteger(size: 1 | 2 | 4, from: number, to: number): ColumnWriter {
  return (sink, value) => {
    const number = typeof value === "number" ? value : wholeNumberOf(value);
    if (!Number.isInteger(number) || number < from || number > to) wrong(`a whole number from ${from} to ${to}`, value);
    reserve(sink, 4);
    const { bytes, at } = sink;
    for (let index = 0; index < size; index++) bytes[at + index] = number >>> (8 * index);
    sink.at = at + size;
  };
}

function makeInteger64(from: bigint, to: bigint): ColumnWriter {
  return (sink, value) => {
    const number = typeof value === "number" ? value : wholeNumberOf(value);
    if (Number.isSafeInteger(number) && (number >= 0 || from < 0n)) {
      writeInt64(sink, number);
      return;
    }
    const large = typeof value === "bigint" ? value : typeof value === "string" && /^-?\d+$/.test(value) ? BigInt(value) : null;
    if (large === null || large < from || large > to) wrong(`a whole number from ${from} to ${to}`, value);
    reserve(sink, 8);
    sink.at = sink.bytes.writeBigUInt64LE(BigInt.asUintN(64, large), sink.at);
  };
}

/** What a text, a bigint or a boolean says as a number, perhaps not exactly; NaN for anything else. */
function wholeNumberOf(value: unknown): number {
  if (typeof value === "string") return /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
  return typeof value === "bigint" || typeof value === "boolean" ? Number(value) : Number.NaN;
}

/** As ClickHouse answers with them. */
const UNUSUAL: Record<string, number> = { nan: Number.NaN, inf: Infinity, "-inf": -Infinity };

function writeFloat64(sink: ByteSink, value: unknown): void {
  const number = typeof value === "number" ? value : typeof value === "string" ? floatIn(value) : wrong("a number", value);
  reserve(sink, 8);
  sink.at = sink.bytes.writeDoubleLE(number, sink.at);
}

function floatIn(text: string): number {
  return UNUSUAL[text] ?? (/^-?\d[\d.]*(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : wrong("a number", text));
}

function momentOf(value: unknown): number {
  const moment = value instanceof Date ? value.getTime() : typeof value === "string" ? momentIn(value) : Number.NaN;
  return Number.isNaN(moment) ? wrong("a moment", value) : moment;
}

function writeDate(sink: ByteSink, value: unknown): void {
  const days = Math.floor(momentOf(value) / 86_400_000);
  if (days < 0 || days > 65_535) wrong("a day from 1970-01-01 to 2149-06-06", value);
  reserve(sink, 2);
  writeByte(sink, days);
  writeByte(sink, days >>> 8);
}

function writeDateTime(sink: ByteSink, value: unknown): void {
  const seconds = Math.floor(momentOf(value) / 1000);
  if (seconds < 0 || seconds >= 2 ** 32) wrong("a moment from 1970 to 2106-02-07", value);
  writeInt32(sink, seconds);
}

const EARLIEST = Date.UTC(1900, 0, 1);
const BEHIND_LATEST = Date.UTC(2300, 0, 1);

function makeDateTime64(precision: number, text: string): ColumnWriter {
  if (!(precision <= 3)) throw new TypeError(`values of type ${text} cannot be inserted: moments are exact to a millisecond`);
  const unit = 10 ** (3 - precision);
  return (sink, value) => {
    const moment = momentOf(value);
    if (moment < EARLIEST || moment >= BEHIND_LATEST) wrong("a moment from 1900 to 2299", value);
    writeInt64(sink, Math.floor(moment / unit));
  };
}

function makeEnum8(args: DataType[]): ColumnWriter {
  const codes = new Map(args.map(({ name, code }) => [name, code]));
  return (sink, value) => {
    const code = codes.get(value as string);
    if (code === undefined) wrong(`one of ${[...codes.keys()].join(", ")}`, value);
    writeByte(sink, code);
  };
}

function makeNullable(write: ColumnWriter): ColumnWriter {
  return (sink, value) => {
    writeByte(sink, value === null ? 1 : 0);
    if (value !== null) write(sink, value);
  };
}

function makeArray(write: ColumnWriter): ColumnWriter {
  return (sink, value) => {
    if (!Array.isArray(value)) wrong("a list", value);
    writeCount(sink, value.length);
    for (const each of value as unknown[]) write(sink, each);
  };
}

function makeMap(writeKey: ColumnWriter, writeValue: ColumnWriter): ColumnWriter {
  return (sink, value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) wrong("an object", value);
    const entries = value as Record<string, unknown>;
    const keys = Object.keys(entries);
    writeCount(sink, keys.length);
    for (const key of keys) {
      writeKey(sink, key);
      writeValue(sink, entries[key]);
    }
  };
}
