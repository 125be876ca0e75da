import { derivedId } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { deadLetters } from "../../schemas/tables/all.ts";
import type { DeadLetterState, Topic } from "../../schemas/vocabulary.ts";

/** The `entry` of a letter that holds a whole record. */
export const WHOLE_RECORD = -1;

/** Names what a dead letter holds: one entry of a record, or all of it, for one consumer group. */
export interface DeadLetterPlace {
  consumerGroup: string;
  logId: string;
  topic: Topic;
  partition: number;
  offset: bigint;
  /** `WHOLE_RECORD`, or the number of the entry in its record. */
  entry: number;
}

export interface NewDeadLetter extends DeadLetterPlace {
  reason: string;
  /** The record, or a frame that holds the entry alone. */
  bytes: Uint8Array;
  /** ClickHouse holds rows of it. They must be deleted before the letter may be put back. */
  rowsStand: boolean;
  /** Now unless given. */
  createdAt?: Date | undefined;
}

/** Ten parameters a row; a statement takes 65,535. */
const ROWS_OF_STATEMENT = 1_000;
const REASON_LENGTH = 2_000;

/**
 * Records letters in the transaction that moves the consumer's cursor past their records. A letter
 * that is recorded already stays as it is. Letters are written in the order of their ids, so two
 * transactions cannot lock each other.
 */
export async function recordDeadLetters(
  transaction: Transaction,
  letters: readonly NewDeadLetter[],
): Promise<void> {
  const rows = letters.map(rowOf).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (let at = 0; at < rows.length; at += ROWS_OF_STATEMENT) {
    const some = rows.slice(at, at + ROWS_OF_STATEMENT);
    await transaction.insert(deadLetters).values(some).onConflictDoNothing();
  }
}

/**
 * The id of the letter of a place: always the same, and evenly spread, so its first digits name it
 * too.
 */
export function idOfDeadLetter(place: DeadLetterPlace): string {
  const { consumerGroup, logId, topic, partition, offset, entry } = place;
  const numbers = [partition, offset, entry].map(String);
  return derivedId("dead letter", consumerGroup, logId, topic, ...numbers);
}

/** A reason as Postgres can store it: no NUL, at most 2,000 characters. */
function storableReason(reason: string): string {
  return reason.replaceAll("\u0000", "\uFFFD").slice(0, REASON_LENGTH);
}

function rowOf({ reason, bytes, rowsStand, ...place }: NewDeadLetter) {
  const state: DeadLetterState = rowsStand ? "rows_stand" : "open";
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    id: idOfDeadLetter(place),
    ...place,
    reason: storableReason(reason),
    bytes: buffer,
    state,
  };
}
