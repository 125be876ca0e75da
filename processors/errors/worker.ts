import { rowsOfBody } from "../../domain/errors/rows-of-body.ts";
import { decodeFrame } from "../../platform/event-log/frame.ts";
import type { UnreadableEntry } from "../consume/dead-letter.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";

/** What a worker thread gets: whole frames as bytes, so that parsing and grouping never block the main thread. */
export interface RowsTask {
  logId: string;
  partition: number;
  records: { offset: bigint; value: Uint8Array }[];
}

export interface RowsResult {
  rows: BeaconEventRow[];
  unreadable: UnreadableEntry[];
}

/**
 * Parses, groups and shapes the events of frames into rows of `beacon_events`. An entry that cannot be read is told apart
 * from its neighbours, which may be of other organizations. Throws on a frame that cannot be read.
 */
export function rowsOfRecords({ logId, partition, records }: RowsTask): RowsResult {
  const unreadable: UnreadableEntry[] = [];
  const rows = records.flatMap(({ offset, value }) => {
    const { head, entries } = decodeFrame(value);
    let firstIndex = 0;
    return entries.flatMap((entry, entryIndex) => {
      const place = { logId, partition, offset, edgeId: head.edgeId, sequence: head.sequence, entryIndex, firstIndex };
      try {
        const rowsOfEntry = rowsOfBody({ body: entry.body, receivedAt: entry.receivedAt, organizationId: entry.organizationId, serviceId: entry.subjectId }, place);
        firstIndex += rowsOfEntry.length;
        return rowsOfEntry;
      } catch (error) {
        unreadable.push({ offset, entryIndex, reason: error instanceof Error ? error.message : String(error) });
        return [];
      }
    });
  });
  return { rows, unreadable };
}
