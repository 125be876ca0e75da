import { WHOLE_RECORD } from "../../domain/dead-letters/record-dead-letters.ts";
import { checkFrame, decodeFrame, NewerFrame, type FrameEntry, type FrameHead } from "../../platform/event-log/frame.ts";
import type { LogRecord } from "../../platform/event-log/port.ts";
import { isReplayForAnother } from "../../platform/event-log/replay-id.ts";

/** Records of one partition that a batch takes, and where its cursor stands before and after them. */
export interface Slice {
  partition: number;
  /** The first offset not yet taken; the first record lies higher when the log lost some. */
  from: bigint;
  to: bigint;
  /** The first offset that the log still has of them. */
  firstKept: bigint;
  records: readonly LogRecord[];
}

/** What a slice holds that was not counted before. */
export interface FreshSlice extends Slice {
  /** Numbers of the last frames of the edges that these records came from. */
  sequences: ReadonlyMap<string, bigint>;
  /** Records that are no frames; they become dead letters. */
  broken: { record: LogRecord; reason: string }[];
  /** Entries that are left out because they cannot be processed: by offset, then by number or
   * `WHOLE_RECORD`, with the reason. */
  left: LeftEntries;
  /** Rows of these offsets may stand in ClickHouse already. */
  replays: boolean;
}

export type LeftEntries = ReadonlyMap<bigint, ReadonlyMap<number, string>>;

/** An entry with its place in the log. */
export interface PlacedEntry {
  partition: number;
  offset: bigint;
  entryIndex: number;
  head: FrameHead;
  entry: FrameEntry;
}

interface FreshFrames {
  fresh: LogRecord[];
  sequences: Map<string, bigint>;
  broken: FreshSlice["broken"];
  /** How many of the records can be processed; those from here on need a newer version of Pharos. */
  readable: number;
  /** Why it is not all of them, else null. */
  newer: string | null;
}

/**
 * Drops every frame that was counted before. An edge resends a frame under its number when it got no answer, so a
 * number at or below the last one counted is a second copy. A dead letter that was put back for another group was
 * counted by this one before. Stops at a frame that a newer version wrote. Pure.
 */
export function freshFrames(
  records: readonly LogRecord[],
  lastCounted: (edgeId: string) => bigint | undefined,
  group: string,
): FreshFrames {
  const sequences = new Map<string, bigint>();
  const fresh: LogRecord[] = [];
  const broken: FreshSlice["broken"] = [];
  for (const [at, record] of records.entries()) {
    let head: FrameHead;
    try {
      head = checkFrame(record.value);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof NewerFrame) return { fresh, sequences, broken, readable: at, newer: reason };
      broken.push({ record, reason });
      continue;
    }
    const last = sequences.get(head.edgeId) ?? lastCounted(head.edgeId) ?? 0n;
    if (head.sequence <= last || isReplayForAnother(head.edgeId, group)) continue;
    sequences.set(head.edgeId, head.sequence);
    fresh.push(record);
  }
  return { fresh, sequences, broken, readable: records.length, newer: null };
}

/** Whether an entry is left out, by itself or with its whole record. */
export function isLeftOut(left: LeftEntries, offset: bigint, entryIndex: number): boolean {
  const entries = left.get(offset);
  return entries !== undefined && (entries.has(entryIndex) || entries.has(WHOLE_RECORD));
}

/** The entries of frames with their places, without those that are left out. */
export function placedEntries(slices: readonly FreshSlice[], only: number | null): PlacedEntry[] {
  const placed: PlacedEntry[] = [];
  for (const { partition, records, left } of slices) {
    for (const { offset, value } of records) {
      const { head, entries } = decodeFrame(value);
      for (const [entryIndex, entry] of entries.entries()) {
        if ((only !== null && only !== entryIndex) || isLeftOut(left, offset, entryIndex)) continue;
        placed.push({ partition, offset, entryIndex, head, entry });
      }
    }
  }
  return placed;
}
