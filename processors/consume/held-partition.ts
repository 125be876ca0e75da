import type { TakenCursor } from "./cursor-store.ts";
import type { Lane } from "./row-store.ts";

/** A partition that this consumer holds by its lease. */
export interface HeldPartition {
  partition: number;
  epoch: bigint;
  /** The first offset whose effect is not committed. */
  next: bigint;
  /** The first offset that no batch has taken. */
  read: bigint;
  /** Rows may stand up to this offset; -1 when none stand above the cursor. */
  replayUntil: bigint;
  /** The last frame counted of each edge. */
  sequences: Map<string, bigint>;
  /** The last frame of each edge in the batches that are being processed. */
  taken: Map<string, bigint>;
  lane: Lane;
  /** 0, or the suspects it is tried with: one of them made a larger batch fail. */
  suspects: number;
  /** So many records a batch. */
  limit: number;
  /** Batches that failed in a row. */
  failures: number;
  /** Monotonic ms before which nothing of it is tried. */
  notBefore: number;
  /** A batch of it failed, and what becomes of it is being decided. */
  deciding: boolean;
  /** Entries that cannot be processed, by offset, with the reason; -1 names the whole record. */
  left: Map<bigint, Map<number, string>>;
}

/** A slow partition goes back to the main lane when it takes so many records at once without failing. */
const SOUND_RECORDS = 1_000;

/** What is known of a partition right after a takeover; `before` is what this consumer knew of it, if it held it. */
export function heldAfterTakeover(
  partition: number,
  { epoch, nextOffset, sequences, replayUntil }: TakenCursor & { replayUntil: bigint },
  before: HeldPartition | undefined,
): HeldPartition {
  const { lane = "main", suspects = 0, limit = Infinity, failures = 0, notBefore = 0, left = new Map<bigint, Map<number, string>>() } = before ?? {};
  return { partition, epoch, next: nextOffset, read: nextOffset, replayUntil, sequences, taken: new Map(), lane, suspects, limit, failures, notBefore, deciding: false, left };
}

/** Whether nobody else held the partition between two takeovers of this consumer. */
export function wasKept(before: HeldPartition | undefined, after: HeldPartition): boolean {
  return before !== undefined && after.epoch === before.epoch + 1n && after.next === before.next;
}

/** The batch up to `next` is committed. */
export function advance(held: HeldPartition, next: bigint, sequences: ReadonlyMap<string, bigint>): void {
  held.next = next;
  held.failures = 0;
  held.suspects = 0;
  for (const [edgeId, last] of sequences) held.sequences.set(edgeId, last);
  for (const offset of held.left.keys()) if (offset < next) held.left.delete(offset);
  if (held.lane === "main") return;
  held.limit *= 2;
  if (held.limit < SOUND_RECORDS) return;
  held.limit = Infinity;
  held.lane = "main";
}

/** What batches have taken and not committed is taken again. */
export function rewind(held: HeldPartition): void {
  held.read = held.next;
  held.taken.clear();
}
