import { LRUCache } from "lru-cache";

/** The same function, which does not do its work again for a text that it was given lately; `most` texts are remembered. For pure functions only. */
export function remember<Result extends string | boolean>(make: (text: string) => Result, most: number): (text: string) => Result {
  const made = new LRUCache<string, Result>({ max: most });
  return (text) => {
    const known = made.get(text);
    if (known !== undefined) return known;
    const result = make(text);
    made.set(text, result);
    return result;
  };
}
