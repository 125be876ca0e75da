/** How much farther apart batches are of rows that only charts and lists of the past are made of. */
export const HISTORY_TIMES = 5;

/** How far apart batches begin. */
export interface BatchPace {
  /** A batch of so many events was made. */
  note(count: number): void;
  /** Ms from the begin of a batch to that of the next one. */
  pauseMs(): number;
}

interface PaceNeeds {
  /** Batches are never closer. */
  everyMs: number;
  /** Batches are so far apart while few events come. */
  quietMs: number;
  /** Milliseconds that never go back. */
  now(): number;
}

/** An insert costs ClickHouse 30 ms of CPU whatever is in it; with so many events it is worth that. */
const WORTH_EVENTS = 100;
/** The rate is that of about so many ms. */
const MEMORY_MS = 3_000;

/**
 * Batches far apart while few events come, and close to each other when there are enough for each. The first event after a
 * silence never waits, because the last batch is long ago; those right after it do, and share a batch.
 */
export function makeBatchPace({ everyMs, quietMs, now }: PaceNeeds): BatchPace {
  /** Events a ms. */
  let rate = 0;
  let notedAt = now();
  return {
    note(count) {
      const at = now();
      rate = rate * Math.exp((notedAt - at) / MEMORY_MS) + count / MEMORY_MS;
      notedAt = at;
    },
    pauseMs: () => Math.max(everyMs, Math.min(quietMs, WORTH_EVENTS / rate)),
  };
}
