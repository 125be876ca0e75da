import { describe, expect, it } from "vitest";
import { statusOfDays } from "../expiry.ts";
import { decideLookup } from "./decide.ts";
import type { Lookup } from "./registration.ts";

const AT = new Date("2026-05-01T12:00:00Z");
const DAY_MS = 86_400_000;
const after = (days: number) => new Date(AT.getTime() + days * DAY_MS).toISOString();

const found = (expiry: string | null): Lookup => ({
  kind: "found",
  registration: { registrar: null, registrar_url: null, created_date: null, updated_date: null, expiry_date: expiry, nameservers: [], status: [] },
  error: expiry === null ? "The registry does not tell." : null,
});
const unknown = { alertDays: 30, daysUntilExpiry: null, told: null };
const NOTHING = { down: false, up: false, expiring: false };

describe("the status", () => {
  it.each([
    [400, "ok", 400],
    [31, "ok", 31],
    [30.5, "warning", 30],
    [4, "warning", 4],
    [3.5, "critical", 3],
    [0.1, "critical", 0],
    [0, "critical", -1],
    [-0.1, "critical", -1],
    [-40.5, "critical", -41],
  ])("%d days before the expiry", (days, status, shown) => {
    expect(decideLookup(unknown, found(after(days)), AT)).toMatchObject({ status, daysUntilExpiry: shown, error: days > 0 ? null : expect.stringContaining("expired on") });
  });

  it("follows alert_days", () => expect([statusOfDays(45, 60), statusOfDays(45, 44), statusOfDays(2, 1)]).toEqual(["warning", "ok", "critical"]));

  it("is error, and nothing is told, when the expiry cannot be had", () => {
    for (const lookup of [found(null), { kind: "not_registered", error: "No." }, { kind: "failed", error: "Away.", retryAfterMs: null }] satisfies Lookup[]) {
      expect(decideLookup({ ...unknown, daysUntilExpiry: -2, told: "x 3" }, lookup, AT)).toMatchObject({ status: "error", error: lookup.error, daysUntilExpiry: null, told: "x 3", tell: NOTHING });
    }
  });
});

describe("what is told", () => {
  it("is each threshold once, down once, and up when renewed", () => {
    const expiry = after(40);
    let known: Parameters<typeof decideLookup>[0] = unknown;
    const told: string[] = [];
    const look = (lookup: Lookup, day: number) => {
      const { told: now, daysUntilExpiry, tell } = decideLookup(known, lookup, new Date(AT.getTime() + day * DAY_MS));
      known = { alertDays: 30, told: now, daysUntilExpiry: daysUntilExpiry ?? known.daysUntilExpiry };
      for (const [name, yes] of Object.entries(tell)) if (yes) told.push(`${name} ${day}`);
    };
    for (let day = 0; day <= 45; day++) look(found(expiry), day);
    // A registry that is away in between changes nothing.
    look({ kind: "failed", error: "Away.", retryAfterMs: null }, 46);
    look(found(expiry), 47);
    look(found(after(400)), 48);
    expect(told).toEqual(["expiring 10", "expiring 26", "expiring 33", "expiring 37", "expiring 39", "down 40", "expiring 40", "up 48"]);
  });

  it("of several thresholds passed at once the nearest alone", () => {
    const decision = decideLookup(unknown, found(after(2)), AT);
    expect(decision).toMatchObject({ told: `${after(2)} 3`, tell: { ...NOTHING, expiring: true } });
    expect(decideLookup({ ...unknown, told: decision.told, alertDays: 60 }, found(after(2)), AT).tell).toEqual(NOTHING);
  });
});

describe("the next look-up", () => {
  it("is a day away, or sooner after a failure, but not before the server wants it", () => {
    const { restMs, everyMs } = decideLookup(unknown, found(after(100)), AT);
    expect([restMs, everyMs]).toEqual([DAY_MS - 3_600_000, DAY_MS]);
    expect(decideLookup(unknown, { kind: "failed", error: "Away.", retryAfterMs: null }, AT)).toMatchObject({ restMs: 0, everyMs: 3_600_000 });
    expect(decideLookup(unknown, { kind: "failed", error: "Away.", retryAfterMs: 7_200_000 }, AT)).toMatchObject({ restMs: 7_200_000, everyMs: 3_600_000 });
    expect(decideLookup(unknown, { kind: "failed", error: "Away.", retryAfterMs: 1e12 }, AT)).toMatchObject({ restMs: DAY_MS });
  });
});
