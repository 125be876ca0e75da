import { decodeFrame, decodeHead, type FrameEntry, type FrameHead } from "../../platform/event-log/frame.ts";
import type { LogRecord } from "../../platform/event-log/port.ts";
import { isReplayForAnother } from "../../platform/event-log/replay-id.ts";

/** An entry with its place in the log: offset of its frame, and its number among the entries of the frame. */
export interface PlacedEntry {
  offset: bigint;
  entryIndex: number;
  head: FrameHead;
  entry: FrameEntry;
}

export interface FreshFrames {
  fresh: LogRecord[];
  /** Numbers of the last frames, of the edges that these records came from. */
  sequences: Map<string, bigint>;
  /** Records that are no frames; they go to the dead-letter topic. */
  broken: { record: LogRecord; reason: string }[];
}

/**
 * Pure: drops every frame that was counted before. An edge resends a frame under its number when it got no
 * answer, so a number at or below the last one counted is a second copy. A dead letter that was put back for another
 * group was counted by this one before.
 */
export function freshFrames(records: readonly LogRecord[], counted: ReadonlyMap<string, bigint>, group: string): FreshFrames {
  const sequences = new Map<string, bigint>();
  const fresh: LogRecord[] = [];
  const broken: FreshFrames["broken"] = [];
  for (const record of records) {
    let head: FrameHead;
    try {
      head = decodeHead(record.value);
    } catch (error) {
      broken.push({ record, reason: error instanceof Error ? error.message : String(error) });
      continue;
    }
    const last = sequences.get(head.edgeId) ?? counted.get(head.edgeId) ?? 0n;
    if (head.sequence <= last || isReplayForAnother(head.edgeId, group)) continue;
    sequences.set(head.edgeId, head.sequence);
    fresh.push(record);
  }
  return { fresh, sequences, broken };
}

/** The entries of frames with their places; throws on a frame that is cut short. */
export function placedEntries(records: readonly LogRecord[]): PlacedEntry[] {
  return records.flatMap(({ offset, value }) => {
    const { head, entries } = decodeFrame(value);
    return entries.map((entry, entryIndex) => ({ offset, entryIndex, head, entry }));
  });
}
