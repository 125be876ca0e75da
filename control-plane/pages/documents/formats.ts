import type { Moment } from "../../../domain/status-pages/public-page.ts";

/** How moments, days and figures are written in one language and one time zone. */
export interface Formats {
  /** A date with the time of day. */
  moment(at: Moment): string;
  /** Two moments, the common part once. */
  range(from: Moment, to: Moment): string;
  /** `YYYY-MM-DD`, a calendar day. */
  day(date: string): string;
  /** `YYYY-MM`. */
  month(month: string): string;
  /** Of 100; two decimals, cut and not rounded: 100 % means not a moment less. */
  percent(of100: number): string;
  /** The two largest units of a duration, such as "2 hr 5 min". */
  duration(seconds: number): string;
  /** Such as "89 days ago", and "today" for 0. */
  daysAgo(days: number): string;
  /** Such as "24 hours ago", and "now" for 0. */
  hoursAgo(hours: number): string;
  milliseconds(value: number): string;
  count(value: number): string;
  list(names: readonly string[]): string;
}

const made = new Map<string, Formats>();

/** Languages times zones that organizations use; past these, formats are made anew. */
const MOST_KEPT = 500;

/** `language` is BCP 47, `timezone` an IANA name. Making them takes milliseconds, so they are kept. */
export function formatsOf(language: string, timezone: string): Formats {
  const key = `${language}\n${timezone}`;
  let formats = made.get(key);
  if (!formats) {
    if (made.size >= MOST_KEPT) made.clear();
    made.set(key, (formats = makeFormats(language, timezone)));
  }
  return formats;
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

function makeFormats(language: string, timezone: string): Formats {
  const moment = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", timeZone: timezone });
  const day = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: "UTC" });
  const month = new Intl.DateTimeFormat(language, { year: "numeric", month: "long", timeZone: "UTC" });
  const percent = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 2 });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const plain = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const milliseconds = new Intl.NumberFormat(language, { style: "unit", unit: "millisecond", maximumFractionDigits: 0 });
  const list = new Intl.ListFormat(language, { type: "conjunction" });
  const units = new Map(UNITS.map(([unit]) => [unit, new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: 0 })]));
  return {
    moment: (at) => moment.format(new Date(at)),
    range: (from, to) => moment.formatRange(new Date(from), new Date(to)),
    day: (date) => day.format(new Date(`${date}T00:00:00Z`)),
    month: (text) => month.format(new Date(`${text}-01T00:00:00Z`)),
    // Uptimes have four decimals; in whole units, because 0.29 × 100 is 28.999….
    percent: (of100) => percent.format(Math.floor(Math.round(of100 * 10_000) / 100) / 10_000),
    duration(seconds) {
      const whole = Math.max(1, Math.round(seconds));
      const from = UNITS.findIndex(([, size]) => whole >= size);
      const parts = UNITS.slice(from, from + 2).map(([unit, size], at) => {
        const left = at === 0 ? whole : whole % UNITS[from]![1];
        return [units.get(unit)!, Math.floor(left / size)] as const;
      });
      return parts.flatMap(([format, value], at) => (value > 0 || at === 0 ? [format.format(value)] : [])).join(" ");
    },
    daysAgo: (days) => relative.format(days === 0 ? 0 : -days, "day"),
    hoursAgo: (hours) => (hours === 0 ? relative.format(0, "second") : relative.format(-hours, "hour")),
    milliseconds: (value) => milliseconds.format(value),
    count: (value) => plain.format(value),
    list: (names) => list.format(names),
  };
}
