import { decodeFrame, type FrameEntry } from "../../platform/event-log/frame.ts";
import type { UnreadableEntry } from "./dead-letter.ts";
import { isLeftOut, type FreshSlice } from "./fresh-frames.ts";
import { rowIndexOf, type PlacedRow } from "./row-places.ts";

/** Where the rows of one entry begin. */
export interface EntryPlace {
  logId: string;
  partition: number;
  offset: bigint;
  /** Of the entry's first row; those of its other rows follow. */
  firstIndex: number;
}

/**
 * Rows of records whose entries are cheap to read, on this thread. An entry that `rowsOf` throws on is told apart from
 * its neighbours. `only`, an entry's number, leaves out all others.
 */
export function placedRows<Row extends PlacedRow>(
  logId: string,
  slices: readonly FreshSlice[],
  rowsOf: (place: EntryPlace, entry: FrameEntry) => Row[],
  only: number | null,
): { rows: Row[]; unreadable: UnreadableEntry[] } {
  const rows: Row[] = [];
  const unreadable: UnreadableEntry[] = [];
  for (const { partition, records, left } of slices) {
    for (const { offset, value } of records) {
      for (const [entryIndex, entry] of decodeFrame(value).entries.entries()) {
        if ((only !== null && only !== entryIndex) || isLeftOut(left, offset, entryIndex)) continue;
        try {
          rows.push(...rowsOf({ logId, partition, offset, firstIndex: rowIndexOf(entryIndex, 0) }, entry));
        } catch (error) {
          unreadable.push({ partition, offset, entryIndex, reason: error instanceof Error ? error.message : String(error) });
        }
      }
    }
  }
  return { rows, unreadable };
}
