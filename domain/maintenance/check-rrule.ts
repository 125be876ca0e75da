// Node sees only the default export of this CommonJS package, whatever its types and the linter say.
// oxlint-disable-next-line import/default
import rrule from "rrule";

// oxlint-disable-next-line import/no-named-as-default-member
const { RRule } = rrule;

/** What is wrong with a rule and what to write instead. */
interface RuleProblem {
  sentence: string;
  fix: string;
}

type Check = (value: string) => boolean;

const FREQUENCIES = ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"];
const WEEKDAY = /^(?:MO|TU|WE|TH|FR|SA|SU)$/;

/** The parts that make sense for a window whose time of day is that of its start, and their values (RFC 5545 §3.3.10). */
const PARTS: Record<string, { check: Check; values: string }> = {
  FREQ: { check: (value) => FREQUENCIES.includes(value), values: FREQUENCIES.join(", ") },
  INTERVAL: { check: number(1, 1000), values: "1 to 1000" },
  COUNT: { check: number(1, 1000), values: "1 to 1000" },
  UNTIL: { check: (value) => untilOf(value) !== null, values: "a date such as 20261231, or a time in UTC such as 20261231T220000Z" },
  BYDAY: { check: list((value) => WEEKDAY.test(value) || /^[+-]?[1-5](?:MO|TU|WE|TH|FR|SA|SU)$/.test(value)), values: "weekdays such as MO,WE or, in a month, 1MO and -1FR" },
  BYMONTHDAY: { check: list((value) => number(1, 31)(value.replace(/^[+-]/, ""))), values: "1 to 31, or -31 to -1 from the month's end" },
  BYMONTH: { check: list(number(1, 12)), values: "1 to 12" },
  BYSETPOS: { check: list((value) => number(1, 366)(value.replace(/^[+-]/, ""))), values: "1 to 366, or -366 to -1" },
  WKST: { check: (value) => WEEKDAY.test(value), values: "a weekday such as MO" },
};

/** The Gregorian calendar, weekdays included, repeats after so many years. */
const CYCLE_YEARS = 400;

/** rrule searches no further. */
const LAST_YEAR = 9999;

/**
 * Why a recurrence rule cannot be one of a maintenance window, or null. It is one RRULE of RFC 5545 without DTSTART (which is
 * `startsAt`), repeats daily at most, and has at least one occurrence: whoever asks for the next one of a rule without any would search for ever.
 */
export function rruleProblem(text: string, startsAt: Date): RuleProblem | null {
  const parts = new Map<string, string>();
  if (/[\r\n]/.test(text.trim())) return { sentence: "rrule must be one line.", fix: "Give the RRULE alone; starts_at is its DTSTART." };
  for (const part of bare(text).split(";")) {
    const [, name, value] = /^([A-Z]+)=(.+)$/.exec(part) ?? [];
    const known = name === undefined ? undefined : PARTS[name];
    if (name === undefined || value === undefined) return { sentence: `"${part.slice(0, 50)}" is no part of a recurrence rule.`, fix: "Write parts as NAME=VALUE, separated by semicolons, such as FREQ=WEEKLY;BYDAY=MO." };
    if (!known) return { sentence: `A maintenance window's rule has no part ${name.slice(0, 50)}.`, fix: `Its parts are ${Object.keys(PARTS).join(", ")}.` };
    if (parts.has(name)) return { sentence: `The part ${name} stands twice in the rule.`, fix: "Give it once, with several values separated by commas where it allows them." };
    if (!known.check(value)) return { sentence: `${name}=${value.slice(0, 50)} is not valid.`, fix: `${name} is ${known.values}.` };
    parts.set(name, value);
  }
  return contradiction(parts) ?? emptiness(bare(text), startsAt, parts.get("UNTIL"));
}

/** The rule as it is stored: upper case, without the name that may stand before it. Only for rules without a problem. */
export function normalRrule(text: string): string {
  return bare(text);
}

function bare(text: string): string {
  return text.trim().toUpperCase().replace(/^RRULE:/, "");
}

function contradiction(parts: ReadonlyMap<string, string>): RuleProblem | null {
  const frequency = parts.get("FREQ");
  if (frequency === undefined) return { sentence: "The rule has no FREQ.", fix: `Begin with FREQ=, one of ${FREQUENCIES.join(", ")}.` };
  if (parts.has("COUNT") && parts.has("UNTIL")) return { sentence: "The rule has COUNT and UNTIL.", fix: "Give one of them, or neither for a window that repeats without end." };
  const byMonth = frequency === "MONTHLY" || frequency === "YEARLY";
  if (/\d/.test(parts.get("BYDAY") ?? "") && !byMonth) return { sentence: `BYDAY with a number means nothing in a ${frequency} rule.`, fix: "Leave the number out, or use FREQ=MONTHLY." };
  if (parts.has("BYMONTHDAY") && !byMonth) return { sentence: `BYMONTHDAY means nothing in a ${frequency} rule.`, fix: "Use FREQ=MONTHLY." };
  if (parts.has("BYSETPOS") && !byMonth) return { sentence: `BYSETPOS means nothing in a ${frequency} rule.`, fix: "Use FREQ=MONTHLY." };
  if (parts.has("BYSETPOS") && !parts.has("BYDAY") && !parts.has("BYMONTHDAY")) return { sentence: "BYSETPOS picks from days, and the rule names none.", fix: "Add BYDAY or BYMONTHDAY." };
  return null;
}

function emptiness(text: string, startsAt: Date, until: string | undefined): RuleProblem | null {
  const first = firstOccurrence(text, startsAt);
  if (!first) return { sentence: "The rule never happens.", fix: "Check that its days, months and positions can meet: a 30th of February cannot." };
  if (until !== undefined && untilOf(until)! < first) return { sentence: "The rule ends with UNTIL before it happens once.", fix: "Give a later UNTIL." };
  return null;
}

/** Not before `startsAt`; null when there is none. For a rule without any rrule would search all years up to 9999: moved on by whole cycles there are fewer. */
function firstOccurrence(text: string, startsAt: Date): Date | null {
  const years = Math.max(0, Math.floor((LAST_YEAR - startsAt.getUTCFullYear()) / CYCLE_YEARS)) * CYCLE_YEARS;
  const dtstart = inYears(startsAt, years);
  const { until: _, ...open } = RRule.parseString(text);
  const found = new RRule({ ...open, dtstart }).after(dtstart, true);
  return found && inYears(found, -years);
}

function inYears(moment: Date, years: number): Date {
  const moved = new Date(moment);
  moved.setUTCFullYear(moved.getUTCFullYear() + years);
  return moved;
}

/** The last moment that UNTIL allows: a date means the whole day. Null for what is none. */
function untilOf(value: string): Date | null {
  const [, year, month, day, hour = "23", minute = "59", second = "59"] = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z)?$/.exec(value) ?? [];
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const moment = new Date(text);
  // A 31st of April would become a 1st of May.
  return Number.isNaN(moment.getTime()) || moment.toISOString() !== text ? null : moment;
}

function number(least: number, most: number): Check {
  return (value) => /^\d{1,4}$/.test(value) && Number(value) >= least && Number(value) <= most;
}

function list(each: Check): Check {
  return (value) => value.split(",").every(each);
}
