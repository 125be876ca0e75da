/** A map that holds so many entries at most. */
export interface BoundedMap<Key, Value> {
  get(key: Key): Value | undefined;
  has(key: Key): boolean;
  /** When there is no room for a new entry, forgets those that were not used lately. */
  set(key: Key, value: Value): void;
  clear(): void;
}

/**
 * An empty map that holds at most `most` entries, and always those `most / 2` that were used last: read or written.
 * It takes memory for what it holds, where `lru-cache` takes it for all that it may hold.
 *
 * It has two halves. When the newer one is full, it becomes the older one, whose entries are forgotten at once.
 * Deleting a Map's first entry for each new one would take 10 µs: V8 walks over all that was deleted before.
 */
export function makeBoundedMap<Key, Value>(most: number): BoundedMap<Key, Value> {
  const half = Math.ceil(most / 2);
  let newer = new Map<Key, Value>();
  let older = new Map<Key, Value>();

  function set(key: Key, value: Value): void {
    if (newer.size >= half && !newer.has(key)) [older, newer] = [newer, new Map()];
    newer.set(key, value);
  }

  function get(key: Key): Value | undefined {
    const value = newer.get(key);
    if (value !== undefined) return value;
    const before = older.get(key);
    if (before !== undefined) set(key, before);
    return before;
  }

  return {
    get,
    has: (key) => get(key) !== undefined,
    set,
    clear() {
      newer = new Map();
      older = new Map();
    },
  };
}
