import { answerWithin } from "../platform/answer-within.ts";
import type { Clock } from "../platform/clock.ts";
import { makeLoadTogether } from "../platform/load-together.ts";
import { makeKeyIndex } from "./key-index.ts";

/**
 * A bounded cache that goes on serving what it knows while its source is away (stale while
 * revalidating).
 */
export interface RevalidatingCache<V> {
  /**
   * The value; null when it is known to be absent; undefined when it has to be loaded. Never waits.
   */
  peek(key: string): V | null | undefined;
  /**
   * The value from the cache or by loading, together with others that are asked for at the same time. Rejects as
   * `load` does, or with `TooManyLoads`.
   */
  get(key: string): Promise<V | null>;
  /** Whether the key is being loaded: `get` then costs nothing more. */
  isLoading(key: string): boolean;
  /**
   * Reads the entries again whose value has one of these marks. The old values serve until the new
   * ones are read. A reading that fails is tried again by each later call, also by one without
   * marks.
   */
  revalidate(marks: Iterable<string>): void;
}

interface Options<V> {
  clock: Clock;
  /** Entries kept; those loaded longest ago go first. */
  capacity: number;
  /** An entry older than this is loaded anew in the background while the old one still serves. */
  revalidateAfterMs: number;
  /** How long an absence is remembered; 0: never. */
  absentForMs: number;
  /**
   * What a change of the value is told by: its id, and ids of others that it holds something of.
   */
  marksOf(value: V): readonly string[];
  /** The values of these keys; keys without one are left out. */
  load(keys: readonly string[]): Promise<ReadonlyMap<string, V>>;
  /** Limits that only tests change. */
  maxAbsences?: number;
  maxLoads?: number;
  reloadMs?: number;
}

interface Entry<V> {
  value: V;
  loadedAt: number;
}

/**
 * Absences have a map of their own: keys that somebody makes up must not push out those that exist.
 */
const MAX_ABSENCES = 10_000;
/** Keys of one statement when entries are read again. */
const BATCH_KEYS = 500;
/**
 * A reading that takes longer is given up: its connection may have died without a word, and the
 * next one takes another.
 */
const RELOAD_MS = 2_000;
/**
 * After a reading that failed, the next one comes no sooner, unless a call of `revalidate` asks for
 * it.
 */
const PAUSE_MS = 1_000;

export function makeRevalidatingCache<V>(options: Options<V>): RevalidatingCache<V> {
  const { clock, capacity, revalidateAfterMs, absentForMs, marksOf, load, maxAbsences = MAX_ABSENCES, maxLoads, reloadMs = RELOAD_MS } = options;
  const entries = new Map<string, Entry<V>>();
  /** The monotonic ms until which an absence counts. */
  const absences = new Map<string, number>();
  const keysOf = makeKeyIndex();
  const loads = makeLoadTogether({ load: loadThese, ...(maxLoads !== undefined && { maxLoads }) });
  /** Keys of entries that are to be read again. */
  const stale = new Set<string>();
  let reading = false;
  let pausedUntil = 0;
  /** Grows with each change that is heard of. */
  let changes = 0;

  function peek(key: string): V | null | undefined {
    const entry = entries.get(key);
    if (entry === undefined) return peekAbsence(key);
    if (clock.monotonic() - entry.loadedAt > revalidateAfterMs) {
      stale.add(key);
      startReading();
    }
    return entry.value;
  }

  function peekAbsence(key: string): null | undefined {
    const until = absences.get(key);
    if (until === undefined) return undefined;
    if (clock.monotonic() <= until) return null;
    absences.delete(key);
    return undefined;
  }

  async function loadThese(keys: readonly string[]): Promise<ReadonlyMap<string, V>> {
    const changesBefore = changes;
    const values = await load(keys);
    for (const key of keys) store(key, values.get(key) ?? null);
    // A change may be of one of these, and the reading may have begun before it.
    if (changes !== changesBefore) {
      for (const key of values.keys()) stale.add(key);
      startReading();
    }
    return values;
  }

  function store(key: string, value: V | null): void {
    remove(key);
    if (value === null) {
      if (absentForMs === 0) return;
      absences.set(key, clock.monotonic() + absentForMs);
      if (absences.size > maxAbsences) absences.delete(absences.keys().next().value!);
      return;
    }
    absences.delete(key);
    entries.set(key, { value, loadedAt: clock.monotonic() });
    for (const mark of marksOf(value)) keysOf.add(mark, key);
    if (entries.size > capacity) remove(entries.keys().next().value!);
  }

  function remove(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    for (const mark of marksOf(entry.value)) keysOf.remove(mark, key);
  }

  function startReading(): void {
    if (reading || stale.size === 0 || clock.monotonic() < pausedUntil) return;
    reading = true;
    void readStale().finally(() => (reading = false));
  }

  /** Never rejects: the source being away must not lock known senders out. */
  async function readStale(): Promise<void> {
    // What one turn of the event loop finds stale is read together.
    await new Promise((resolve) => setImmediate(resolve));
    while (stale.size > 0) {
      const keys = takeStale();
      try {
        const values = await answerWithin(reloadMs, "the source of a cache", load(keys));
        for (const key of keys) if (entries.has(key)) store(key, values.get(key) ?? null);
      } catch {
        for (const key of keys) stale.add(key);
        pausedUntil = clock.monotonic() + PAUSE_MS;
        return;
      }
    }
  }

  function takeStale(): string[] {
    const keys: string[] = [];
    for (const key of stale) {
      stale.delete(key);
      const entry = entries.get(key);
      if (entry === undefined) continue;
      // Whoever looks at it meanwhile must not find it old once more.
      entry.loadedAt = clock.monotonic();
      keys.push(key);
      if (keys.length === BATCH_KEYS) break;
    }
    return keys;
  }

  return {
    peek,
    get(key) {
      const known = peek(key);
      return known === undefined ? loads.load(key) : Promise.resolve(known);
    },
    isLoading: (key) => loads.isLoading(key),
    revalidate(marks) {
      let changed = false;
      for (const mark of marks) {
        changed = true;
        for (const key of keysOf.get(mark)) stale.add(key);
      }
      if (changed) changes += 1;
      pausedUntil = 0;
      startReading();
    },
  };
}
