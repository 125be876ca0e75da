import { expect, test } from "vitest";
import { newId } from "../../platform/ids.ts";
import { makeSeenFilter } from "./seen-filter.ts";

const HOUR = 3_600_000;
const noon = Date.UTC(2026, 0, 1, 12);

test("an id that was added is perhaps seen for an hour, whatever its case", () => {
  const filter = makeSeenFilter();
  const id = newId();
  filter.add(id, noon);
  expect(filter.perhapsSeen(id, noon)).toBe(true);
  expect(filter.perhapsSeen(id.toUpperCase(), noon + HOUR - 1)).toBe(true);
  expect(filter.perhapsSeen(id, noon + 2 * HOUR)).toBe(false);
});

test("few ids that were never added are perhaps seen", () => {
  const filter = makeSeenFilter();
  for (let number = 0; number < 100_000; number++) filter.add(newId(), noon);
  let wrong = 0;
  for (let number = 0; number < 20_000; number++) if (filter.perhapsSeen(newId(), noon)) wrong += 1;
  expect(wrong).toBeLessThan(20);
});
