import { describe, expect, it } from "vitest";
import { planRetry } from "./plan-retry.ts";

const MINUTE = 60_000;
const DELAYS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 24 * 60 * MINUTE];
const at = new Date("2026-01-31T12:00:00.000Z");
const plan = (attempt: number, statusCode: number | null, retried = true) => planRetry({ attempt, retried }, { statusCode, at }, DELAYS);

describe("what follows an attempt", () => {
  it.each([200, 201, 202, 204, 206, 299])("answered %i is nothing more", (status) => expect(plan(3, status)).toEqual({ kind: "delivered" }));

  it.each([
    [1, "2026-01-31T12:01:00.000Z"],
    [2, "2026-01-31T12:05:00.000Z"],
    [3, "2026-01-31T12:30:00.000Z"],
    [4, "2026-01-31T14:00:00.000Z"],
    [5, "2026-02-01T12:00:00.000Z"],
  ])("failed at attempt %i is the next retry, counted from this failure", (attempt, next) => expect(plan(attempt, 500)).toEqual({ kind: "retry", at: new Date(next) }));

  it.each([null, 100, 199, 300, 301, 304, 307, 400, 401, 404, 429, 500, 503, 599])("answered %s is a retry", (status) => expect(plan(1, status).kind).toBe("retry"));

  it("failed at the fifth retry disables", () => expect(plan(6, null)).toEqual({ kind: "disable", reason: "retries_exhausted" }));
  it("answered 410 disables at once", () => {
    expect(plan(1, 410)).toEqual({ kind: "disable", reason: "gone" });
    expect(plan(1, 410, false)).toEqual({ kind: "disable", reason: "gone" });
  });
  it("is nothing after a failed test or redelivery", () => expect(plan(1, 500, false)).toEqual({ kind: "failed" }));
  it("follows whatever schedule is configured", () => {
    expect(planRetry({ attempt: 1, retried: true }, { statusCode: 500, at }, [10])).toEqual({ kind: "retry", at: new Date(at.getTime() + 10) });
    expect(planRetry({ attempt: 2, retried: true }, { statusCode: 500, at }, [10]).kind).toBe("disable");
  });
});
