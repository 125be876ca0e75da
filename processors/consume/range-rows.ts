import type { LogRecord } from "../../platform/event-log/port.ts";

/** Every row of a table that is filled from the log knows where it stood there; 64-bit numbers travel as text. */
export interface PlacedRow {
  log_id: string;
  partition: number;
  offset: string;
  index: number;
}

export function placeOf(row: PlacedRow): string {
  return `${row.offset}/${row.index}`;
}

/** Those of the rows that are wanted, of which `all` are the briefs. */
export function wholeOf<Row extends PlacedRow>(wanted: PlacedRow[], all: PlacedRow[], rows: Row[]): Row[] {
  if (wanted.length === all.length) return rows;
  const places = new Set(wanted.map(placeOf));
  return rows.filter((row) => places.has(placeOf(row)));
}

/** Whether a brief says the same as the row. */
export function isBriefOf<Brief extends PlacedRow>(brief: Brief, row: Brief): boolean {
  for (const name in brief) if (brief[name] !== row[name]) return false;
  return true;
}

/** What stands already and what is still missing, in the order of the log. */
export function together<Row extends PlacedRow>(standing: Row[], computed: Row[]): Row[] {
  if (standing.length === 0) return computed;
  const stand = new Set(standing.map(placeOf));
  return [...standing, ...computed.filter((row) => !stand.has(placeOf(row)))].sort(byPlace);
}

function byPlace(one: PlacedRow, other: PlacedRow): number {
  return Number(BigInt(one.offset) - BigInt(other.offset)) || one.index - other.index;
}

/** Cuts records into ranges. A record is never split; its events are counted from its head without reading it. */
export function chunks(records: readonly LogRecord[], limits: { events: number; bytes: number }): LogRecord[][] {
  const ranges: LogRecord[][] = [];
  let open: LogRecord[] = [];
  let events = 0;
  let bytes = 0;
  for (const record of records) {
    const entries = record.value.byteLength >= 8 ? record.value.readUInt32LE(4) : 1;
    if (open.length > 0 && (events + entries > limits.events || bytes + record.value.byteLength > limits.bytes)) {
      ranges.push(open);
      open = [];
      events = 0;
      bytes = 0;
    }
    open.push(record);
    events += entries;
    bytes += record.value.byteLength;
  }
  if (open.length > 0) ranges.push(open);
  return ranges;
}

/** Cuts rows into runs of at most so many rows and, by their texts, about so many bytes: always at the same places. */
export function partsOf<Row extends object>(rows: readonly Row[], most: { rows: number; bytes: number }): Row[][] {
  const parts: Row[][] = [];
  let bytes = Infinity;
  for (const row of rows) {
    const size = textBytes(row);
    if (bytes + size > most.bytes || parts.at(-1)!.length >= most.rows) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(row);
    bytes += size;
  }
  return parts;
}

function textBytes(row: object): number {
  let bytes = 0;
  for (const value of Object.values(row) as unknown[]) bytes += typeof value === "string" ? Buffer.byteLength(value) : typeof value === "object" && value !== null ? Buffer.byteLength(JSON.stringify(value)) : 8;
  return bytes;
}
