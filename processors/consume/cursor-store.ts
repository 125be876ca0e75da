import { sql } from "drizzle-orm";
import { recordDeadLetters, type NewDeadLetter } from "../../domain/dead-letters/record-dead-letters.ts";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import { LeaseLost, type ConsumerName } from "./cursor-name.ts";

/** A cursor right after a takeover. */
export interface TakenCursor {
  epoch: bigint;
  nextOffset: bigint;
  /** `query_id` of an insert that an older version of Pharos may have left running. */
  legacyInsert: string | null;
  /** The last frame counted of each edge. */
  sequences: Map<string, bigint>;
}

/** How one cursor moves: from `from`, where it must stand, to `to`. */
export interface CursorMove {
  partition: number;
  from: bigint;
  to: bigint;
  /** Frames counted by this move, the last of each edge. */
  sequences: ReadonlyMap<string, bigint>;
  /** Everything received before this moment is processed, as far as this partition goes. */
  caughtUpTo: Date;
  /** First offset that the log still had, when it lost records from `from` on; else null. */
  gapTo: bigint | null;
}

/** What the transaction of a batch writes besides its effect. */
export interface BatchCommit {
  lease: string;
  moves: readonly CursorMove[];
  letters: readonly NewDeadLetter[];
  /** How long it waits for a lock, in ms; see `LOCK_WAIT_MS`. */
  lockWaitMs?: number;
}

/** The cursors of one consumer group, in PostgreSQL. */
export interface CursorStore {
  /**
   * Makes `lease` the holder of these partitions. `fenceEpochs` are the highest epochs that ClickHouse knows: they are
   * higher than PostgreSQL's after PostgreSQL was restored. Older leases cannot commit once this resolved.
   */
  takeCursors(
    lease: string,
    partitions: readonly number[],
    fenceEpochs: ReadonlyMap<number, bigint>,
  ): Promise<Map<number, TakenCursor>>;
  /**
   * One transaction: moves all cursors, notes sequences, gaps and dead letters, then runs `effect`. Throws LeaseLost, and changes
   * nothing, when any cursor is held by another lease or stands elsewhere.
   */
  commitBatch<T>(batch: BatchCommit, effect: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Runs `effect` in a transaction that is rolled back. Rejects as `effect` does. */
  tryEffect(effect: (transaction: Transaction) => Promise<unknown>): Promise<void>;
  /** Whether the lease still holds all these cursors, and they stand here. False after PostgreSQL was restored. */
  holdsCursors(lease: string, cursors: ReadonlyMap<number, bigint>): Promise<boolean>;
  /** These partitions are at their ends: everything received before `moment` is processed. */
  noteCaughtUp(lease: string, cursors: ReadonlyMap<number, bigint>, moment: Date): Promise<void>;
}

/**
 * A transaction of a batch waits for a lock for so long, in ms: whoever holds a row that one partition needs must not
 * hold up the others.
 */
const LOCK_WAIT_MS = 3_000;
/**
 * The same for a batch of suspects, or of a slow partition. It waits for others while it holds locks of its own,
 * on signatures that other partitions have too, and it comes again soon.
 */
export const LOCK_WAIT_ALONE_MS = 250;

/** Ends a transaction that was only a try. */
class RolledBack extends Error {}

/** The cursors of a consumer group in `database`. `now` gives the wall clock, ms since the epoch. */
export function makeCursorStore(database: Database, name: ConsumerName, now: () => number): CursorStore {
  return {
    takeCursors: (lease, partitions, fenceEpochs) =>
      inTransaction(database, (transaction) => takeCursors(transaction, name, { lease, partitions, fenceEpochs })),

    commitBatch: ({ lease, moves, letters, lockWaitMs = LOCK_WAIT_MS }, effect) =>
      inTransaction(database, async (transaction) => {
        await moveCursors(transaction, name, { lease, moves, lockWaitMs, now: new Date(now()) });
        await recordDeadLetters(transaction, letters);
        await noteGaps(transaction, name, moves);
        await noteSequences(transaction, name, moves);
        return effect(transaction);
      }),

    async tryEffect(effect) {
      const rolledBack = new RolledBack();
      try {
        await inTransaction(database, async (transaction) => {
          await transaction.execute(sql`select set_config('lock_timeout', ${String(LOCK_WAIT_MS)}, true)`);
          await effect(transaction);
          throw rolledBack;
        });
      } catch (error) {
        if (error !== rolledBack) throw error;
      }
    },

    async holdsCursors(lease, cursors) {
      const { rows } = await database.execute<{ held: number }>(sql`
        select count(*)::integer as held from cursors, ${standing(cursors)} where ${held(name, lease)}`);
      return rows[0]!.held === cursors.size;
    },

    async noteCaughtUp(lease, cursors, moment) {
      if (cursors.size === 0) return;
      await database.execute(sql`
        update cursors set caught_up_to = ${moment.toISOString()}::timestamptz
        from ${standing(cursors)} where ${held(name, lease)}`);
    },
  };
}

const ofConsumer = ({ group, logId, topic }: ConsumerName) =>
  sql`cursors.consumer_group = ${group} and cursors.log_id = ${logId} and cursors.topic = ${topic}`;

/** Partitions with the offsets at which their cursors must stand, as a table `given`. */
const standing = (cursors: ReadonlyMap<number, bigint>) => {
  const rows = [...cursors].map(([partition, offset]) => ({ partition, next_offset: String(offset) }));
  return sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given (partition integer, next_offset bigint)`;
};

const held = (name: ConsumerName, lease: string) => sql`${ofConsumer(name)} and cursors.lease = ${lease}
  and cursors.partition = given.partition and cursors.next_offset = given.next_offset`;

interface Takeover {
  lease: string;
  partitions: readonly number[];
  fenceEpochs: ReadonlyMap<number, bigint>;
}

async function takeCursors(
  transaction: Transaction,
  name: ConsumerName,
  { lease, partitions, fenceEpochs }: Takeover,
): Promise<Map<number, TakenCursor>> {
  const { group, logId, topic } = name;
  const wanted = partitions.map((partition) => ({ partition, fence: String(fenceEpochs.get(partition) ?? 0n) }));
  const { rows } = await transaction.execute<TakenRow>(sql`
    insert into cursors (consumer_group, log_id, topic, partition, next_offset, epoch, lease)
    select ${group}, ${logId}, ${topic}, given.partition, 0, given.fence + 1, ${lease}::uuid
    from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as given (partition integer, fence bigint)
    order by given.partition
    on conflict (consumer_group, log_id, topic, partition) do update set
      epoch = greatest(cursors.epoch + 1, excluded.epoch), lease = excluded.lease, updated_at = now()
    returning partition, epoch::text, next_offset::text, legacy_insert`);
  const taken = new Map(
    rows.map(({ partition, epoch, next_offset: nextOffset, legacy_insert: legacyInsert }) => [
      partition,
      { epoch: BigInt(epoch), nextOffset: BigInt(nextOffset), legacyInsert, sequences: new Map<string, bigint>() },
    ]),
  );
  const sequences = await transaction.execute<{ partition: number; edge_id: string; last_sequence: string }>(sql`
    select partition, edge_id, last_sequence::text from frame_sequences
    where consumer_group = ${group} and log_id = ${logId} and topic = ${topic}
      and partition = any(${`{${partitions.join(",")}}`}::integer[])`);
  for (const { partition, edge_id: edgeId, last_sequence: last } of sequences.rows) {
    taken.get(partition)!.sequences.set(edgeId, BigInt(last));
  }
  return taken;
}

interface TakenRow extends Record<string, unknown> {
  partition: number;
  epoch: string;
  next_offset: string;
  legacy_insert: string | null;
}

async function moveCursors(
  transaction: Transaction,
  name: ConsumerName,
  { lease, moves, lockWaitMs, now }: { lease: string; moves: readonly CursorMove[]; lockWaitMs: number; now: Date },
): Promise<void> {
  const given = moves.map(({ partition, from, to, caughtUpTo }) => ({
    partition,
    from_offset: String(from),
    to_offset: String(to),
    caught_up_to: caughtUpTo.toISOString(),
  }));
  // A moment in the future proves nothing: it was written before a clock was put back.
  const { rows } = await transaction.execute<{ partition: number }>(sql`
    with limits as (select set_config('lock_timeout', ${String(lockWaitMs)}, true) as waits)
    update cursors set next_offset = given.to_offset, legacy_insert = null, updated_at = now(),
      caught_up_to = least(greatest(cursors.caught_up_to, given.caught_up_to), ${now.toISOString()}::timestamptz)
    from limits, jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
      as given (partition integer, from_offset bigint, to_offset bigint, caught_up_to timestamptz)
    where limits.waits <> '' and ${ofConsumer(name)} and cursors.lease = ${lease}
      and cursors.partition = given.partition and cursors.next_offset = given.from_offset
    returning cursors.partition`);
  if (rows.length === moves.length) return;
  const moved = new Set(rows.map(({ partition }) => partition));
  const others = moves.flatMap(({ partition }) => (moved.has(partition) ? [] : [partition]));
  throw new LeaseLost(name, `another consumer moved or took partition ${others.join(", ")}`);
}

async function noteGaps(transaction: Transaction, name: ConsumerName, moves: readonly CursorMove[]): Promise<void> {
  for (const { partition, from, gapTo } of moves) {
    if (gapTo === null) continue;
    await transaction.execute(sql`
      insert into log_gaps (id, consumer_group, log_id, topic, partition, from_offset, to_offset)
      values (${newId()}, ${name.group}, ${name.logId}, ${name.topic}, ${partition}, ${String(from)}, ${String(gapTo)})`);
  }
}

async function noteSequences(
  transaction: Transaction,
  { group, logId, topic }: ConsumerName,
  moves: readonly CursorMove[],
): Promise<void> {
  const rows = moves.flatMap(({ partition, sequences }) =>
    [...sequences].map(([edgeId, last]) => ({ partition, edge_id: edgeId, last_sequence: String(last) })),
  );
  if (rows.length === 0) return;
  await transaction.execute(sql`
    insert into frame_sequences (consumer_group, log_id, topic, partition, edge_id, last_sequence)
    select ${group}, ${logId}, ${topic}, given.partition, given.edge_id, given.last_sequence
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given (partition integer, edge_id uuid, last_sequence bigint)
    order by given.partition, given.edge_id
    on conflict (consumer_group, log_id, topic, partition, edge_id) do update set
      last_sequence = excluded.last_sequence, updated_at = now()`);
}
