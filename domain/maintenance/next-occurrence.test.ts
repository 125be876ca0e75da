import { describe, expect, it } from "vitest";
import { nextOccurrence } from "./next-occurrence.ts";

const HOUR = 3_600_000;

function next(start: string, rrule: string, { zone = "Europe/Berlin", now = start, hours = 2 } = {}) {
  const startsAt = new Date(start);
  const found = nextOccurrence({ startsAt, endsAt: new Date(startsAt.getTime() + hours * HOUR), rrule }, zone, new Date(now));
  return found && { at: found.startsAt.toISOString(), hours: (found.endsAt.getTime() - found.startsAt.getTime()) / HOUR, rrule: found.rrule };
}

describe("the next occurrence of a window", () => {
  it.each<[string, Parameters<typeof next>, string | null]>([
    ["a week later", ["2026-01-05T21:00:00Z", "FREQ=WEEKLY"], "2026-01-12T21:00:00.000Z"],
    ["at the same time of day when the clocks go forward", ["2026-03-23T21:00:00Z", "FREQ=WEEKLY"], "2026-03-30T20:00:00.000Z"],
    ["and when they go back", ["2026-10-19T20:00:00Z", "FREQ=WEEKLY"], "2026-10-26T21:00:00.000Z"],
    ["by the day of the week there, which in UTC is the day before", ["2026-01-04T23:30:00Z", "FREQ=WEEKLY;BYDAY=MO"], "2026-01-11T23:30:00.000Z"],
    ["a time that the clocks skip moves by the gap", ["2026-03-28T01:30:00Z", "FREQ=DAILY"], "2026-03-29T01:30:00.000Z"],
    ["a time that they show twice is the first", ["2026-10-24T00:30:00Z", "FREQ=DAILY"], "2026-10-25T00:30:00.000Z"],
    ["the last Friday of the month", ["2026-01-30T20:00:00Z", "FREQ=MONTHLY;BYDAY=-1FR"], "2026-02-27T20:00:00.000Z"],
    ["a month without a 31st is left out", ["2026-01-31T20:00:00Z", "FREQ=MONTHLY"], "2026-03-31T19:00:00.000Z"],
    ["a 29th of February", ["2024-02-29T20:00:00Z", "FREQ=YEARLY"], "2028-02-29T20:00:00.000Z"],
    ["those that went by are left out", ["2026-01-05T21:00:00Z", "FREQ=DAILY", { now: "2026-01-09T12:00:00Z" }], "2026-01-09T21:00:00.000Z"],
    ["one that still runs is not", ["2026-01-05T21:00:00Z", "FREQ=DAILY", { now: "2026-01-09T22:00:00Z" }], "2026-01-09T21:00:00.000Z"],
    ["none after UNTIL", ["2026-01-05T21:00:00Z", "FREQ=DAILY;UNTIL=20260105T235959Z"], null],
    ["one at UNTIL", ["2026-01-05T21:00:00Z", "FREQ=DAILY;UNTIL=20260106T210000Z"], "2026-01-06T21:00:00.000Z"],
    ["one on the day of UNTIL", ["2026-01-05T21:00:00Z", "FREQ=DAILY;UNTIL=20260106"], "2026-01-06T21:00:00.000Z"],
    ["none after the last of a COUNT", ["2026-01-05T21:00:00Z", "FREQ=DAILY;COUNT=1"], null],
    ["in a zone of half an hour", ["2026-01-05T18:00:00Z", "FREQ=DAILY", { zone: "Asia/Kolkata" }], "2026-01-06T18:00:00.000Z"],
  ])("%s", (_name, given, expected) => expect(next(...given)?.at ?? null).toBe(expected));

  it("lasts as long, and a COUNT counts down, also by those left out", () => {
    expect(next("2026-03-28T20:00:00Z", "FREQ=DAILY;COUNT=5", { hours: 9 })).toEqual({ at: "2026-03-29T19:00:00.000Z", hours: 9, rrule: "FREQ=DAILY;COUNT=4" });
    expect(next("2026-01-05T21:00:00Z", "FREQ=DAILY;COUNT=5", { now: "2026-01-08T00:00:00Z" })).toMatchObject({ at: "2026-01-08T21:00:00.000Z", rrule: "FREQ=DAILY;COUNT=2" });
    expect(next("2026-01-05T21:00:00Z", "FREQ=DAILY;COUNT=3", { now: "2026-02-01T00:00:00Z" })).toBeNull();
  });

  it.each<[string, Parameters<typeof next>, string | null]>([
    ["daily", ["2020-01-01T00:00:00Z", "FREQ=DAILY"], "2026-11-24T00:00:00.000Z"],
    ["daily, counted", ["2020-01-01T00:00:00Z", "FREQ=DAILY;INTERVAL=3;COUNT=1000"], "2026-11-25T00:00:00.000Z"],
    ["daily, since the first moment", ["1970-01-01T00:00:00Z", "FREQ=DAILY", { zone: "America/New_York" }], "2026-11-24T00:00:00.000Z"],
    ["monthly, on a day that not each month has", ["1970-01-31T00:00:00Z", "FREQ=MONTHLY", { zone: "UTC" }], "2026-12-31T00:00:00.000Z"],
    // A Monday in UTC and a Tuesday there.
    ["on days that it never meets", ["2026-01-05T23:30:00Z", "FREQ=DAILY;INTERVAL=7;BYDAY=MO"], null],
    ["on positions that no year of its own has", ["2024-01-01T00:00:00Z", "FREQ=YEARLY;INTERVAL=4;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=366", { zone: "America/New_York" }], null],
  ])("is found fast, however long ago the window began and however seldom it happens: %s", (_name, [start, rule, given], expected) => {
    const before = process.cpuUsage();
    expect(next(start, rule, { ...given, now: "2026-11-23T12:00:00Z" })?.at ?? null).toBe(expected);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(300);
  });
});
