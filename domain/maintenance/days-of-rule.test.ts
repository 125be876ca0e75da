import * as fc from "fast-check";
// Node sees only the default export of this CommonJS package, whatever its types and the linter say.
// oxlint-disable-next-line import/default
import rrule from "rrule";
import { expect, it } from "vitest";
import { daysOfRule } from "./days-of-rule.ts";
import { readRule } from "./rule.ts";

// oxlint-disable-next-line import/no-named-as-default-member
const { RRule } = rrule;

const DAY_MS = 86_400_000;

const dayOf = (date: string) => Date.parse(date) / DAY_MS;
const dates = (days: number[]) => days.map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10));

/** By the package that others take for it, which tells a day twice that two positions name. */
function expectedDays(text: string, start: number, from: number, to: number): number[] {
  const series = new RRule({ ...RRule.parseString(text), dtstart: new Date(start * DAY_MS), until: new Date(to * DAY_MS) });
  return [...new Set(series.between(new Date(from * DAY_MS), new Date(to * DAY_MS), true).map((date) => date.getTime() / DAY_MS))];
}

const part = (name: string, values: fc.Arbitrary<unknown>) => fc.option(fc.uniqueArray(values, { minLength: 1, maxLength: 4 }).map((list) => `${name}=${list.join(",")}`));
const weekday = fc.constantFrom("MO", "TU", "WE", "TH", "FR", "SA", "SU");
const numbered = fc.tuple(fc.constantFrom(1, 2, 4, 5, -1, -2, -5), weekday).map(([nth, day]) => `${nth}${day}`);
const monthDay = fc.oneof(fc.integer({ min: 1, max: 31 }), fc.integer({ min: -31, max: -1 }));
// Of places that a period does not have the package makes days, or none and a wrong order.
const place = fc.constantFrom(1, -1);

const rules = fc
  .record({
    frequency: fc.constantFrom("DAILY", "WEEKLY", "MONTHLY", "YEARLY"),
    interval: fc.option(fc.integer({ min: 1, max: 30 })),
    // Weekdays with a number and ones without, together, are one or the other to it only when both hold.
    weekdays: fc.oneof(part("BYDAY", weekday), part("BYDAY", numbered)),
    monthDays: part("BYMONTHDAY", monthDay),
    months: part("BYMONTH", fc.integer({ min: 1, max: 12 })),
    positions: part("BYSETPOS", place),
    weekStart: fc.option(weekday),
  })
  .map(({ frequency, interval, weekdays, monthDays, months, positions, weekStart }) => {
    const byMonth = frequency === "MONTHLY" || frequency === "YEARLY";
    const days = byMonth ? weekdays : (weekdays?.replaceAll(/-?\d/g, "") ?? null);
    const places = byMonth && (days ?? monthDays) !== null ? positions : null;
    const week = weekStart && `WKST=${weekStart}`;
    return [`FREQ=${frequency}`, interval && `INTERVAL=${interval}`, days, byMonth ? monthDays : null, months, places, week].filter((each) => each !== null).join(";");
  });

it("finds the days that another implementation finds, from wherever it begins to look", () => {
  const starts = fc.integer({ min: dayOf("1970-01-01"), max: dayOf("2110-12-31") });
  fc.assert(
    fc.property(rules, starts, fc.integer({ min: 0, max: 4_000 }), (text, start, later) => {
      const [from, to] = [start + later, start + later + 1_500];
      expect(dates([...daysOfRule(readRule(text), start, { from, to })])).toEqual(dates(expectedDays(text, start, from, to)));
    }),
    { numRuns: 200 },
  );
});

it.each([
  ["FREQ=MONTHLY;BYDAY=1MO,FR", "2026-01-01", ["2026-01-02", "2026-01-05", "2026-01-09"]],
  ["FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "2026-01-01", ["2026-01-30", "2026-02-27", "2026-03-31"]],
  ["FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-5", "2026-01-01", ["2026-03-02", "2026-06-01", "2026-08-03"]],
  ["FREQ=YEARLY;BYDAY=-1SU", "2026-06-01", ["2026-12-27", "2027-12-26", "2028-12-31"]],
  ["FREQ=YEARLY", "2024-02-29", ["2024-02-29", "2028-02-29", "2032-02-29"]],
  ["FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU", "1969-12-30", ["1969-12-30", "1970-01-11", "1970-01-13"]],
])("%s from %s", (text, start, expected) => {
  expect(dates([...daysOfRule(readRule(text), dayOf(start), { to: dayOf(start) + 4_000 })].slice(0, 3))).toEqual(expected);
});

it("ends where years have four digits", () => {
  expect(dates([...daysOfRule(readRule("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=31"), dayOf("9998-01-01"))])).toEqual(["9998-12-31", "9999-12-31"]);
  expect([...daysOfRule(readRule("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"), dayOf("2026-01-01"))]).toEqual([]);
});
