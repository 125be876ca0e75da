import { describe, expect, it } from "vitest";
import { planRetry, settlePlan, type Plan } from "./plan-retry.ts";

const MINUTE = 60_000;
const DELAYS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 24 * 60 * MINUTE];
const at = new Date("2026-01-31T12:00:00.000Z");
const plan = (attempt: number, statusCode: number | null, retried = true) => planRetry({ attempt, retried }, { statusCode, at, retryAfter: null }, DELAYS);

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
    expect(planRetry({ attempt: 1, retried: true }, { statusCode: 500, at, retryAfter: null }, [10])).toEqual({ kind: "retry", at: new Date(at.getTime() + 10) });
    expect(planRetry({ attempt: 2, retried: true }, { statusCode: 500, at, retryAfter: null }, [10]).kind).toBe("disable");
  });
});

describe("a receiver that asks for time", () => {
  const SECOND = 1_000;
  const askedFor = (attempt: number, seconds: number, statusCode = 503) => {
    const planned = planRetry({ attempt, retried: true }, { statusCode, at, retryAfter: new Date(at.getTime() + seconds * SECOND) }, DELAYS);
    return planned.kind === "retry" ? (planned.at.getTime() - at.getTime()) / SECOND : planned.kind;
  };

  it.each([
    { attempt: 1, asked: 0, waits: 60 },
    { attempt: 1, asked: 59, waits: 60 },
    { attempt: 1, asked: 61, waits: 61 },
    { attempt: 1, asked: 300, waits: 300 },
    { attempt: 1, asked: 301, waits: 300 },
    { attempt: 4, asked: 80_000, waits: 80_000 },
    { attempt: 4, asked: 90_000, waits: 86_400 },
    { attempt: 5, asked: 1, waits: 86_400 },
    { attempt: 5, asked: 200_000, waits: 86_400 },
    { attempt: 6, asked: 200_000, waits: "disable" },
    { attempt: 1, asked: -1_000, waits: 60 },
  ])("for $asked s after attempt $attempt waits $waits", ({ attempt, asked, waits }) => {
    expect(askedFor(attempt, asked)).toBe(waits);
    expect(askedFor(attempt, asked, 429)).toBe(waits);
  });

  it.each([500, 502, 301, 404])("is not heard with %i", (status) => expect(askedFor(1, 200, status)).toBe(60));
  it("is never tried earlier than a schedule that grows shorter", () => {
    expect(planRetry({ attempt: 1, retried: true }, { statusCode: 503, at, retryAfter: new Date(at.getTime() + 50) }, [100, 10])).toEqual({ kind: "retry", at: new Date(at.getTime() + 100) });
  });
});

describe("a plan that comes when the webhook was changed meanwhile", () => {
  const delivered: Plan = { kind: "delivered" };
  const retry: Plan = { kind: "retry", at };
  const gone: Plan = { kind: "disable", reason: "gone" };
  const exhausted: Plan = { kind: "disable", reason: "retries_exhausted" };
  const failed: Plan = { kind: "failed" };
  it.each([
    { meanwhile: "nothing happened", isActive: true, abandoned: false, kept: [delivered, retry, gone, exhausted, failed] },
    { meanwhile: "it was disabled", isActive: false, abandoned: true, kept: [delivered, failed] },
    { meanwhile: "it was tried while disabled", isActive: false, abandoned: false, kept: [delivered, failed] },
    { meanwhile: "it was disabled and enabled again", isActive: true, abandoned: true, kept: [delivered, gone, failed] },
  ])("when meanwhile $meanwhile", ({ isActive, abandoned, kept }) => {
    for (const plan of [delivered, retry, gone, exhausted, failed]) expect(settlePlan(plan, { isActive, abandoned })).toEqual(kept.includes(plan) ? plan : failed);
  });
});
