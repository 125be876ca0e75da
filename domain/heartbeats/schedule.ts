import { CronExpressionParser } from "cron-parser";
import type { ScheduleType } from "../../schemas/vocabulary.ts";

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

/** A stretch of time known to hold no occurrence but its end. */
interface Gap {
  from: number;
  next: number;
}

/** Reading an expression costs 0.3 ms and more, and each ping asks: the last answer of each expression is kept. */
const gaps = new Map<string, Gap>();
const GAPS_KEPT = 10_000;

/**
 * The first moment after `afterMs` at which a ping is expected, both in ms since the epoch.
 *
 * Cron and daylight saving: a time that the clocks skip counts right after the gap (02:30 becomes 03:30), a time
 * that they show twice counts the first time only; expressions that run every hour or oftener run in real hours.
 */
export function nextExpectedAt(schedule: Schedule, afterMs: number): number {
  if (schedule.scheduleType === "interval") return afterMs + schedule.intervalSeconds! * 1_000;
  const key = `${schedule.timezone} ${schedule.cron}`;
  const known = gaps.get(key);
  if (known && afterMs >= known.from && afterMs < known.next) return known.next;
  const next = occurrenceAfter(schedule.cron!, schedule.timezone, afterMs);
  if (gaps.size >= GAPS_KEPT) gaps.clear();
  gaps.set(key, { from: afterMs, next });
  return next;
}

function occurrenceAfter(cron: string, timezone: string, afterMs: number): number {
  return CronExpressionParser.parse(cron, { tz: timezone, currentDate: new Date(afterMs) }).next().getTime();
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

/** What is wrong with a cron expression as a sentence, or null. */
export function cronProblem(cron: string, timezone: string): string | null {
  const fields = cron.trim().split(/\s+/);
  if (!/^@\w+$/.test(cron.trim()) && fields.length !== 5 && fields.length !== 6) return "A cron expression has five fields (minute, hour, day, month, weekday), or six with seconds in front.";
  // The parser would put a random time in the place of an H, another one at each reading.
  if (fields.some((field) => /(^|[,/-])H/i.test(field) && !field.startsWith("@"))) return "H is not supported; write the time itself.";
  try {
    occurrenceAfter(cron, timezone, 0);
    return null;
  } catch (error) {
    return `This is no cron expression: ${error instanceof Error ? error.message : String(error)}.`;
  }
}
