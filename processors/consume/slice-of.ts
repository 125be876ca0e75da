import type { LogRecord } from "../../platform/event-log/port.ts";
import { freshFrames, type FreshSlice } from "./fresh-frames.ts";
import type { HeldPartition } from "./held-partition.ts";

/**
 * The part of a batch that records of one partition are, and notes that they were taken. Null when none of them can be
 * processed; `onNewer` hears why a record must wait for a newer version.
 */
export function sliceOf(held: HeldPartition, taken: readonly LogRecord[], group: string, onNewer: (reason: string) => void): FreshSlice | null {
  const { partition, read: from, left } = held;
  const records = taken.filter(({ offset }) => offset >= from);
  const { fresh, sequences, broken, readable, newer } = freshFrames(records, (edgeId) => held.taken.get(edgeId) ?? held.sequences.get(edgeId), group);
  if (newer !== null) onNewer(newer);
  if (readable === 0) return null;
  const to = records[readable - 1]!.offset + 1n;
  held.read = to;
  for (const [edgeId, last] of sequences) held.taken.set(edgeId, last);
  return { partition, from, to, firstKept: records[0]!.offset, records: fresh, sequences, broken, left, replays: from <= held.replayUntil };
}
