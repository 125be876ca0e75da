import { makeRowEncoder, type TableColumn } from "../../platform/clickhouse/row-binary.ts";
import type { FrameEntry } from "../../platform/event-log/frame.ts";
import type { Readings } from "./batch-consumer.ts";
import type { FreshSlice } from "./fresh-frames.ts";
import { placedRows, type EntryPlace } from "./placed-rows.ts";
import type { ComputedRows } from "./row-consumer.ts";
import type { PlacedRow } from "./row-places.ts";

interface HistoryNeeds<Row extends PlacedRow> {
  columns(): Promise<TableColumn[]>;
  /** As rows name it. */
  logId: string;
  rowsOf(place: EntryPlace, entry: FrameEntry): Row[];
}

/** One insert takes at most so many rows, and bytes. */
const MOST_ROWS = 50_000;
const MOST_BYTES = 48 * 1024 * 1024;

/** Rows that are cheap to compute, on this thread. */
export function historyRows<Row extends PlacedRow>({ columns, logId, rowsOf }: HistoryNeeds<Row>): (slices: readonly FreshSlice[], only: number | null) => Promise<ComputedRows<Row> & Readings> {
  const spare: Buffer[] = [];
  return async (slices, only) => {
    const { rows, unreadable } = placedRows(logId, slices, rowsOf, only);
    const encoder = makeRowEncoder(rows.length > 0 ? await columns() : [], { mostRows: MOST_ROWS, mostBytes: MOST_BYTES, spare });
    encoder.add(rows);
    return { rows, encoded: encoder.finish(), unreadable, count: rows.length };
  };
}
