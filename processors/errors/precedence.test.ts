import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { makePrecedence } from "./precedence.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it("lets the second go at once while the first has nothing to read", async () => {
  await makePrecedence().turn();
});

it("lets the second wait until the first has read all partitions, and no longer than two seconds", async () => {
  const precedence = makePrecedence();
  precedence.note(0, true);
  precedence.note(1, true);
  let turns = 0;
  const take = () => void precedence.turn().then(() => (turns += 1));
  take();
  precedence.note(0, false);
  await vi.advanceTimersByTimeAsync(100);
  expect(turns).toBe(0);
  precedence.note(1, false);
  await vi.advanceTimersByTimeAsync(0);
  expect(turns).toBe(1);

  precedence.note(0, true);
  take();
  await vi.advanceTimersByTimeAsync(1_999);
  expect(turns).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(turns).toBe(2);
  precedence.note(0, false);
  await precedence.turn();
});
