/** A map that holds so many entries at most. */
export interface BoundedMap<Key, Value> {
  get(key: Key): Value | undefined;
  has(key: Key): boolean;
  /** Forgets the entry that was made first when there is no room for a new one. */
  set(key: Key, value: Value): void;
  clear(): void;
}

/** An empty one. It takes memory for what it holds, where `lru-cache` takes it for all that it may hold. */
export function makeBoundedMap<Key, Value>(most: number): BoundedMap<Key, Value> {
  const entries = new Map<Key, Value>();
  return {
    get: (key) => entries.get(key),
    has: (key) => entries.has(key),
    set(key, value) {
      if (entries.size >= most && !entries.has(key)) entries.delete(entries.keys().next().value!);
      entries.set(key, value);
    },
    clear: () => entries.clear(),
  };
}
