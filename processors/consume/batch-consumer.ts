import type { Consumer, RecordBatch } from "../../platform/event-log/port.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { makeBatchRunner } from "./batch-runner.ts";
import type { ConsumerName } from "./cursor-name.ts";
import type { CursorStore } from "./cursor-store.ts";
import type { UnreadableEntry } from "./dead-letter.ts";
import type { FreshSlice } from "./fresh-frames.ts";
import type { IntakeLimits } from "./intake.ts";
import type { ConsumerNeeds } from "./needs.ts";
import type { Inserter, RowStore } from "./row-store.ts";
import type { OnTakeoverStep } from "./take-over.ts";
import { watchEnds, type Proof } from "./watch-ends.ts";

/** What a consumer does with the records of a batch, step by step. `only`, an entry's number, leaves out all others. */
export interface BatchWork<Prepared, Stored, Result> {
  /** Reads the records; changes nothing. The same records give the same. */
  prepare(slices: readonly FreshSlice[], only: number | null): Promise<Prepared & Readings>;
  /** Makes the rows stand in ClickHouse. May be repeated after whatever came of the last time. */
  store(prepared: Prepared, slices: readonly FreshSlice[], options: { by: Inserter; only: number | null }): Promise<Stored>;
  /** The effect in PostgreSQL, in the transaction that moves the cursors. */
  apply(transaction: Transaction, stored: Stored): Promise<Result>;
  /** After the commit; may be lost when the process dies right here. Never waited for. */
  afterCommit?(result: Result): void;
}

/** What became known of the records by reading them. */
export interface Readings {
  unreadable: readonly UnreadableEntry[];
  /** Events or entries in them. */
  count: number;
  /** When the last of each partition's entries was received, ms since the epoch; a partition left out proves nothing. */
  receivedAt?: ReadonlyMap<number, number>;
}

/** How a consumer of batches behaves. */
export interface BatchOptions {
  limits: IntakeLimits;
  /** Bytes of one partition that the log hands over at a time. */
  maxBytes: number;
  /** Batches begin at least so far apart, in ms: few large inserts cost ClickHouse less than many small ones. */
  everyMs: number;
  /** Batches begin so far apart while few events come, in ms. Without it, `everyMs` apart. */
  quietMs?: number;
  /** Its cursors prove that everything received before a moment is processed, and somebody needs that. */
  proves?: Proof;
  /**
   * A takeover is done: `kept` partitions had no other owner since. The others are processed once it has resolved, or
   * 30 s later. Never rejects.
   */
  onAssigned?(partitions: readonly { partition: number; kept: boolean }[]): Promise<void>;
  /** Hears whether the log has more of a partition. */
  onBehind?(partition: number, behind: boolean): void;
  /** Waited for before each batch. */
  turn?(): Promise<void>;
  /** Asks the log for records below what it has delivered. */
  readAgain?(partition: number, next: bigint): void;
  /** For tests that pass the time themselves. */
  pause?(ms: number): Promise<void>;
  /** For tests that stop the process between two steps. */
  onStep?(step: BatchStep): Promise<void> | void;
}

type TakeoverStep = Parameters<OnTakeoverStep>[0];
export type BatchStep = TakeoverStep | "prepared" | "inserted" | "committed";

/** The stores of one consumer; `rows` is null for one that writes to PostgreSQL alone. */
export interface BatchStores {
  cursors: CursorStore;
  rows: RowStore | null;
}

/**
 * Consumes a topic exactly once, one batch over all partitions of this process at a time.
 *
 * 1. Read: parse what is new of all partitions (`prepare`). The next batch is read while this one is written.
 * 2. Insert: make the rows stand in ClickHouse, those that stand already excepted (`store`).
 * 3. Commit: one transaction moves all cursors and has the effect (`apply`).
 *
 * Nothing is noted beforehand. Whoever takes a partition over asks ClickHouse what stands above its cursor
 * (`take-over.ts`), and a row is only inserted where none stands.
 */
export async function startBatchConsumer<Prepared, Stored, Result>(
  needs: ConsumerNeeds,
  name: ConsumerName,
  stores: BatchStores,
  options: BatchOptions,
  work: BatchWork<Prepared, Stored, Result>,
): Promise<Consumer> {
  const { eventLog } = needs;
  let consumer: Consumer | null = null;
  const readAgain = (partition: number, next: bigint): void => consumer?.readAgain(partition, next);
  const runner = makeBatchRunner(needs, name, stores, { ...options, readAgain }, work);

  async function onRecords(batch: RecordBatch): Promise<bigint> {
    options.onBehind?.(batch.partition, true);
    const next = await runner.process(batch);
    options.onBehind?.(batch.partition, next < batch.end);
    return next;
  }

  const watch = watchEnds({ ...needs, cursors: stores.cursors }, name, { held: runner.held, verifyLease: runner.verifyLease, eventsPerRecord: runner.eventsPerRecord, proves: options.proves ?? null });
  try {
    const started = await eventLog.consume({
      topic: name.topic,
      group: name.group,
      maxBytes: options.maxBytes,
      startAt: runner.assign,
      beforeRecords: runner.beforeRecords,
      onRecords,
      onRevoked(partition) {
        runner.revoke(partition);
        options.onBehind?.(partition, false);
      },
    });
    consumer = started;
    return {
      readAgain,
      async stop() {
        watch.stop();
        await runner.stop();
        await started.stop();
      },
    };
  } catch (error) {
    watch.stop();
    await runner.stop();
    throw error;
  }
}
