import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { spare } from "./spare.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("acts at once, and once more at the end of the pause for all calls within it", () => {
  const acted: string[] = [];
  const call = spare((key: string) => acted.push(key), 250);
  call("a");
  expect(acted).toEqual(["a"]);
  for (let n = 0; n < 100; n++) call("a");
  call("b");
  expect(acted).toEqual(["a", "b"]);
  vi.advanceTimersByTime(250);
  expect(acted).toEqual(["a", "b", "a"]);
  vi.advanceTimersByTime(1_000);
  expect(acted).toEqual(["a", "b", "a"]);
  call("a");
  expect(acted).toEqual(["a", "b", "a", "a"]);
  expect(vi.getTimerCount()).toBe(1);
});
