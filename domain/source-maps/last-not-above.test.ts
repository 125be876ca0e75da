import * as fc from "fast-check";
import { expect, it } from "vitest";
import { lastNotAbove } from "./last-not-above.ts";

it("finds the last value that is not above the wanted one, however the values are spread", () => {
  const evenly = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 400 });
  const steeply = fc.array(fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 2 ** 22 })), { maxLength: 400 });
  fc.assert(
    fc.property(fc.oneof(evenly, steeply), fc.integer({ min: -5, max: 5 }), fc.nat(10), fc.nat(10), fc.double({ min: -0.1, max: 1.1, noNaN: true }), (steps, first, before, after, share) => {
      let sum = first;
      const values = Int32Array.from(steps, (step) => (sum += step));
      const low = Math.min(before, values.length);
      const high = Math.max(values.length - after, low);
      const wanted = Math.round(first + (sum - first) * share);
      let last = low - 1;
      while (last + 1 < high && values[last + 1]! <= wanted) last++;
      expect(lastNotAbove(values, wanted, low, high)).toBe(last);
    }),
    { numRuns: 500 },
  );
  expect(lastNotAbove(Int32Array.of(1, 1, 1), 1, 0, 3)).toBe(2);
  expect(lastNotAbove(Int32Array.of(1, 2), Number.NaN, 0, 2)).toBe(-1);
  expect(lastNotAbove(Int32Array.of(1, 2), Number.POSITIVE_INFINITY, 0, 2)).toBe(1);
});
