export const FREQUENCIES = ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"] as const;

const WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/** A recurrence rule (RFC 5545 §3.3.10), read. A list that the rule does not have is empty. */
export interface Rule {
  frequency: (typeof FREQUENCIES)[number];
  interval: number;
  count: number | null;
  /** The last moment; of a date its last second, by whatever clocks. */
  until: { at: Date; isDate: boolean } | null;
  /** From 0, a Monday; `nth` of a month or a year, from its end when it is negative, null for each. */
  weekdays: { weekday: number; nth: number | null }[];
  monthDays: number[];
  months: number[];
  positions: number[];
  weekStart: number;
}

/** Reads a rule whose parts are checked (`rruleProblem`), as it is stored: upper case, without its name. */
export function readRule(text: string): Rule {
  const parts = new Map(text.split(";").map((part) => part.split("=", 2) as [string, string]));
  // Once each: what stands there a hundred times would be looked at a hundred times a day.
  const list = (name: string): string[] => [...new Set(parts.get(name)?.split(","))];
  const numbers = (name: string): number[] => [...new Set(list(name).map(Number))];
  const until = parts.get("UNTIL");
  return {
    frequency: parts.get("FREQ") as Rule["frequency"],
    interval: Number(parts.get("INTERVAL") ?? 1),
    count: parts.has("COUNT") ? Number(parts.get("COUNT")) : null,
    until: until === undefined ? null : { at: readUntil(until)!, isDate: !until.includes("T") },
    weekdays: list("BYDAY").map((day) => ({ weekday: weekdayOf(day.slice(-2)), nth: day.length > 2 ? Number(day.slice(0, -2)) : null })),
    monthDays: numbers("BYMONTHDAY"),
    months: numbers("BYMONTH"),
    positions: numbers("BYSETPOS"),
    weekStart: weekdayOf(parts.get("WKST") ?? "MO"),
  };
}

/** The last moment that UNTIL allows: a date means the whole day. Null for what is none. */
export function readUntil(value: string): Date | null {
  const [, year, month, day, hour = "23", minute = "59", second = "59"] = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z)?$/.exec(value) ?? [];
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const moment = new Date(text);
  // A 31st of April would become a 1st of May.
  return Number.isNaN(moment.getTime()) || moment.toISOString() !== text ? null : moment;
}

function weekdayOf(name: string): number {
  return WEEKDAYS.indexOf(name);
}
