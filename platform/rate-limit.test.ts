import { describe, expect, it } from "vitest";
import { makeRateLimit, UNLIMITED } from "./rate-limit.ts";

const MINUTE = 60_000;

function limitAt(start: number, maxKeys?: number) {
  const clock = { time: start, now: () => clock.time, monotonic: () => clock.time };
  return { clock, limit: makeRateLimit({ clock, ...(maxKeys !== undefined && { maxKeys }) }) };
}

describe("the rate limit", () => {
  it("allows as many as the limit in one minute, then refuses until the minute ends", () => {
    const { clock, limit } = limitAt(10 * MINUTE + 15_000);
    expect(limit.take("a", 2)).toEqual({ allowed: true, limit: 2, remaining: 1, resetAtSeconds: 660, retryAfterSeconds: 45 });
    expect(limit.take("a", 2)).toMatchObject({ allowed: true, remaining: 0 });
    expect(limit.take("a", 2)).toMatchObject({ allowed: false, remaining: 0, retryAfterSeconds: 45 });
    clock.time = 11 * MINUTE - 1;
    expect(limit.take("a", 2)).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
    clock.time = 11 * MINUTE;
    expect(limit.take("a", 2)).toMatchObject({ allowed: true, remaining: 1, resetAtSeconds: 720 });
  });

  it("counts each key by itself", () => {
    const { limit } = limitAt(0);
    limit.take("a", 1);
    expect(limit.take("a", 1).allowed).toBe(false);
    expect(limit.take("b", 1).allowed).toBe(true);
  });

  it("never refuses when the limit is 0", () => {
    const { limit } = limitAt(0);
    for (let n = 0; n < 1_000; n++) expect(limit.take("a", 0)).toMatchObject({ allowed: true, limit: UNLIMITED, remaining: UNLIMITED });
  });

  it("gives back what was taken, and nothing that was not", () => {
    const { limit } = limitAt(0);
    limit.giveBack("a");
    limit.take("a", 1);
    limit.giveBack("a");
    limit.giveBack("a");
    expect(limit.take("a", 1).allowed).toBe(true);
    expect(limit.take("a", 1).allowed).toBe(false);
  });

  it("keeps a bounded number of keys", () => {
    const { limit } = limitAt(0, 2);
    limit.take("a", 1);
    limit.take("b", 1);
    limit.take("c", 1);
    expect(limit.take("c", 1).allowed).toBe(false);
    expect(limit.take("a", 1).allowed).toBe(true);
  });

  it("counts anew when the wall clock was set back", () => {
    const { clock, limit } = limitAt(10 * MINUTE);
    limit.take("a", 1);
    clock.time = 5 * MINUTE;
    expect(limit.take("a", 1)).toMatchObject({ allowed: true, resetAtSeconds: 360 });
  });
});
