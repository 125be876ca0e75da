import { recordDeadLetters, type NewDeadLetter } from "../../domain/dead-letters/record-dead-letters.ts";
import type { Consumer, LogRecord, RecordBatch } from "../../platform/event-log/port.ts";
import { makePlaces } from "../../platform/places.ts";
import { inTransaction, isPostgresAway, type Transaction } from "../../platform/postgres/database.ts";
import { WorkerLost } from "../../platform/worker-pool.ts";
import type { Topic } from "../../schemas/vocabulary.ts";
import { holdCursors, provenAfter, watchEnds, type ConsumerNeeds } from "./consumer-state.ts";
import { moveCursor, type OwnedCursor } from "./cursor.ts";
import { letterOfRecord, lettersOfEntries, tellOfLetters } from "./dead-letter.ts";
import { freshFrames, placedEntries, type PlacedEntry } from "./fresh-frames.ts";
import { reasonOf, retrying } from "./retrying.ts";

export interface TransactionalOptions<Prepared, Result> {
  topic: Topic;
  group: string;
  maxBytes?: number;
  /** See `EndWatch`. */
  proves?: boolean;
  /** Work that needs no transaction, such as parsing in a worker thread. */
  prepare(entries: PlacedEntry[]): Promise<Prepared>;
  /** The effect, in the transaction that also moves the cursor: both happen or neither. */
  apply(transaction: Transaction, prepared: Prepared): Promise<Result>;
  /** After the commit; may be lost when the process dies right here. */
  afterCommit?(result: Result): Promise<void> | void;
}

/** So often a batch is tried whole before its entries are tried one by one: passing faults are more usual than bad entries. */
const TOGETHER_TRIES = 3;
/** A worker thread that hangs holds its partition up until its deadline, each time. */
const TOGETHER_TRIES_LOST = 2;

/** So many partitions of a process are in a transaction at a time; meanwhile the others' batches grow, and cost less an entry. */
const AT_ONCE = 2;

/** How a batch moves its cursor, and the letters that are recorded with it. */
interface BatchMove {
  nextOffset: bigint;
  sequences: Map<string, bigint>;
  letters: NewDeadLetter[];
}

/** Ends a transaction that was only a try. */
class Undone extends Error {}

/** Consumes a topic whose effect is in Postgres alone: one transaction for each batch, exactly once. */
export async function startTransactionalConsumer<Prepared, Result>(needs: ConsumerNeeds, options: TransactionalOptions<Prepared, Result>): Promise<Consumer> {
  const { eventLog, database, log } = needs;
  const { topic, group } = options;
  const held = holdCursors(needs, topic, group);
  const places = makePlaces(AT_ONCE);

  async function onRecords(batch: RecordBatch): Promise<bigint> {
    const cursor = await held.forBatch(batch);
    const { records } = batch;
    const { fresh, sequences, broken } = freshFrames(records, cursor.sequences, group);
    const { readable, cut } = splitReadable(fresh);
    const letters = [...broken, ...cut].map(({ record, reason }) => letterOfRecord(cursor, record, reason));

    held.noteRecords(records.length, readable.length);
    const nextOffset = records.at(-1)!.offset + 1n;
    await applyEntries(cursor, batch, readable, { nextOffset, sequences, letters });
    cursor.nextOffset = nextOffset;
    for (const [edgeId, last] of sequences) cursor.sequences.set(edgeId, last);
    return nextOffset;
  }

  async function applyEntries(cursor: OwnedCursor, batch: RecordBatch, given: PlacedEntry[], { letters, ...move }: BatchMove): Promise<void> {
    const caughtUpTo = provenAfter(given.at(-1)?.entry.receivedAt ?? 0);
    let entries = given;
    let apart = false;
    let lost = false;
    await retrying(`${group} on ${topic}/${cursor.partition}`, batch, log, async (attempt) => {
      // What fails while the stores answer fails for itself: it must not hold up its neighbours, who may be of other organizations.
      if (attempt >= (lost ? TOGETHER_TRIES_LOST : TOGETHER_TRIES) && !apart) {
        const parts = await setApart(cursor, batch, given);
        entries = parts.sound;
        letters.push(...parts.letters);
        apart = true;
      }
      const moved = { ...move, caughtUpTo, notAfter: new Date(needs.clock.now()) };
      const moveOn = async (transaction: Transaction): Promise<void> => {
        await moveCursor(transaction, cursor, moved);
        await recordDeadLetters(transaction, letters);
      };
      if (entries.length === 0) {
        await inTransaction(database, moveOn);
        return tellOfLetters(needs, letters);
      }
      try {
        const prepared = await options.prepare(entries);
        const result = await inTransaction(database, async (transaction) => {
          const effect = await options.apply(transaction, prepared);
          await moveOn(transaction);
          return effect;
        });
        tellOfLetters(needs, letters);
        await options.afterCommit?.(result);
      } catch (error) {
        lost ||= error instanceof WorkerLost;
        throw error;
      }
    });
  }

  /** Tries each entry alone, twice, in a transaction that is undone. Those that fail become letters. */
  async function setApart(cursor: OwnedCursor, batch: RecordBatch, entries: PlacedEntry[]): Promise<{ sound: PlacedEntry[]; letters: NewDeadLetter[] }> {
    const sound: PlacedEntry[] = [];
    const letters: NewDeadLetter[] = [];
    for (const entry of entries) {
      await batch.keepAlive();
      const reason = (await failureAlone(entry)) && (await failureAlone(entry));
      if (reason) letters.push(...lettersOfEntries(cursor, batch.records, [{ offset: entry.offset, entryIndex: entry.entryIndex, reason }]));
      else sound.push(entry);
    }
    return { sound, letters };
  }

  /** Why an entry fails by itself, or null. A store that is away is nobody's fault and is thrown. */
  async function failureAlone(entry: PlacedEntry): Promise<string | null> {
    try {
      const prepared = await options.prepare([entry]);
      await inTransaction(database, async (transaction) => {
        await options.apply(transaction, prepared);
        throw new Undone();
      });
    } catch (error) {
      if (error instanceof Undone) return null;
      if (isPostgresAway(error)) throw error;
      return reasonOf(error);
    }
    return null;
  }

  const watch = watchEnds(needs, { topic, group, proves: options.proves ?? false }, held);
  const consumer = await eventLog.consume({ topic, group, startAt: held.take, beforeRecords: () => places.take(), onRecords: held.retaking(onRecords), onRevoked: held.drop, ...(options.maxBytes !== undefined && { maxBytes: options.maxBytes }) });
  return {
    async stop() {
      watch.stop();
      await consumer.stop();
    },
  };
}

/** Frames whose head is fine but whose entries are cut short are set apart, one by one. */
function splitReadable(records: LogRecord[]): { readable: PlacedEntry[]; cut: { record: LogRecord; reason: string }[] } {
  const readable: PlacedEntry[] = [];
  const cut: { record: LogRecord; reason: string }[] = [];
  for (const record of records) {
    try {
      readable.push(...placedEntries([record]));
    } catch (error) {
      cut.push({ record, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return { readable, cut };
}
