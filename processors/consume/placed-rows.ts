import { decodeFrame, type FrameEntry } from "../../platform/event-log/frame.ts";
import type { LogRecord } from "../../platform/event-log/port.ts";
import type { CursorName } from "./cursor.ts";
import type { UnreadableEntry } from "./dead-letter.ts";
import type { PlacedRow } from "./range-rows.ts";

export interface RowPlace {
  logId: string;
  partition: number;
  offset: bigint;
  /** Of the row among all rows of its record. */
  index: number;
}

/**
 * Rows of records whose entries are cheap to read, on this thread. `rowsOf` gets the place of the entry's first row; an entry
 * that it throws on is told apart from its neighbours.
 */
export function placedRows<Row extends PlacedRow>(records: LogRecord[], { logId, partition }: CursorName, rowsOf: (place: RowPlace, entry: FrameEntry) => Row[]): { rows: Row[]; unreadable: UnreadableEntry[] } {
  const unreadable: UnreadableEntry[] = [];
  const rows = records.flatMap(({ offset, value }) => {
    let index = 0;
    return decodeFrame(value).entries.flatMap((entry, entryIndex) => {
      try {
        const rowsOfEntry = rowsOf({ logId, partition, offset, index }, entry);
        index += rowsOfEntry.length;
        return rowsOfEntry;
      } catch (error) {
        unreadable.push({ offset, entryIndex, reason: error instanceof Error ? error.message : String(error) });
        return [];
      }
    });
  });
  return { rows, unreadable };
}
