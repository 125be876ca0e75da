import { and, eq, isNull, or, sql } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Queries, type Transaction } from "../../platform/postgres/database.ts";
import { cursors, frameSequences, logGaps } from "../../schemas/tables/all.ts";
import type { Topic } from "../../schemas/vocabulary.ts";

/** Names one cursor: a group's place in one partition of one log. */
export interface CursorName {
  group: string;
  logId: string;
  topic: Topic;
  partition: number;
}

/** The log that rows name: those of two topics in one table must not be taken for each other. */
export function logOfRows({ logId, topic }: Pick<CursorName, "logId" | "topic">): string {
  return topic === "beacons-overflow" ? `${logId}/overflow` : logId;
}

export interface OwnedCursor extends CursorName {
  /** Ours until another owner takes the cursor; every update of ours says so. */
  epoch: bigint;
  nextOffset: bigint;
  /** A range that the owner before us opened and perhaps inserted. */
  openRange: { last: bigint; token: string } | null;
  /** The last frame counted of each edge. */
  sequences: Map<string, bigint>;
}

/** Another process owns the partition now: what this one was about to commit did not happen. */
export class OwnershipLost extends Error {
  constructor({ group, topic, partition }: CursorName) {
    super(`${group} lost ${topic}/${partition} to another owner`);
    this.name = "OwnershipLost";
  }
}

/** Makes this process the owner: any other owner's next update finds a higher epoch and changes nothing. */
export async function takeCursor(database: Database, name: CursorName): Promise<OwnedCursor> {
  return inTransaction(database, async (transaction) => {
    const [row] = await transaction
      .insert(cursors)
      .values({ consumerGroup: name.group, logId: name.logId, topic: name.topic, partition: name.partition, nextOffset: 0n, epoch: 1n })
      .onConflictDoUpdate({ target: [cursors.consumerGroup, cursors.logId, cursors.topic, cursors.partition], set: { epoch: sql`${cursors.epoch} + 1`, updatedAt: sql`now()` } })
      .returning();
    const sequences = await transaction
      .select({ edgeId: frameSequences.edgeId, last: frameSequences.lastSequence })
      .from(frameSequences)
      .where(and(eq(frameSequences.consumerGroup, name.group), eq(frameSequences.logId, name.logId), eq(frameSequences.topic, name.topic), eq(frameSequences.partition, name.partition)));
    return {
      ...name,
      epoch: row!.epoch,
      nextOffset: row!.nextOffset,
      openRange: row!.rangeLast === null ? null : { last: row!.rangeLast, token: row!.rangeToken! },
      sequences: new Map(sequences.map(({ edgeId, last }) => [edgeId, last])),
    };
  });
}

const mine = (cursor: OwnedCursor) =>
  and(
    eq(cursors.consumerGroup, cursor.group),
    eq(cursors.logId, cursor.logId),
    eq(cursors.topic, cursor.topic),
    eq(cursors.partition, cursor.partition),
    eq(cursors.epoch, cursor.epoch),
    eq(cursors.nextOffset, cursor.nextOffset),
  );

/** Writes down that [nextOffset, last] is about to be inserted under `token`; may be repeated. Throws OwnershipLost. */
export async function openRange(queries: Queries, cursor: OwnedCursor, last: bigint, token: string): Promise<void> {
  const rows = await queries
    .update(cursors)
    .set({ rangeLast: last, rangeToken: token, updatedAt: sql`now()` })
    .where(and(mine(cursor), or(isNull(cursors.rangeLast), eq(cursors.rangeToken, token))))
    .returning({ epoch: cursors.epoch });
  if (rows.length === 0) throw new OwnershipLost(cursor);
}

export interface CursorMove {
  nextOffset: bigint;
  sequences: Map<string, bigint>;
  /** Everything received before it is processed, as far as this partition goes. */
  caughtUpTo: Date;
  /** By the clock of who writes it: what was written before a clock was put back is taken back to it. */
  notAfter?: Date;
}

/** In the transaction that holds the effect: closes the range and moves on. Throws OwnershipLost, which undoes all of it. */
export async function moveCursor(transaction: Transaction, cursor: OwnedCursor, move: CursorMove): Promise<void> {
  const reached = sql`greatest(${cursors.caughtUpTo}, ${move.caughtUpTo})`;
  const caughtUpTo = move.notAfter ? sql`least(${reached}, ${move.notAfter})` : reached;
  const rows = await transaction
    .update(cursors)
    .set({ nextOffset: move.nextOffset, rangeLast: null, rangeToken: null, caughtUpTo, updatedAt: sql`now()` })
    .where(mine(cursor))
    .returning({ epoch: cursors.epoch });
  if (rows.length === 0) throw new OwnershipLost(cursor);
  if (move.sequences.size === 0) return;
  const { group: consumerGroup, logId, topic, partition } = cursor;
  await transaction
    .insert(frameSequences)
    .values([...move.sequences].map(([edgeId, lastSequence]) => ({ consumerGroup, logId, topic, partition, edgeId, lastSequence })))
    .onConflictDoUpdate({
      target: [frameSequences.consumerGroup, frameSequences.logId, frameSequences.topic, frameSequences.partition, frameSequences.edgeId],
      set: { lastSequence: sql`excluded.last_sequence`, updatedAt: sql`now()` },
    });
}

/** The log lost records before they were read: recorded for good, then the cursor steps over them. Throws OwnershipLost. */
export async function stepOverGap(database: Database, cursor: OwnedCursor, firstKept: bigint): Promise<void> {
  await inTransaction(database, async (transaction) => {
    await transaction.insert(logGaps).values({ id: newId(), consumerGroup: cursor.group, logId: cursor.logId, topic: cursor.topic, partition: cursor.partition, fromOffset: cursor.nextOffset, toOffset: firstKept });
    await moveCursor(transaction, cursor, { nextOffset: firstKept, sequences: new Map(), caughtUpTo: new Date(0) });
  });
}

/** These partitions have caught up with their ends: everything received before `moment`, which may be earlier than what was written before the clock was put back, is processed. One statement, one commit. */
export async function noteCaughtUp(database: Database, caughtUp: OwnedCursor[], moment: Date): Promise<void> {
  if (caughtUp.length === 0) return;
  await database.update(cursors).set({ caughtUpTo: moment }).where(or(...caughtUp.map(mine)));
}
