import type { Clock } from "../platform/clock.ts";

export interface FreshCache<V> {
  /** The value; null when it is known to be absent; undefined when it has to be loaded. Never waits. */
  peek(key: string): V | null | undefined;
  /** The value from the cache or by loading; simultaneous calls for a key load once. Rejects as `load` does. */
  get(key: string): Promise<V | null>;
  evictWhere(matches: (value: V) => boolean): void;
}

interface Options<V> {
  clock: Clock;
  /** Entries kept; those loaded longest ago go first. */
  capacity: number;
  /** An entry older than this is loaded anew in the background while the old one still serves. */
  refreshAfterMs: number;
  /** How long an absence is remembered; 0: never. */
  absentForMs: number;
  load(key: string): Promise<V | null>;
}

interface Entry<V> {
  value: V | null;
  loadedAt: number;
}

/** A bounded cache that goes on serving what it knows while its source is away. */
export function makeFreshCache<V>({ clock, capacity, refreshAfterMs, absentForMs, load }: Options<V>): FreshCache<V> {
  const entries = new Map<string, Entry<V>>();
  const loading = new Map<string, Promise<V | null>>();
  /** Grows with each eviction: a load that began before one must not put an old value back. */
  let evictions = 0;

  function peek(key: string): V | null | undefined {
    const entry = entries.get(key);
    if (!entry) return undefined;
    const age = clock.monotonic() - entry.loadedAt;
    if (entry.value === null && age > absentForMs) {
      entries.delete(key);
      return undefined;
    }
    if (age > refreshAfterMs && !loading.has(key)) {
      // Failing to refresh keeps the old value: the source being away must not lock known senders out.
      reload(key).catch(() => {});
    }
    return entry.value;
  }

  function reload(key: string): Promise<V | null> {
    const evictionsBefore = evictions;
    const promise = load(key)
      .then((value) => {
        if (evictions === evictionsBefore) store(key, value);
        return value;
      })
      .finally(() => loading.delete(key));
    loading.set(key, promise);
    return promise;
  }

  function store(key: string, value: V | null): void {
    entries.delete(key);
    if (value === null && absentForMs === 0) return;
    entries.set(key, { value, loadedAt: clock.monotonic() });
    if (entries.size > capacity) entries.delete(entries.keys().next().value!);
  }

  return {
    peek,
    get: (key) => {
      const known = peek(key);
      return known !== undefined ? Promise.resolve(known) : (loading.get(key) ?? reload(key));
    },
    evictWhere(matches) {
      evictions += 1;
      for (const [key, { value }] of entries) if (value !== null && matches(value)) entries.delete(key);
    },
  };
}
