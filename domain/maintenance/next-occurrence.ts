// Node sees only the default export of this CommonJS package, whatever its types and the linter say.
// oxlint-disable-next-line import/default
import rrule from "rrule";
import { momentOf, wallOf } from "../../platform/wall-time.ts";

// oxlint-disable-next-line import/no-named-as-default-member
const { RRule } = rrule;

const DAY_MS = 86_400_000;

interface Occurrence {
  startsAt: Date;
  endsAt: Date;
  /** For the occurrences after it: a COUNT has become one less. */
  rrule: string;
}

/**
 * The occurrence of a recurring window after the one from `startsAt` to `endsAt`, first of those that end after `now`; null when the rule has none.
 * It starts at the same time of day in the organization's `timezone` (IANA name), whatever the clocks do, and lasts as long. A time that the clocks
 * skip moves by the gap; one that they show twice is the first.
 */
export function nextOccurrence({ startsAt, endsAt, rrule: rule }: Occurrence, timezone: string, now: Date): Occurrence | null {
  const { count, ...options } = RRule.parseString(rule);
  const until = options.until ? { until: isDate(rule) ? new Date(options.until.getTime() + DAY_MS - 1) : wallOf(options.until, timezone) } : {};
  const series = new RRule({ ...options, ...until, dtstart: wallOf(startsAt, timezone) });
  const lasts = endsAt.getTime() - startsAt.getTime();
  let left = count ?? null;
  for (let wall = series.after(series.options.dtstart); wall !== null; wall = series.after(wall)) {
    if (left !== null && --left <= 0) return null;
    const start = momentOf(wall, timezone);
    // Those that went by while nothing ran are left out.
    if (start.getTime() + lasts > now.getTime()) return { startsAt: start, endsAt: new Date(start.getTime() + lasts), rrule: left === null ? rule : rule.replace(/COUNT=\d+/, `COUNT=${left}`) };
  }
  return null;
}

/** An UNTIL without a time means the whole day, by the clocks of the place. */
function isDate(rule: string): boolean {
  return /UNTIL=\d{8}(?:;|$)/.test(rule);
}
