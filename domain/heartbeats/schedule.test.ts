import { describe, expect, it, test } from "vitest";
import { cronProblem, nextExpectedAt, timezoneProblem, turnMs, type Schedule } from "./schedule.ts";

const every = (intervalSeconds: number): Schedule => ({ scheduleType: "interval", intervalSeconds, cron: null, timezone: "UTC" });
const cron = (expression: string, timezone = "UTC"): Schedule => ({ scheduleType: "cron", intervalSeconds: null, cron: expression, timezone });
const next = (schedule: Schedule, after: string) => new Date(nextExpectedAt(schedule, Date.parse(after))).toISOString();

describe("nextExpectedAt", () => {
  it("adds the interval to the last ping", () => {
    expect(next(every(90), "2026-05-04T12:00:00.250Z")).toBe("2026-05-04T12:01:30.250Z");
  });

  test.each([
    ["five fields", "*/5 * * * *", "UTC", "2026-05-04T12:01:00Z", "2026-05-04T12:05:00.000Z"],
    ["six fields, with seconds in front", "*/10 * * * * *", "UTC", "2026-05-04T12:01:01Z", "2026-05-04T12:01:10.000Z"],
    ["a moment that is itself an occurrence", "0 0 * * *", "UTC", "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"],
    ["the millisecond before an occurrence", "0 0 * * *", "UTC", "2026-01-01T23:59:59.999Z", "2026-01-02T00:00:00.000Z"],
    ["names of weekdays", "0 9 * * MON-FRI", "Asia/Kolkata", "2026-10-31T00:00:00Z", "2026-11-02T03:30:00.000Z"],
    ["the last day of a month", "0 0 L * *", "UTC", "2026-02-10T00:00:00Z", "2026-02-28T00:00:00.000Z"],
    ["29 February", "0 0 29 2 *", "UTC", "2026-05-04T00:00:00Z", "2028-02-29T00:00:00.000Z"],
    ["a name", "@daily", "UTC", "2026-05-04T12:00:00Z", "2026-05-05T00:00:00.000Z"],
  ])("understands %s", (_, expression, zone, after, expected) => {
    expect(next(cron(expression, zone), after)).toBe(expected);
  });

  // Berlin: on 2026-03-29 01:00Z the clocks go from 02:00 to 03:00, on 2026-10-25 01:00Z from 03:00 to 02:00.
  test.each([
    ["a daily time keeps its wall clock in spring", "0 3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00.000Z"],
    ["a skipped time moves by the gap", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00.000Z"],
    ["a job that cron ran right after the gap is not expected again that day", "30 2 * * *", "Europe/Berlin", "2026-03-29T01:00:05Z", "2026-03-30T00:30:00.000Z"],
    ["a time shown twice counts the first time", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00.000Z"],
    ["and not again after it, within the first hour", "30 2 * * *", "Europe/Berlin", "2026-10-25T00:40:00Z", "2026-10-26T01:30:00.000Z"],
    ["nor when its job finished within the second hour", "30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", "2026-10-26T01:30:00.000Z"],
    ["a midnight shown twice counts the first time", "0 0 * * *", "America/Havana", "2026-11-01T04:30:00Z", "2026-11-02T05:00:00.000Z"],
    ["half hours go on through the repeated hour", "*/30 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:00:00.000Z"],
    ["hours go on through the repeated hour", "0 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00.000Z"],
    ["hours go on over the gap", "0 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00.000Z"],
    ["a time in a gap of half an hour is not expected that day", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-04T15:15:00.000Z"],
    ["a day that begins at one o'clock", "0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", "2018-11-04T03:00:00.000Z"],
    ["six fields: a skipped time moves by the gap, seconds and all", "30 15 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:15:30.000Z"],
    ["six fields: and is not expected again after it", "30 15 2 * * *", "Europe/Berlin", "2026-03-29T01:15:30Z", "2026-03-30T00:15:30.000Z"],
    ["six fields: a time shown twice counts the first time", "45 30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:45.000Z"],
    ["six fields: and not again after it", "45 30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:45Z", "2026-10-26T01:30:45.000Z"],
    ["six fields: every half minute goes on through the repeated hour", "*/30 * * * * *", "Europe/Berlin", "2026-10-25T01:10:40Z", "2026-10-25T01:11:00.000Z"],
    ["six fields: every half minute goes on over the gap", "*/30 * * * * *", "Europe/Berlin", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00.000Z"],
    ["a half hour shown twice counts the first time (Lord Howe)", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", "2026-04-04T14:45:00.000Z"],
    ["and not again after it (Lord Howe)", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T14:45:00Z", "2026-04-05T15:15:00.000Z"],
    ["a zone that had summer time one year and none the next", "0 3 * * *", "America/Sao_Paulo", "2019-01-10T12:00:00Z", "2019-01-11T05:00:00.000Z"],
    ["the same time a year later", "0 3 * * *", "America/Sao_Paulo", "2020-01-10T12:00:00Z", "2020-01-11T06:00:00.000Z"],
    ["a yearly time on the other side of a zone's change", "0 3 10 1 *", "America/Sao_Paulo", "2019-01-10T06:00:00Z", "2020-01-10T06:00:00.000Z"],
    ["a leap day in a zone behind UTC", "30 0 12 29 2 *", "America/New_York", "2027-06-01T00:00:00Z", "2028-02-29T17:00:30.000Z"],
    ["another hemisphere, another direction", "30 1 * * *", "America/New_York", "2026-11-01T06:00:00Z", "2026-11-02T06:30:00.000Z"],
  ])("daylight saving: %s", (_, expression, zone, after, expected) => {
    expect(next(cron(expression, zone), after)).toBe(expected);
  });

  it("gives the same answer whatever was asked before", () => {
    const schedule = cron("30 2 * * *", "Europe/Berlin");
    const from = Date.parse("2026-03-28T00:00:00Z");
    const moments = Array.from({ length: 200 }, (_, n) => from + n * 15 * 60_000);
    const forward = moments.map((moment) => nextExpectedAt(schedule, moment));
    const backward = moments.toReversed().map((moment) => nextExpectedAt(schedule, moment)).toReversed();
    expect(forward).toEqual(backward);
    expect(forward.every((expected, n) => expected > moments[n]!)).toBe(true);
  });

  it.each(["0 0 31 2 4#5", "0 0 29 2 *", "30 2 29 3 *"])("is not computed for each ping: %s", (expression) => {
    const [schedule, from] = [cron(expression, "Asia/Gaza"), Date.parse("2026-03-27T00:00:00Z")];
    // A ping each minute for three days, on one of which the clocks are moved.
    const began = performance.now();
    for (let minute = 0; minute < 4_320; minute++) nextExpectedAt(schedule, from + minute * 60_000);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});

describe("turnMs", () => {
  test.each([
    ["an interval", every(90), 90],
    ["every quarter of an hour", cron("*/15 * * * *"), 900],
    ["every ten seconds", cron("*/10 * * * * *"), 10],
    ["daily, whatever the clocks do", cron("0 12 * * *", "Europe/Berlin"), 82_800],
    ["the shortest gap of a working day", cron("0 9,13,15 * * *"), 7_200],
  ])("of %s", (_, schedule, seconds) => {
    expect(turnMs(schedule, Date.parse("2026-03-26T15:30:00Z"))).toBe(seconds * 1_000);
  });
});

describe("cronProblem", () => {
  test.each(["0 3 * * *", "*/10 * * * * *", "@hourly", "0 9 * * THU", "0 0 * MAR-JUN 1", "0 0 1,15 * *", "@yearly", "0 0 31 12 *", "0 0 L 2 *", "0 0 * 2 1L", "0 0 * 3 0#4", "0 0 29 2 1", "0 0 ? * 5"])("accepts %j", (expression) => {
    expect(cronProblem(expression)).toBeNull();
  });

  test.each([
    ["", /five fields/],
    ["* * *", /five fields/],
    ["* * * * * * *", /five fields/],
    ["61 * * * *", /no cron expression/],
    ["a b c d e", /no cron expression/],
    ["@never", /no cron expression/],
    ["0 0 31 2 *", /no cron expression/],
    ["0 0 29 2 *", /once in 366 days/],
    ["0 0 31 2 4#5", /once in 366 days/],
    ["0 0 * 1 4#5", /once in 366 days/],
    ["H 3 * * *", /H is not supported/],
  ])("refuses %j", (expression, sentence) => {
    expect(cronProblem(expression)).toMatch(sentence);
  });
});

describe("timezoneProblem", () => {
  test.each(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+2"])("accepts %s", (zone) => {
    expect(timezoneProblem(zone)).toBeNull();
  });

  test.each(["", "Mars/Base", "+02:00", "UTC+3"])("refuses %j", (zone) => {
    expect(timezoneProblem(zone)).toMatch(/no time zone/);
  });
});
