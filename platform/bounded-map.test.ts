import { expect, it } from "vitest";
import { makeBoundedMap } from "./bounded-map.ts";

it("forgets what was made first when it is full, and nothing for a value that changes", () => {
  const map = makeBoundedMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("b", 3);
  expect([map.get("a"), map.get("b"), map.has("c")]).toEqual([1, 3, false]);
  map.set("c", 4);
  expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([undefined, 3, 4]);
  map.clear();
  expect([map.has("b"), map.has("c")]).toEqual([false, false]);
});
