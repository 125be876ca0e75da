import { expect, it } from "vitest";
import { makeBoundedMap } from "./bounded-map.ts";

it("keeps a new value of what it holds", () => {
  const map = makeBoundedMap<string, number>(4);
  map.set("a", 1);
  map.set("a", 2);
  expect([map.get("a"), map.has("b")]).toEqual([2, false]);
});

it("keeps what was used last, and forgets the rest when it is full", () => {
  const map = makeBoundedMap<number, number>(10);
  for (let key = 0; key < 1_000; key++) {
    map.set(key, key);
    // Asked for again and again, it is never forgotten.
    expect(map.get(0)).toBe(0);
  }
  // The newest first: asking is using, and what is used pushes others out.
  for (const last of [999, 998, 997, 996, 0]) expect(map.has(last)).toBe(true);
  expect([...Array(1_000).keys()].filter((key) => map.has(key)).length).toBeLessThanOrEqual(10);
});

it("is empty after it was cleared, in both halves", () => {
  const map = makeBoundedMap<number, number>(4);
  for (const key of [1, 2, 3, 4]) map.set(key, key);
  map.clear();
  expect([1, 2, 3, 4].filter((key) => map.has(key))).toEqual([]);
});
