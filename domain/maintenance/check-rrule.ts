import { daysOfRule } from "./days-of-rule.ts";
import { FREQUENCIES, readRule, readUntil } from "./rule.ts";

/** What is wrong with a rule and what to write instead. */
interface RuleProblem {
  sentence: string;
  fix: string;
}

type Check = (value: string) => boolean;

const DAY_MS = 86_400_000;
const WEEKDAY = /^(?:MO|TU|WE|TH|FR|SA|SU)$/;

/** The parts that make sense for a window whose time of day is that of its start, and their values (RFC 5545 §3.3.10). */
const PARTS: Record<string, { check: Check; values: string }> = {
  FREQ: { check: (value) => (FREQUENCIES as readonly string[]).includes(value), values: FREQUENCIES.join(", ") },
  INTERVAL: { check: number(1, 1000), values: "1 to 1000" },
  COUNT: { check: number(1, 1000), values: "1 to 1000" },
  UNTIL: { check: (value) => readUntil(value) !== null, values: "a date such as 20261231, or a time in UTC such as 20261231T220000Z" },
  BYDAY: { check: list((value) => WEEKDAY.test(value) || /^[+-]?[1-5](?:MO|TU|WE|TH|FR|SA|SU)$/.test(value)), values: "weekdays such as MO,WE or, in a month, 1MO and -1FR" },
  BYMONTHDAY: { check: list((value) => number(1, 31)(value.replace(/^[+-]/, ""))), values: "1 to 31, or -31 to -1 from the month's end" },
  BYMONTH: { check: list(number(1, 12)), values: "1 to 12" },
  BYSETPOS: { check: list((value) => number(1, 366)(value.replace(/^[+-]/, ""))), values: "1 to 366, or -366 to -1" },
  WKST: { check: (value) => WEEKDAY.test(value), values: "a weekday such as MO" },
};

/**
 * Why a recurrence rule cannot be one of a maintenance window, or null. It is one RRULE of RFC 5545 without DTSTART (which is
 * `startsAt`), repeats daily at most, and has at least one occurrence: whoever asks for the next one of a rule without any would search for long.
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
  if (until !== undefined && readUntil(until)! < first) return { sentence: "The rule ends with UNTIL before it happens once.", fix: "Give a later UNTIL." };
  return null;
}

/** Not before `startsAt`; null when there is none within 400 years. */
function firstOccurrence(text: string, startsAt: Date): Date | null {
  const start = Math.floor(startsAt.getTime() / DAY_MS);
  for (const day of daysOfRule(readRule(text), start)) return new Date(startsAt.getTime() + (day - start) * DAY_MS);
  return null;
}

function number(least: number, most: number): Check {
  return (value) => /^\d{1,4}$/.test(value) && Number(value) >= least && Number(value) <= most;
}

function list(each: Check): Check {
  return (value) => value.split(",").every(each);
}
