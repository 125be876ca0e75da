import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { nextDueAt } from "./next-due.ts";

const NOW = Date.UTC(2026, 2, 29, 1, 0, 0);

test("is after now, within an interval, and on one grid whenever it is asked for", () => {
  for (const interval of [30_000, 60_000, 86_400_000]) {
    const id = randomUUID();
    const due = nextDueAt(id, interval, NOW);
    expect(due).toBeGreaterThan(NOW);
    expect(due - NOW).toBeLessThanOrEqual(interval);
    expect(nextDueAt(id, interval, due)).toBe(due + interval);
    expect(nextDueAt(id, interval, due - 1)).toBe(due);
    expect((nextDueAt(id, interval, due + 10 * interval + 123) - due) % interval).toBe(0);
  }
});

test("spreads monitors over the interval", () => {
  const seconds = Array.from({ length: 60 }, () => 0);
  for (let n = 0; n < 6_000; n++) seconds[Math.floor((nextDueAt(randomUUID(), 60_000, NOW) - NOW - 1) / 1_000)]!++;
  expect(Math.min(...seconds)).toBeGreaterThan(50);
  expect(Math.max(...seconds)).toBeLessThan(160);
});
