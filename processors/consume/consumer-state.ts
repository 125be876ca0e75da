import type { Clock } from "../../platform/clock.ts";
import type { EventLog, RecordBatch } from "../../platform/event-log/port.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import type { Topic } from "../../schemas/vocabulary.ts";
import { noteCaughtUp, OwnershipLost, stepOverGap, takeCursor, type OwnedCursor } from "./cursor.ts";

/** An edge publishes its oldest unsent frame every second; what is younger than this may still be on its way. */
const ON_THE_WAY_MS = 3_000;

export interface ConsumerNeeds {
  eventLog: EventLog;
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** The cursors that this process holds, by partition. */
export interface HeldCursors {
  /** Takes the cursor over; gives the offset to start at. */
  take(partition: number): Promise<bigint>;
  /** The cursor for a batch, its start checked: a gap in the log is recorded and stepped over. */
  forBatch(batch: RecordBatch): Promise<OwnedCursor>;
  /**
   * Wraps a consumer's `onRecords`. A commit whose answer was lost looks like a lost partition; while the log says that it
   * is still ours, the cursor is taken anew and reading goes on wherever the commit left it.
   */
  retaking(onRecords: (batch: RecordBatch) => Promise<bigint>): (batch: RecordBatch) => Promise<bigint>;
  drop(partition: number): void;
  all(): OwnedCursor[];
  /** Tells how many events some records held, for the estimate of the lag. */
  noteRecords(records: number, events: number): void;
  eventsPerRecord(): number;
}

export function holdCursors({ eventLog, database, log }: ConsumerNeeds, topic: Topic, group: string): HeldCursors {
  const held = new Map<number, OwnedCursor>();
  let perRecord = 1;

  async function take(partition: number): Promise<bigint> {
    const cursor = await takeCursor(database, { group, logId: eventLog.id, topic, partition });
    held.set(partition, cursor);
    return cursor.nextOffset;
  }

  return {
    take,
    retaking: (onRecords) => async (batch) => {
      try {
        return await onRecords(batch);
      } catch (error) {
        if (!(error instanceof OwnershipLost) || !batch.owned()) throw error;
        log.warn({ group, topic, partition: batch.partition }, "the cursor was moved by another transaction; it is taken anew");
        return take(batch.partition);
      }
    },
    async forBatch({ partition, records }) {
      const cursor = held.get(partition);
      if (!cursor) throw new Error(`${group} got records of ${topic}/${partition} before it was assigned`);
      const first = records[0]!.offset;
      if (first > cursor.nextOffset) {
        log.error({ group, topic, partition, from: String(cursor.nextOffset), to: String(first) }, "the log lost records before they were read; the gap is recorded in log_gaps");
        await stepOverGap(database, cursor, first);
        cursor.nextOffset = first;
        cursor.openRange = null;
      }
      return cursor;
    },
    drop: (partition) => void held.delete(partition),
    all: () => [...held.values()],
    noteRecords(records, events) {
      if (records > 0) perRecord = 0.9 * perRecord + (0.1 * events) / records;
    },
    eventsPerRecord: () => perRecord,
  };
}

/** The moment up to which a partition is certainly processed once the entries received at `receivedAt` are. */
export function provenAfter(receivedAt: number): Date {
  return new Date(Math.max(0, receivedAt - ON_THE_WAY_MS));
}

export interface EndWatch {
  topic: Topic;
  group: string;
  /** Also writes down up to when the topic is processed: without it an idle pipeline could never prove that a heartbeat is late. */
  proves: boolean;
}

/** Every second compares the cursors with the log's ends: how far behind they are, and whether they have caught up. */
export function watchEnds({ eventLog, database, clock, log, metrics }: ConsumerNeeds, { topic, group, proves }: EndWatch, held: HeldCursors): { stop(): void } {
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    look()
      .catch((error: unknown) => log[isPostgresAway(error) ? "debug" : "warn"]({ err: error }, "could not tell how far the log is processed"))
      .finally(() => (busy = false));
  }, 1_000);

  async function look(): Promise<void> {
    const asked = clock.now();
    const ends = await eventLog.ends(topic);
    const missing = held.all().map((cursor) => ends[cursor.partition]! - cursor.nextOffset);
    const behind = missing.reduce((sum, each) => (each > 0n ? sum + Number(each) : sum), 0);
    metrics.pipelineLag.set({ topic, group }, Math.round(behind * held.eventsPerRecord()));
    if (proves) await noteCaughtUp(database, held.all().filter((_, index) => missing[index]! <= 0n), provenAfter(asked));
  }

  return { stop: () => clearInterval(timer) };
}
