import { setImmediate, setTimeout } from "node:timers/promises";

/** So many keys are being loaded that another one has to wait for a later request. */
export class TooManyLoads extends Error {
  constructor() {
    super("too many keys are being looked up at this moment");
    this.name = "TooManyLoads";
  }
}

export interface LoadTogether<V> {
  /** The value of a key, null when it has none. Rejects as the source does, or with TooManyLoads. */
  load(key: string): Promise<V | null>;
  /** Whether the key is being looked up: `load` then costs nothing more. */
  isLoading(key: string): boolean;
}

interface Options<V> {
  /** The values of these keys, at most `maxLoads` of them; keys without one are left out. */
  load(keys: readonly string[]): Promise<ReadonlyMap<string, V>>;
  /** Keys that are looked up at the same time. */
  maxLoads?: number;
  /** Never gives a value that was read before it was asked for: a key that is asked for while its look-up runs is looked up again. */
  fresh?: boolean;
  /** A call of `load` comes no sooner than so many ms after the one before: 10 gives 100 a second. */
  pauseMs?: number;
}

const MAX_LOADS = 1_000;
const PAUSE_MS = 10;

/**
 * Looks values up by their keys. However many keys are asked for, the calls of `load` are bounded: those who ask for one key
 * share its look-up, and what is asked for within some ms is looked up together.
 */
export function makeLoadTogether<V>({ load, maxLoads = MAX_LOADS, fresh = false, pauseMs = PAUSE_MS }: Options<V>): LoadTogether<V> {
  /** What may still be joined. */
  const loading = new Map<string, Promise<V | null>>();
  /** Keys of look-ups that have begun and may not be joined. */
  let begun = 0;
  let keys: string[] = [];
  let batch: Promise<ReadonlyMap<string, V>> | null = null;
  let startedAt = -pauseMs;

  async function loadBatch(): Promise<ReadonlyMap<string, V>> {
    const pause = startedAt + pauseMs - performance.now();
    // Without a pause, what one turn of the event loop asks for still goes together.
    await (pause > 0 ? setTimeout(pause) : setImmediate());
    const asked = keys;
    keys = [];
    batch = null;
    startedAt = performance.now();
    if (!fresh) return load(asked);
    for (const key of asked) loading.delete(key);
    begun += asked.length;
    return load(asked).finally(() => {
      begun -= asked.length;
    });
  }

  return {
    isLoading: (key) => loading.has(key),
    load(key) {
      const before = loading.get(key);
      if (before) return before;
      if (loading.size + begun >= maxLoads) return Promise.reject(new TooManyLoads());
      keys.push(key);
      batch ??= loadBatch();
      const value: Promise<V | null> = batch
        .then((values) => values.get(key) ?? null)
        .finally(() => {
          if (loading.get(key) === value) loading.delete(key);
        });
      loading.set(key, value);
      return value;
    },
  };
}
