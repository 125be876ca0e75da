import { expect, it } from "vitest";
import { makeBatchPace } from "./batch-pace.ts";

/** The pause after so many seconds of batches with `count` events each, `everyMs` apart. */
function pauseAfter(steps: readonly { seconds: number; apartMs: number; count: number }[], quietMs = 1_000): number {
  let now = 0;
  const pace = makeBatchPace({ everyMs: 200, quietMs, now: () => now });
  for (const { seconds, apartMs, count } of steps) {
    for (const end = now + seconds * 1_000; now < end; now += apartMs) pace.note(count);
  }
  return Math.round(pace.pauseMs());
}

it.each([
  ["nothing ever came", [], 1_000],
  ["four events a second", [{ seconds: 30, apartMs: 1_000, count: 4 }], 1_000],
  ["a hundred a second", [{ seconds: 30, apartMs: 1_000, count: 100 }], 850],
  ["two hundred a second", [{ seconds: 30, apartMs: 500, count: 100 }], 460],
  ["ten thousand a second", [{ seconds: 30, apartMs: 200, count: 2_000 }], 200],
  ["one batch of a burst after silence", [{ seconds: 30, apartMs: 1_000, count: 1 }, { seconds: 0.2, apartMs: 200, count: 3_000 }], 200],
  ["a flood that ended fifteen seconds ago", [{ seconds: 30, apartMs: 200, count: 2_000 }, { seconds: 15, apartMs: 1_000, count: 4 }], 1_000],
])("after %s batches are a fitting time apart", (_name, steps, wanted) => {
  expect(pauseAfter(steps)).toBeGreaterThanOrEqual(wanted * 0.95);
  expect(pauseAfter(steps)).toBeLessThanOrEqual(wanted * 1.05);
});

it("is the same at all times where nothing is to be saved", () => {
  expect(pauseAfter([], 0)).toBe(200);
  expect(pauseAfter([{ seconds: 30, apartMs: 1_000, count: 4 }], 0)).toBe(200);
});
