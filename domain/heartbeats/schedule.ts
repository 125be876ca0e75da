import { CronDate, CronExpressionParser } from "cron-parser";
import type { ScheduleType } from "../../schemas/vocabulary.ts";
import { comesDueYearly } from "./cron-days.ts";

/** When a monitor expects its pings. */
export interface Schedule {
  scheduleType: ScheduleType;
  /** Set when the type is interval. */
  intervalSeconds: number | null;
  /** Set when the type is cron: five fields, six with seconds in front, or a name such as @daily. */
  cron: string | null;
  /** IANA name; cron times are wall-clock times there. */
  timezone: string;
}

/** `next` is the answer for each moment in [from, until). */
interface Gap {
  from: number;
  until: number;
  next: number;
}

/** Reading an expression and stepping it costs milliseconds where it is rare, and each ping asks: the last answers are kept, for a day at most. */
const gaps = new Map<string, Gap>();
const GAPS_KEPT = 10_000;
const DAY_MS = 86_400_000;
const GAPS_COMPARED = 3;
/** No zone moves its clocks by more at once, but for a few that crossed the date line. */
const LONGEST_SHIFT_MS = 3 * 3_600_000;

/**
 * The first moment after `afterMs` at which a ping is expected, both in ms since the epoch.
 *
 * Cron and daylight saving: a time that the clocks skip moves by the gap (02:30 becomes 03:30), unless a ping came
 * since the clocks were moved; where the gap is no full hour (Lord Howe Island) it is left out. A time that they
 * show twice counts the first time only. Expressions that run every hour or oftener run in real hours.
 */
export function nextExpectedAt(schedule: Schedule, afterMs: number): number {
  if (schedule.scheduleType === "interval") return afterMs + schedule.intervalSeconds! * 1_000;
  const cron = schedule.cron!;
  const key = `${schedule.timezone} ${cron}`;
  const known = gaps.get(key);
  if (known && afterMs >= known.from && afterMs < known.until) return known.next;
  const next = occurrenceAfter(cron, schedule.timezone, afterMs).getTime();
  if (gaps.size >= GAPS_KEPT) gaps.clear();
  gaps.set(key, { from: afterMs, until: offsetChange(afterMs, Math.min(next, afterMs + DAY_MS), schedule.timezone), next });
  return next;
}

/** The moment in (from, to] at which clocks are moved, else `to`: where an occurrence lies beyond, it depends on which side of that one asks. */
function offsetChange(from: number, to: number, timezone: string): number {
  const offsetAt = (ms: number) => new CronDate(new Date(ms), timezone).getUTCOffset();
  const offset = offsetAt(from);
  if (offsetAt(to) === offset) return to;
  let [before, after] = [from, to];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(middle) === offset) before = middle;
    else after = middle;
  }
  return after;
}

/** Turns are kept for a day each: finding one reads the expression several times, and each ok may ask. */
const turns = new Map<string, { turnMs: number; until: number }>();

/**
 * How long after one ping the next is expected as a rule, in ms. For cron the shortest of the gaps between the occurrences that
 * follow `atMs`: a schedule with a pause at night is judged by its days.
 */
export function turnMs({ scheduleType, intervalSeconds, cron, timezone }: Schedule, atMs: number): number {
  if (scheduleType === "interval") return intervalSeconds! * 1_000;
  const key = `${timezone} ${cron}`;
  const known = turns.get(key);
  if (known && atMs < known.until && atMs >= known.until - DAY_MS) return known.turnMs;
  let shortest = Number.POSITIVE_INFINITY;
  let before = occurrenceAfter(cron!, timezone, atMs).getTime();
  for (let gap = 0; gap < GAPS_COMPARED; gap++) {
    const next = occurrenceAfter(cron!, timezone, before).getTime();
    shortest = Math.min(shortest, next - before);
    before = next;
  }
  if (turns.size >= GAPS_KEPT) turns.clear();
  turns.set(key, { turnMs: shortest, until: atMs + DAY_MS });
  return shortest;
}

function occurrenceAfter(cron: string, timezone: string, afterMs: number): CronDate {
  const occurrences = CronExpressionParser.parse(cron, { tz: timezone, currentDate: new Date(afterMs) });
  let date = occurrences.next();
  // Started between the two showings of a time, the parser would give the second as well.
  if (!runsHourly(cron)) while (isShownAgain(date, timezone)) date = occurrences.next();
  return date;
}

/** Like cron itself: an hour field that begins with a star means real hours, not times of the day. */
function runsHourly(cron: string): boolean {
  const fields = cron.trim().split(/\s+/);
  return fields.length === 1 ? /^@(hourly|minutely|secondly)$/.test(fields[0]!) : fields.at(-4)!.startsWith("*");
}

/** True when the clocks were put back and show this wall-clock time for the second time. */
function isShownAgain(date: CronDate, timezone: string): boolean {
  const offsetAt = (ms: number) => new CronDate(new Date(ms), timezone).getUTCOffset();
  const putBackMinutes = offsetAt(date.getTime() - LONGEST_SHIFT_MS) - date.getUTCOffset();
  return putBackMinutes > 0 && offsetAt(date.getTime() - putBackMinutes * 60_000) - date.getUTCOffset() === putBackMinutes;
}

/** What is wrong with a time zone's name, or null. */
export function timezoneProblem(timezone: string): string | null {
  try {
    if (/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(timezone) && new Intl.DateTimeFormat("en", { timeZone: timezone })) return null;
  } catch {
    // Intl throws on names it does not know.
  }
  return `"${timezone}" is no time zone; use an IANA name such as UTC or Europe/Berlin.`;
}

/** What is wrong with a cron expression as a sentence, or null. One that leaves out a year is refused. */
export function cronProblem(cron: string): string | null {
  const fields = cron.trim().split(/\s+/);
  if (!/^@\w+$/.test(cron.trim()) && fields.length !== 5 && fields.length !== 6) return "A cron expression has five fields (minute, hour, day, month, weekday), or six with seconds in front.";
  // The parser would put a random time in the place of an H, another one at each reading.
  if (fields.some((field) => /(^|[,/-])H/i.test(field) && !field.startsWith("@"))) return "H is not supported; write the time itself.";
  try {
    const { fields: parsed } = CronExpressionParser.parse(cron);
    return comesDueYearly(parsed) ? null : "This schedule does not come due in every year (at least once in 366 days).";
  } catch (error) {
    return `This is no cron expression: ${(error instanceof Error ? error.message : String(error)).replace(/\.+$/, "")}.`;
  }
}
