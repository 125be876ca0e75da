const PHASES = ["dns", "connect", "tls", "first_byte", "body"] as const;
export type Phase = (typeof PHASES)[number];

/** Tells how long each phase of a request took, added up over those that follow each other. */
export interface Stopwatch {
  /** Ends the phase before. */
  enter(phase: Phase): void;
  stop(): void;
  /** The last that was entered. */
  phase(): Phase;
  /** Whole milliseconds; null for a phase that was not reached. */
  took(phase: Phase): number | null;
  /** Whole milliseconds since it was made, or until it was last stopped. */
  total(): number;
}

export function makeStopwatch(): Stopwatch {
  const began = performance.now();
  const spent = new Map<Phase, number>();
  let current: { phase: Phase; since: number } | null = null;
  let last: Phase = "dns";
  let end: number | null = null;

  function stop(): void {
    end = performance.now();
    if (current) spent.set(current.phase, (spent.get(current.phase) ?? 0) + end - current.since);
    current = null;
  }

  return {
    enter(phase) {
      stop();
      end = null;
      last = phase;
      current = { phase, since: performance.now() };
      if (!spent.has(phase)) spent.set(phase, 0);
    },
    stop,
    phase: () => last,
    took: (phase) => (spent.has(phase) ? Math.round(spent.get(phase)!) : null),
    total: () => Math.round((end ?? performance.now()) - began),
  };
}
