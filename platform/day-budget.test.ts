import { expect, test } from "vitest";
import { makeDayBudget } from "./day-budget.ts";

test("a day's budget is each owner's own, and is there again on the next day", () => {
  let now = Date.parse("2026-03-01T23:59:30.500Z");
  const budget = makeDayBudget({ clock: { now: () => now, monotonic: () => now } });
  expect([budget.take("a", 1, 3), budget.take("a", 5, 3), budget.take("a", 1, 3), budget.take("b", 1, 3)]).toEqual([null, null, 30, null]);
  now += 30_000;
  expect(budget.take("a", 1, 3)).toBeNull();
});
