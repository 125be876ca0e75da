import { expect, test } from "vitest";
import { retryWaitMs } from "./send-map.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

test.each([
  [1, null, 0, 250],
  [1, null, 1, 500],
  [4, null, 0, 2_000],
  [4, null, 1, 4_000],
  [1, "0", 0, 0],
  [1, "7", 0, 7_000],
  [1, "7", 1, 7_250],
  [1, "Thu, 01 Jan 2026 00:00:09 GMT", 0, 9_000],
  [1, "Wed, 31 Dec 2025 23:00:00 GMT", 0, 0],
  [2, "soon", 0, 500],
  [1, "120", 0, 120_000],
  [1, "3600", 0, null],
])("after try %i, told %j, with chance %d it waits %j ms", (attempt, retryAfter, random, wait) => {
  expect(retryWaitMs(attempt, retryAfter, { now, random })).toBe(wait);
});
