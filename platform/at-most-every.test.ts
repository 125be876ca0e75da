import { expect, onTestFinished, test, vi } from "vitest";
import { atMostEvery } from "./at-most-every.ts";

test("the first call comes at once, those that follow within the time are one call after it, and none comes after the stop", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let calls = 0;
  const paced = atMostEvery(100, () => (calls += 1));
  for (let turn = 0; turn < 50; turn++) paced.call();
  expect(calls).toBe(1);
  vi.advanceTimersByTime(99);
  expect(calls).toBe(1);
  vi.advanceTimersByTime(1);
  expect(calls).toBe(2);
  vi.advanceTimersByTime(1_000);
  expect(calls).toBe(2);
  paced.call();
  paced.call();
  expect(calls).toBe(3);
  paced.stop();
  vi.advanceTimersByTime(1_000);
  expect(calls).toBe(3);
});
