/** Which keys of a cache belong to a mark. */
export interface KeyIndex {
  add(mark: string, key: string): void;
  remove(mark: string, key: string): void;
  get(mark: string): Iterable<string>;
}

/**
 * Nearly every mark has one key, which is kept without a set of its own: there are hundreds of
 * thousands.
 */
export function makeKeyIndex(): KeyIndex {
  const keysOf = new Map<string, string | Set<string>>();
  return {
    add(mark, key) {
      const keys = keysOf.get(mark);
      if (keys === undefined) keysOf.set(mark, key);
      else if (typeof keys !== "string") keys.add(key);
      else if (keys !== key) keysOf.set(mark, new Set([keys, key]));
    },
    remove(mark, key) {
      const keys = keysOf.get(mark);
      if (keys === key) keysOf.delete(mark);
      if (typeof keys !== "object") return;
      keys.delete(key);
      if (keys.size === 0) keysOf.delete(mark);
    },
    get(mark) {
      const keys = keysOf.get(mark);
      return keys === undefined ? [] : typeof keys === "string" ? [keys] : keys;
    },
  };
}
