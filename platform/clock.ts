/** The one source of time: tests move it, everything else reads it. */
export interface Clock {
  /** Milliseconds since the epoch, as the wall shows; may jump. */
  now(): number;
  /** Milliseconds that only ever grow, for durations, deadlines and leases of this process. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
