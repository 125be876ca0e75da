import { decodeFrame, type FrameEntry } from "../../platform/event-log/frame.ts";
import type { PlainLog } from "../../platform/event-log/door.ts";
import { decodeDeadLetter, type DeadLetterHead } from "../../schemas/messages/dead-letter.ts";

/** A dead letter without its bytes, so that a topic full of them fits into memory. */
export interface DeadLetter {
  /** `PARTITION/OFFSET` on the dead-letter topic. */
  id: string;
  partition: number;
  head: DeadLetterHead;
  bytes: number;
  /** When it was put here, or, by an older Pharos, when its newest entry was received; ms since the epoch, null when neither is known. */
  at: number | null;
  /** Ids of the organizations that its entries are of; empty when its bytes are no frame. */
  organizationIds: string[];
  /** How often it was put back. */
  replays: number;
}

/** The entries of a letter's record, or null when its bytes are no whole frame. */
export function entriesOf(bytes: Buffer): FrameEntry[] | null {
  try {
    return decodeFrame(bytes).entries;
  } catch {
    return null;
  }
}

/** All letters that the topic holds, in the order of each partition; `keep` is given each with its bytes as it is read. */
export async function readDeadLetters(eventLog: PlainLog, keep?: (letter: DeadLetter, bytes: Buffer) => void): Promise<DeadLetter[]> {
  const letters = new Map<string, DeadLetter>();
  await eventLog.scan("dead-letter", (partition, { offset, value }) => {
    const record = decodeDeadLetter(value);
    if (record === null) return;
    const { head, bytes } = record;
    if (head.type === "dead-letter-replayed") {
      const letter = letters.get(`${partition}/${head.offset}`);
      if (letter) letter.replays = Math.max(letter.replays, head.attempt);
      return;
    }
    const entries = entriesOf(bytes) ?? [];
    const received = entries.length === 0 ? null : Math.max(...entries.map(({ receivedAt }) => receivedAt));
    const letter: DeadLetter = {
      id: `${partition}/${offset}`,
      partition,
      head,
      bytes: bytes.byteLength,
      at: head.at === undefined ? received : Date.parse(head.at),
      organizationIds: [...new Set(entries.map(({ organizationId }) => organizationId))],
      replays: 0,
    };
    letters.set(letter.id, letter);
    keep?.(letter, bytes);
  });
  return [...letters.values()];
}

/** One letter with its bytes, or null. */
export async function readDeadLetter(eventLog: PlainLog, id: string): Promise<{ letter: DeadLetter; bytes: Buffer } | null> {
  let found: { letter: DeadLetter; bytes: Buffer } | null = null;
  await readDeadLetters(eventLog, (letter, bytes) => {
    if (letter.id === id) found = { letter, bytes };
  });
  return found;
}
