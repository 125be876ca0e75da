import { rowsOfBody } from "../../domain/errors/rows-of-body.ts";
import { decodeFrame } from "../../platform/event-log/frame.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";

/** What a worker thread gets: whole frames as bytes, so that parsing and grouping never block the main thread. */
export interface RowsTask {
  logId: string;
  partition: number;
  records: { offset: bigint; value: Uint8Array }[];
}

/** Parses, groups and shapes the events of frames into rows of `beacon_events`. Throws on a frame that cannot be read. */
export function rowsOfRecords({ logId, partition, records }: RowsTask): BeaconEventRow[] {
  return records.flatMap(({ offset, value }) => {
    const { head, entries } = decodeFrame(value);
    let firstIndex = 0;
    return entries.flatMap((entry, entryIndex) => {
      const rows = rowsOfBody(
        { body: entry.body, receivedAt: entry.receivedAt, organizationId: entry.organizationId, serviceId: entry.subjectId },
        { logId, partition, offset, edgeId: head.edgeId, sequence: head.sequence, entryIndex, firstIndex },
      );
      firstIndex += rows.length;
      return rows;
    });
  });
}
