import { describe, expect, it } from "vitest";
import { standStillOverSteps, watchClockSteps } from "./clock-steps.ts";

const HOUR = 3_600_000;

/** A clock that is moved by hand. */
function moved() {
  const at = { wall: 1_000_000_000, since: 0 };
  return {
    clock: { now: () => at.wall, monotonic: () => at.since },
    passes: (ms: number) => ((at.wall += ms), (at.since += ms)),
    isSet: (ms: number) => (at.wall += ms),
  };
}

describe("watchClockSteps", () => {
  it("tells each step once, in both directions, and nothing of time that passes", () => {
    const { clock, passes, isSet } = moved();
    const step = watchClockSteps(clock);
    passes(10 * HOUR);
    expect(step()).toBe(0);
    isSet(HOUR);
    passes(1_000);
    expect([step(), step()]).toEqual([HOUR, 0]);
    isSet(-HOUR);
    expect([step(), step()]).toEqual([-HOUR, 0]);
  });

  it("does not take a clock that is put right for one that is set", () => {
    const { clock, passes, isSet } = moved();
    const step = watchClockSteps(clock);
    const steps = Array.from({ length: 100 }, () => (passes(1_000), isSet(-500), step()));
    expect(new Set(steps)).toEqual(new Set([0]));
  });
});

describe("standStillOverSteps", () => {
  it("stands still for a lease after a step forward, then shows the wall's time", () => {
    const { clock, passes, isSet } = moved();
    const still = standStillOverSteps(clock, 45_000);
    passes(1_000);
    const before = still.now();
    isSet(HOUR);
    expect(still.now()).toBe(before);
    passes(44_999);
    expect(still.now()).toBe(before);
    passes(1);
    expect(still.now()).toBe(clock.now());
    passes(1_000);
    expect(still.now()).toBe(clock.now());
  });

  it("waits again for a second step, and not at all when the clock is put back", () => {
    const { clock, passes, isSet } = moved();
    const still = standStillOverSteps(clock, 45_000);
    const before = still.now();
    isSet(HOUR);
    still.now();
    passes(40_000);
    isSet(HOUR);
    still.now();
    passes(40_000);
    expect(still.now()).toBe(before);
    isSet(-HOUR);
    expect(still.now()).toBe(clock.now());
  });
});
