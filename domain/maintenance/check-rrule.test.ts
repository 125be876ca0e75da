import { describe, expect, it } from "vitest";
import { normalRrule, rruleProblem } from "./check-rrule.ts";

const startsAt = new Date("2026-01-31T22:00:00.000Z");

describe("a maintenance window's rule", () => {
  it.each([
    "FREQ=DAILY",
    "FREQ=DAILY;INTERVAL=2;COUNT=10",
    "freq=weekly;byday=mo,we",
    "RRULE:FREQ=WEEKLY;BYDAY=SU;UNTIL=20261231",
    "FREQ=MONTHLY;BYDAY=1MO;WKST=SU",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
    "FREQ=MONTHLY;BYMONTHDAY=-1;UNTIL=20261231T220000Z",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
    "FREQ=DAILY;UNTIL=20260131",
    " FREQ=DAILY\n",
  ])("may be %j", (text) => expect(rruleProblem(text, startsAt)).toBeNull());

  it.each([
    ["", "no part of a recurrence rule"],
    ["daily", "no part of a recurrence rule"],
    ["FREQ=DAILY;", "no part of a recurrence rule"],
    ["DTSTART:20260131T220000Z\nRRULE:FREQ=DAILY", "one line"],
    ["FREQ=DAILY;DTSTART=20260131", "no part DTSTART"],
    ["FREQ=DAILY;BYHOUR=3", "no part BYHOUR"],
    ["FREQ=DAILY;TOSTRING=3", "no part TOSTRING"],
    ["FREQ=DAILY;FREQ=DAILY", "stands twice"],
    ["FREQ=HOURLY", "FREQ=HOURLY is not valid"],
    ["FREQ=DAILY;INTERVAL=0", "INTERVAL=0 is not valid"],
    ["FREQ=DAILY;COUNT=1001", "COUNT=1001 is not valid"],
    ["FREQ=DAILY;COUNT=1.5", "COUNT=1.5 is not valid"],
    ["FREQ=DAILY;UNTIL=20260431", "UNTIL=20260431 is not valid"],
    ["FREQ=DAILY;UNTIL=20260430T100000", "UNTIL=20260430T100000 is not valid"],
    ["FREQ=WEEKLY;BYDAY=XX", "BYDAY=XX is not valid"],
    ["FREQ=MONTHLY;BYMONTHDAY=32", "BYMONTHDAY=32 is not valid"],
    ["FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY=0 is not valid"],
    ["COUNT=3", "has no FREQ"],
    ["FREQ=DAILY;COUNT=3;UNTIL=20261231", "COUNT and UNTIL"],
    ["FREQ=WEEKLY;BYDAY=1MO", "BYDAY with a number"],
    ["FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY means nothing"],
    ["FREQ=DAILY;BYSETPOS=1", "BYSETPOS means nothing"],
    ["FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS picks from days"],
    ["FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30", "never happens"],
    ["FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6", "never happens"],
    ["FREQ=DAILY;INTERVAL=7;BYDAY=MO", "never happens"],
    ["FREQ=DAILY;UNTIL=20260130", "before it happens once"],
  ])("may not be %j", (text, sentence) => {
    const problem = rruleProblem(text, startsAt);
    expect(problem?.sentence).toContain(sentence);
    expect(problem?.fix).toMatch(/\.$/);
  });

  it("is checked fast, be it one that never happens", () => {
    const positions = Array.from({ length: 110 }, (_, place) => 366 - place).join(",");
    const before = process.cpuUsage();
    expect(rruleProblem(`FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=${positions}`, startsAt)?.sentence).toContain("never happens");
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(100);
  });

  it("is stored in upper case and without its name", () => expect(normalRrule(" rrule:freq=daily ")).toBe("FREQ=DAILY"));
});
