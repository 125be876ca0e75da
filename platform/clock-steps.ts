import type { Clock } from "./clock.ts";

/** The wall clock is put right little by little all the time; from here on it was set, or the process stood still (a sleeping machine looks the same). */
const STEP_MS = 10_000;

/** Gives at each call by how many ms the wall clock was set since the last one: forward, back (negative), or 0 when it only went on. */
export function watchClockSteps(clock: Clock): () => number {
  let offset = clock.now() - clock.monotonic();
  return () => {
    const before = offset;
    offset = clock.now() - clock.monotonic();
    const step = offset - before;
    return Math.abs(step) < STEP_MS ? 0 : step;
  };
}

/**
 * A clock for claims with leases of `leaseMs`. When the wall is set forward it stands still for so long: every lease taken before has then
 * ended by the time that passed, not by the step, so no two hold one row.
 */
export function standStillOverSteps(clock: Clock, leaseMs: number): Clock {
  const step = watchClockSteps(clock);
  let last = clock.now();
  let until: number | null = null;
  return {
    monotonic: clock.monotonic,
    now() {
      const stepped = step();
      if (stepped > 0) until = clock.monotonic() + leaseMs;
      if (stepped < 0) until = null;
      if (until !== null && clock.monotonic() < until) return last;
      until = null;
      last = clock.now();
      return last;
    },
  };
}
