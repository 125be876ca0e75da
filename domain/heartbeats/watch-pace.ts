import { turnMs, type Schedule } from "./schedule.ts";

/** So many oks within a third of a turn are too many; fewer are a run by hand beside the planned one. */
const TOO_MANY = 3;
const SHARE_OF_TURN = 3;

/** The last oks with the one at `at`, oldest first. */
export function withOk(oks: readonly number[], at: number): number[] {
  // After a step of the clock the moments before it measure nothing.
  return [...oks.filter((each) => each <= at), at].slice(-TOO_MANY);
}

/** A sentence when the oks come much oftener than the schedule expects, else null. */
export function paceWarning(schedule: Schedule, oks: readonly number[]): string | null {
  if (oks.length < TOO_MANY) return null;
  const [first, last] = [oks[0]!, oks.at(-1)!];
  const turn = turnMs(schedule, last);
  if ((last - first) * SHARE_OF_TURN >= turn) return null;
  const every = Math.round((last - first) / (TOO_MANY - 1) / 1_000);
  return `Pings come ${every < 1 ? "oftener than once a second" : `every ${every} s`}; a ping is expected every ${Math.round(turn / 1_000)} s: check the job's schedule.`;
}
