import { setImmediate, setTimeout } from "node:timers/promises";

/** So many keys are being loaded that another one has to wait for a later request. */
export class TooManyLoads extends Error {
  constructor() {
    super("too many keys are being looked up at this moment");
    this.name = "TooManyLoads";
  }
}

interface Options<V> {
  /** The values of these keys, at most `maxLoads` of them; keys without one are left out. */
  load(keys: readonly string[]): Promise<ReadonlyMap<string, V>>;
  /** Keys that are looked up at the same time. */
  maxLoads?: number;
}

const MAX_LOADS = 1_000;
/** A call of `load` comes no sooner than so many ms after the one before: at most 100 a second. */
const PAUSE_MS = 10;

/**
 * Looks values up by their keys, null for a key without one. However many keys are asked for, the calls of `load` are
 * bounded: calls for one key share its look-up, and what is asked for within some ms is looked up together. Rejects
 * as `load` does, or with TooManyLoads.
 */
export function makeLoadTogether<V>({ load, maxLoads = MAX_LOADS }: Options<V>): (key: string) => Promise<V | null> {
  const loading = new Map<string, Promise<V | null>>();
  let keys: string[] = [];
  let batch: Promise<ReadonlyMap<string, V>> | null = null;
  let startedAt = -PAUSE_MS;

  async function loadBatch(): Promise<ReadonlyMap<string, V>> {
    const pause = startedAt + PAUSE_MS - performance.now();
    // Without a pause, what one turn of the event loop asks for still goes together.
    await (pause > 0 ? setTimeout(pause) : setImmediate());
    const asked = keys;
    keys = [];
    batch = null;
    startedAt = performance.now();
    return load(asked);
  }

  return (key) => {
    const before = loading.get(key);
    if (before) return before;
    if (loading.size >= maxLoads) return Promise.reject(new TooManyLoads());
    keys.push(key);
    batch ??= loadBatch();
    const value = batch.then((values) => values.get(key) ?? null).finally(() => loading.delete(key));
    loading.set(key, value);
    return value;
  };
}
