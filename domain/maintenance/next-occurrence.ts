import { momentOf, wallOf } from "../../platform/wall-time.ts";
import { daysOfRule } from "./days-of-rule.ts";
import { readRule, type Rule } from "./rule.ts";

const DAY_MS = 86_400_000;

/** Clocks differ from UTC by less than a day, and what they skip is less than another. */
const MOST_OFFSET_MS = 2 * DAY_MS;

interface Occurrence {
  startsAt: Date;
  endsAt: Date;
  /** For the occurrences after it: a COUNT has become one less. */
  rrule: string;
}

/**
 * The occurrence of a recurring window after the one from `startsAt` to `endsAt`, first of those that end
 * after `now`; null when the rule has none, or none that starts until `latest`. It starts at the same time
 * of day in the organization's `timezone` (IANA name), whatever the clocks do, and lasts as long. A time
 * that the clocks skip moves by the gap; one that they show twice is the first.
 */
export function nextOccurrence({ startsAt, endsAt, rrule: text }: Occurrence, timezone: string, now: Date, latest?: Date): Occurrence | null {
  const rule = readRule(text);
  const wall = wallOf(startsAt, timezone).getTime();
  const start = dayOf(wall);
  const until = lastWall(rule, timezone);
  const lasts = endsAt.getTime() - startsAt.getTime();
  // Of those that are over for sure nothing is asked but how many there were, if the rule counts them.
  const over = dayOf(now.getTime() - lasts - MOST_OFFSET_MS);
  let left = rule.count;
  const from = left === null ? Math.max(start + 1, over) : start + 1;
  const to = latest ? dayOf(latest.getTime() + MOST_OFFSET_MS) : Infinity;
  for (const day of daysOfRule(rule, start, { from, to })) {
    const at = day * DAY_MS + (wall - start * DAY_MS);
    if (at > until) return null;
    if (left !== null && --left <= 0) return null;
    if (day < over) continue;
    const moment = momentOf(new Date(at), timezone);
    if (latest && moment > latest) return null;
    const end = new Date(moment.getTime() + lasts);
    // Those that went by while nothing ran are left out.
    if (end <= now) continue;
    return { startsAt: moment, endsAt: end, rrule: left === null ? text : text.replace(/COUNT=\d+/, `COUNT=${left}`) };
  }
  return null;
}

/** What the clocks show when the rule ends; an UNTIL without a time means the whole day, by the clocks of the place. */
function lastWall({ until }: Rule, timezone: string): number {
  if (until === null) return Infinity;
  return until.isDate ? until.at.getTime() : wallOf(until.at, timezone).getTime();
}

function dayOf(wall: number): number {
  return Math.floor(wall / DAY_MS);
}
