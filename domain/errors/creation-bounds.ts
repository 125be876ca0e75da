/**
 * How much public beacon keys can make newly for one service on one day (UTC); 0 is unlimited.
 * Each processor judges by what was committed, so several can exceed a bound by what they have in
 * flight.
 */
export interface CreationBounds {
  signatures: number;
  releases: number;
  environments: number;
}

/** The bounds, and the day that what is made newly now counts for, as `YYYY-MM-DD`. */
export interface CreationDay {
  bounds: CreationBounds;
  day: string;
}

/** Nothing is bounded. */
export const UNBOUNDED: CreationBounds = { signatures: 0, releases: 0, environments: 0 };

/** What remains of a bound after `made` of it. */
export function roomLeft(bound: number, made: number): number {
  return bound === 0 ? Number.POSITIVE_INFINITY : Math.max(0, bound - made);
}

/** `now` in milliseconds since the epoch. */
export function creationDay(bounds: CreationBounds, now: number): CreationDay {
  return { bounds, day: new Date(now).toISOString().slice(0, 10) };
}
