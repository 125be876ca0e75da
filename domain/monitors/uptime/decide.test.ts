import { describe, expect, test } from "vitest";
import { nextDueAt } from "../next-due.ts";
import { decide, judgeCheck, type UptimeState, type Verdict } from "./decide.ts";

const NOW = Date.UTC(2026, 4, 4, 12);
const RULES = { id: "0b9f3a52-7c1e-4d8e-9a64-3f2f5c7d1e10", intervalSeconds: 3_600, failuresToDown: 2, successesToUp: 2 };
const REGULAR = nextDueAt(RULES.id, 3_600_000, NOW);
const SOON = NOW + 5_000;

test.each<[UptimeState["status"], number, Verdict, UptimeState["status"], number, "down" | "up" | null, number]>([
  // before, contrary, verdict, after, contrary, event, due
  ["pending", 0, "up", "up", 0, null, REGULAR],
  ["pending", 0, "degraded", "degraded", 0, null, REGULAR],
  ["pending", 0, "down", "pending", 1, null, SOON],
  ["pending", 1, "down", "down", 0, "down", REGULAR],
  ["pending", 1, "up", "up", 0, null, REGULAR],
  ["up", 0, "up", "up", 0, null, REGULAR],
  ["up", 0, "down", "up", 1, null, SOON],
  ["up", 1, "down", "down", 0, "down", REGULAR],
  ["up", 1, "up", "up", 0, null, REGULAR],
  ["up", 0, "degraded", "up", -1, null, REGULAR],
  ["up", -1, "degraded", "degraded", 0, null, REGULAR],
  ["up", -1, "down", "up", 1, null, SOON],
  ["up", 1, "degraded", "up", -1, null, REGULAR],
  ["degraded", 0, "degraded", "degraded", 0, null, REGULAR],
  ["degraded", 0, "up", "degraded", -1, null, REGULAR],
  ["degraded", -1, "up", "up", 0, null, REGULAR],
  ["degraded", 0, "down", "degraded", 1, null, SOON],
  ["degraded", 1, "down", "down", 0, "down", REGULAR],
  ["down", 0, "down", "down", 0, null, REGULAR],
  ["down", 0, "up", "down", -1, null, REGULAR],
  ["down", -1, "up", "up", 0, "up", REGULAR],
  ["down", -1, "degraded", "degraded", 0, "up", REGULAR],
  ["down", -1, "down", "down", 0, null, REGULAR],
  ["paused", 0, "down", "paused", 0, null, REGULAR],
  ["paused", 0, "up", "paused", 0, null, REGULAR],
  ["maintenance", 0, "up", "up", 0, null, REGULAR],
  ["maintenance", 0, "degraded", "degraded", 0, null, REGULAR],
  ["maintenance", 0, "down", "maintenance", 1, null, SOON],
  ["maintenance", 1, "down", "down", 0, "down", REGULAR],
])("%s (%i) and a check that finds %s is %s (%i), event %s", (status, contrary, verdict, after, left, event, dueAt) => {
  expect(decide({ status, contrary }, RULES, { verdict, inMaintenance: false }, NOW)).toEqual({ status: after, contrary: left, event, dueAt });
});

test.each<[UptimeState["status"], number, Verdict, UptimeState["status"], number, "down" | "up" | null]>([
  ["pending", 0, "down", "maintenance", 0, null],
  ["up", 0, "down", "maintenance", 0, null],
  ["up", 1, "down", "maintenance", 0, null],
  ["up", 0, "up", "maintenance", 0, null],
  ["degraded", 0, "degraded", "maintenance", 0, null],
  ["maintenance", 0, "down", "maintenance", 0, null],
  ["paused", 0, "down", "paused", 0, null],
  // Who was told that it is down is told when it is not.
  ["down", 0, "down", "down", 0, null],
  ["down", 0, "up", "down", -1, null],
  ["down", -1, "up", "maintenance", 0, "up"],
])("during maintenance %s (%i) and a check that finds %s is %s (%i), event %s", (status, contrary, verdict, after, left, event) => {
  expect(decide({ status, contrary }, RULES, { verdict, inMaintenance: true }, NOW)).toEqual({ status: after, contrary: left, event, dueAt: REGULAR });
});

test("one failure is enough where one is asked for", () => {
  expect(decide({ status: "up", contrary: 0 }, { ...RULES, failuresToDown: 1 }, { verdict: "down", inMaintenance: false }, NOW)).toMatchObject({ status: "down", event: "down", dueAt: REGULAR });
});

test("the second look is never later than the regular one", () => {
  const { dueAt } = decide({ status: "up", contrary: 0 }, RULES, { verdict: "down", inMaintenance: false }, REGULAR - 1_000);
  expect(dueAt).toBe(REGULAR);
});

test("flapping between good and bad with two of each needed changes nothing", () => {
  let state: UptimeState = { status: "up", contrary: 0 };
  for (let n = 0; n < 10; n++) state = decide(state, RULES, { verdict: n % 2 === 0 ? "down" : "up", inMaintenance: false }, NOW);
  expect(state.status).toBe("up");
});

describe("a check", () => {
  test.each<[string | null, number, number | null, Verdict]>([
    [null, 100, null, "up"],
    [null, 100, 100, "up"],
    [null, 101, 100, "degraded"],
    ["No answer.", 1, 100, "down"],
  ])("with the error %j in %i ms, slow after %s, is %s", (error, responseTimeMs, after, verdict) => expect(judgeCheck({ error, responseTimeMs }, after)).toBe(verdict));
});
