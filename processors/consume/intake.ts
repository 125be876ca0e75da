import { entriesIn } from "../../platform/event-log/frame.ts";
import type { LogRecord, RecordBatch } from "../../platform/event-log/port.ts";

/** How much one batch takes at most. */
export interface IntakeLimits {
  /** Entries of frames, counted from the frames' heads. */
  entries: number;
  bytes: number;
}

/** What the log has handed over and is not processed yet, by partition. */
export interface Intake {
  /** Takes records over; resolves with the offset to read next once all of them are processed, or must come again. */
  offer(batch: RecordBatch): Promise<bigint>;
  /** Whether a partition of which `isWanted` says true has records that no batch took. */
  hasRecords(isWanted: (partition: number) => boolean): boolean;
  /**
   * Whole records of the wanted partitions, at most `recordsOf(partition)` of each and at least one in all. Which
   * partition comes first changes with each call, so none starves.
   */
  take(limits: IntakeLimits, isWanted: (partition: number) => boolean, recordsOf: (partition: number) => number): Map<number, LogRecord[]>;
  /** Everything of a partition below `next` is processed. */
  finish(partition: number, next: bigint): void;
  /** Records that were taken but not processed are there again. */
  putBack(partition: number, next: bigint): void;
  /** Its records come again from the log, from `next` on; false when none are here. */
  readAgain(partition: number, next: bigint): boolean;
  /** Resolves when records come. */
  arrival(): Promise<void>;
  /** Wakes whoever waits in `arrival`. */
  wake(): void;
  /** Offers that are open, for signs of life and for what is left to read. */
  open(): Iterable<RecordBatch>;
  /** Settles all offers and every later one at once: their records come again to the next consumer. */
  close(): void;
}

interface Offer {
  batch: RecordBatch;
  /** Number of the next record that a batch takes. */
  at: number;
  settle(next: bigint): void;
}

/** An empty intake. */
export function makeIntake(): Intake {
  const offers = new Map<number, Offer>();
  let turn = 0;
  let closed = false;
  let waiting: (() => void)[] = [];

  const wake = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };

  function settle(partition: number, next: bigint): boolean {
    const offer = offers.get(partition);
    offers.delete(partition);
    offer?.settle(next);
    return offer !== undefined;
  }

  return {
    offer(batch) {
      const first = batch.records[0]!.offset;
      if (closed) return Promise.resolve(first);
      settle(batch.partition, first);
      return new Promise((resolve) => {
        offers.set(batch.partition, { batch, at: 0, settle: resolve });
        wake();
      });
    },
    hasRecords(isWanted) {
      for (const [partition, { batch, at }] of offers) if (at < batch.records.length && isWanted(partition)) return true;
      return false;
    },
    take(limits, isWanted, recordsOf) {
      const wanted = [...offers.values()].filter(({ batch, at }) => at < batch.records.length && isWanted(batch.partition));
      const from = turn++ % Math.max(1, wanted.length);
      return takeRecords([...wanted.slice(from), ...wanted.slice(0, from)], limits, recordsOf);
    },
    finish(partition, next) {
      const offer = offers.get(partition);
      if (offer && next > offer.batch.records.at(-1)!.offset) settle(partition, next);
    },
    putBack(partition, next) {
      const offer = offers.get(partition);
      if (!offer) return;
      const at = offer.batch.records.findIndex(({ offset }) => offset >= next);
      const before = offer.at;
      offer.at = at < 0 ? offer.batch.records.length : at;
      if (offer.at < before) wake();
    },
    readAgain: settle,
    arrival: () => (closed ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    wake,
    *open() {
      for (const { batch } of offers.values()) yield batch;
    },
    close() {
      closed = true;
      for (const [partition, { batch }] of offers) settle(partition, batch.records[0]!.offset);
      wake();
      waiting = [];
    },
  };
}

function takeRecords(offers: Offer[], limits: IntakeLimits, recordsOf: (partition: number) => number): Map<number, LogRecord[]> {
  const taken = new Map<number, LogRecord[]>();
  let entries = 0;
  let bytes = 0;
  // Record by record over all partitions: a partition with much to do does not push the others out of a batch.
  for (let open = offers; open.length > 0; ) {
    open = open.filter((offer) => {
      const { partition, records } = offer.batch;
      const record = records[offer.at]!;
      const count = entriesIn(record.value);
      const own = taken.get(partition) ?? [];
      const fits = taken.size === 0 || (entries + count <= limits.entries && bytes + record.value.byteLength <= limits.bytes);
      if (!fits || own.length >= recordsOf(partition)) return false;
      taken.set(partition, own);
      own.push(record);
      entries += count;
      bytes += record.value.byteLength;
      return ++offer.at < records.length;
    });
  }
  return taken;
}
