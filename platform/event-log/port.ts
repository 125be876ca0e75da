import type { Topic } from "../../schemas/vocabulary.ts";

/**
 * A durable, partitioned, ordered log of records. One record is one frame of many events (`frame.ts`).
 * Adapters: `embedded.ts` (LMDB, one process) and `kafka.ts`; both pass `contract.test.ts`.
 */
export interface EventLog {
  /** Names this log's history. A cursor counts only for the log it was made in. */
  readonly id: string;

  /** How many partitions a topic has; partition numbers run from 0. */
  partitions(topic: Topic): number;

  /**
   * Appends one record; resolves once it is durable (flushed to disk, or acknowledged by all in-sync
   * replicas). Records appended to one partition keep the order of the calls as long as each call
   * waits for the one before. A rejection with `LogUnavailable` leaves open whether the record
   * was taken: resend the same bytes, the frame's number makes the second copy harmless.
   */
  append(topic: Topic, partition: number, record: Uint8Array): Promise<void>;

  /** Appends several records in their order, as `append` does one; absent where it would save nothing. */
  appendAll?(topic: Topic, partition: number, records: readonly Uint8Array[]): Promise<void>;

  /**
   * Reads a topic as a member of a group; each partition has one reader at a time. Rejects with StartFailure when a
   * partition assigned at the start ends below the offset that is wanted. What retention took away is skipped: the first record
   * then has a higher offset than the one wanted.
   */
  consume(options: ConsumeOptions): Promise<Consumer>;

  /**
   * Reads what a topic holds now, each partition from its first record to its present end, as a member of no group: no cursor moves
   * and retention learns nothing of it. Resolves once all was given; rejects with what `onRecord` threw.
   */
  scan(topic: Topic, onRecord: (partition: number, record: LogRecord) => Promise<void> | void): Promise<void>;

  /** The offset that the next appended record will get, for each partition of the topic. */
  ends(topic: Topic): Promise<bigint[]>;

  /**
   * Sends bytes to those who listen on the channel; not durable, not replayed. For replies. A channel is listened to in
   * one process: where that is this one, no other hears of it.
   * The messages of one channel keep the order of the calls as long as each call waits for the one before.
   */
  notify(channel: string, message: Uint8Array): Promise<void>;

  /**
   * Hears what is sent to a channel from now on, until the returned function is called. Channels may share a way, so
   * messages of others can come as well: a message has to say whom it is for.
   */
  listen(channel: string, onMessage: (message: Uint8Array) => void): Promise<() => Promise<void>>;

  /** Resolves when the log answers, rejects with `LogUnavailable` when it does not. */
  ping(): Promise<void>;

  close(): Promise<void>;
}

/** What an edge does with a log: it does not read it. */
export type WritableLog = Pick<EventLog, "id" | "partitions" | "append" | "appendAll" | "ends" | "listen" | "ping">;

export interface ConsumeOptions {
  topic: Topic;
  group: string;
  /** Asked once after each assignment of a partition: the first offset wanted. */
  startAt(partition: number): Promise<bigint>;
  /**
   * Gets records in offset order, the first at or above where the last call left off. Resolves with the
   * offset to read next: usually one past the last record, lower to read some again. While it runs,
   * no other call for this partition is made. A rejection is logged and the same records come again after a pause.
   */
  onRecords(batch: RecordBatch): Promise<bigint>;
  /**
   * Awaited when there is something to read, before records are taken: what comes in meanwhile is handed over too. Never rejects.
   * What it resolves with is called when `onRecords` has ended, or is not called after all.
   */
  beforeRecords?(partition: number): Promise<() => void>;
  /** The partition was taken away; nothing of it will be delivered until a new assignment. */
  onRevoked?(partition: number): void;
  /** Largest number of bytes handed to one `onRecords` call (at least one record always comes). */
  maxBytes?: number;
}

export interface RecordBatch {
  partition: number;
  records: LogRecord[];
  /** The end of the partition when the batch was fetched: equal to the last offset + 1 when caught up. */
  end: bigint;
  /** False once this process may no longer own the partition (checked by the monotonic clock, ≤ 5 s old). */
  owned(): boolean;
  /** Tells the log that the owner lives, for work that takes long; call at least every 2 s. */
  keepAlive(): Promise<void>;
}

export interface LogRecord {
  offset: bigint;
  value: Buffer;
}

export interface Consumer {
  /**
   * Reads a partition again from a lower offset, once no call for it runs; nothing when the partition is not held.
   * After a restore of the cursors, for a partition of which nothing more may ever come.
   */
  readAgain(partition: number, from: bigint): void;
  /** Finishes the running calls, then leaves the group. */
  stop(): Promise<void>;
}

/** The log could not be reached or did not confirm in time. */
export class LogUnavailable extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`The event log is unavailable: ${reason}`, { cause });
    this.name = "LogUnavailable";
  }
}
