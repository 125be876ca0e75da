import type { Rule } from "./rule.ts";

const DAY_MS = 86_400_000;

/**
 * How far is looked, so that a rule that does not happen costs little: the Gregorian calendar repeats
 * after 400 years, weekdays included. With an INTERVAL a rule may take longer; no window needs that.
 */
const LOOKED_AT_DAYS = 146_097;

/** Where years have four digits. */
const LAST_DAY = Date.UTC(9999, 11, 31) / DAY_MS;

interface Span {
  first: number;
  length: number;
}

interface Bounds {
  /** Days before it are left out, and not gone through. */
  from?: number;
  /** Nothing is looked for after it. */
  to?: number;
}

/**
 * The days of a rule that begins on the day `start`, in order; that one only if the rule names it.
 * Days are counted from the first of January 1970, months from that January; COUNT and UNTIL are the
 * caller's. A package for rules takes microseconds a day and counts from the start again for each
 * question: a window begun years ago, or a rule that never happens, would hold up everything else.
 * This goes to the period of `from` at once, and once through those after it.
 */
export function* daysOfRule(given: Rule, start: number, bounds: Bounds = {}): Generator<number> {
  const { from = start, to = Infinity } = bounds;
  const rule = completed(given, start);
  const { step, numberOf, daysOf } = KINDS[rule.frequency];
  const [first, least] = [numberOf(start, rule), Math.max(start, from)];
  // In steps of INTERVAL from the start.
  const leap = rule.interval * step;
  const passed = Math.floor((numberOf(least, rule) - first) / leap);
  const last = numberOf(Math.min(to, least + LOOKED_AT_DAYS, LAST_DAY), rule);
  for (let period = first + passed * leap; period <= last; period += leap) {
    for (const day of atPositions(daysOf(period, rule), rule.positions)) {
      if (day > to) return;
      if (day >= least) yield day;
    }
  }
}

/** With what the rule leaves to its start. */
function completed(rule: Rule, start: number): Rule {
  if (rule.weekdays.length > 0 || rule.monthDays.length > 0) return rule;
  const date = new Date(start * DAY_MS);
  const [month, monthDay] = [date.getUTCMonth() + 1, date.getUTCDate()];
  if (rule.frequency === "WEEKLY") return { ...rule, weekdays: [{ weekday: weekdayOf(start), nth: null }] };
  if (rule.frequency === "MONTHLY") return { ...rule, monthDays: [monthDay] };
  if (rule.frequency === "DAILY") return rule;
  return { ...rule, monthDays: [monthDay], months: rule.months.length > 0 ? rule.months : [month] };
}

interface Kind {
  /** How far apart the numbers of two periods are that follow each other. */
  step: number;
  /** Of the period that a day is in. */
  numberOf(day: number, rule: Rule): number;
  /** The days of a period that the rule names, in order. */
  daysOf(period: number, rule: Rule): number[];
}

const KINDS: Record<Rule["frequency"], Kind> = {
  DAILY: { step: 1, numberOf: (day) => day, daysOf: (day, rule) => (fitsWeek(day, rule) ? [day] : []) },
  WEEKLY: {
    step: 7,
    numberOf: (day, { weekStart }) => day - remainder(weekdayOf(day) - weekStart, 7),
    daysOf: (first, rule) => following(first, 7).filter((day) => fitsWeek(day, rule)),
  },
  MONTHLY: { step: 1, numberOf: monthOf, daysOf: (month, rule) => daysOfMonth(month, rule, spanOf(month, 1)) },
  YEARLY: {
    step: 12,
    numberOf: (day) => Math.floor(monthOf(day) / 12) * 12,
    daysOf: (january, rule) => {
      // A weekday's number is that in the year, or in each month where months are named.
      const year = rule.months.length > 0 ? null : spanOf(january, 12);
      return following(january, 12).flatMap((month) => daysOfMonth(month, rule, year ?? spanOf(month, 1)));
    },
  },
};

function fitsWeek(day: number, { months, weekdays }: Rule): boolean {
  if (weekdays.length > 0 && !weekdays.some(({ weekday }) => weekday === weekdayOf(day))) return false;
  return months.length === 0 || months.includes(remainder(monthOf(day), 12) + 1);
}

/** In `counted` weekdays have their numbers. */
function daysOfMonth(month: number, rule: Rule, counted: Span): number[] {
  const { months, monthDays, weekdays } = rule;
  if (months.length > 0 && !months.includes(remainder(month, 12) + 1)) return [];
  const { first, length } = spanOf(month, 1);
  const found: number[] = [];
  for (let day = first; day < first + length; day++) {
    if (monthDays.length > 0 && !isNth(monthDays, day, { first, length })) continue;
    if (weekdays.length === 0 || weekdays.some((each) => isWeekday(each, day, counted))) found.push(day);
  }
  return found;
}

function isNth(places: readonly number[], day: number, { first, length }: Span): boolean {
  return places.includes(day - first + 1) || places.includes(day - first - length);
}

function isWeekday({ weekday, nth }: Rule["weekdays"][number], day: number, { first, length }: Span): boolean {
  if (weekday !== weekdayOf(day)) return false;
  if (nth === null) return true;
  return nth > 0 ? Math.floor((day - first) / 7) + 1 === nth : Math.floor((first + length - 1 - day) / 7) + 1 === -nth;
}

function atPositions(days: number[], positions: readonly number[]): number[] {
  if (positions.length === 0) return days;
  const picked = new Set(positions.map((place) => days[place > 0 ? place - 1 : days.length + place]));
  return days.filter((day) => picked.has(day));
}

function following(first: number, length: number): number[] {
  return Array.from({ length }, (_, n) => first + n);
}

function spanOf(month: number, months: number): Span {
  const first = Date.UTC(1970, month) / DAY_MS;
  return { first, length: Date.UTC(1970, month + months) / DAY_MS - first };
}

function monthOf(day: number): number {
  const date = new Date(day * DAY_MS);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

/** From 0, a Monday. */
function weekdayOf(day: number): number {
  // The first of January 1970 was a Thursday.
  return remainder(day + 3, 7);
}

function remainder(of: number, by: number): number {
  return ((of % by) + by) % by;
}
