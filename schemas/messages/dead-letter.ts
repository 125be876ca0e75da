import { z } from "zod";
import { TOPICS } from "../vocabulary.ts";

/**
 * What an older Pharos put on the `dead-letter` topic; letters are rows now, and these are brought over. Tagged, version 1:
 * a line of JSON, a newline, then (for a letter) the record's bytes. Offsets travel as text.
 */
const Letter = z.object({
  type: z.literal("dead-letter"),
  version: z.literal(1),
  /** The one group that could not process it; others may have counted it. */
  group: z.string(),
  log_id: z.string(),
  topic: z.enum(TOPICS),
  partition: z.number().int(),
  offset: z.string(),
  /** Which entry of the record the letter holds; absent when it holds the whole record, or was written by an older Pharos. */
  entry: z.number().int().optional(),
  reason: z.string(),
  /** When it was put here, ISO 8601; absent when an older Pharos did. */
  at: z.string().optional(),
});
export type DeadLetterHead = z.output<typeof Letter>;

/** Says, in the same partition, that the letter at `offset` was put back for the `attempt`-th time, from 1. */
const Replayed = z.object({ type: z.literal("dead-letter-replayed"), version: z.literal(1), offset: z.string(), attempt: z.number().int(), at: z.string() });
export type ReplayedHead = z.output<typeof Replayed>;

const Head = z.discriminatedUnion("type", [Letter, Replayed]);

const NEWLINE = 10;

export function encodeDeadLetter(head: z.output<typeof Head>, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), bytes]);
}

/** Null for a record that no Pharos of this version wrote. */
export function decodeDeadLetter(record: Buffer): { head: z.output<typeof Head>; bytes: Buffer } | null {
  const end = record.indexOf(NEWLINE);
  if (end === -1) return null;
  try {
    return { head: Head.parse(JSON.parse(record.subarray(0, end).toString())), bytes: record.subarray(end + 1) };
  } catch {
    return null;
  }
}
