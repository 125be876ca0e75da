import { expect, test } from "vitest";
import { decideCheck, judgeCertificate, type Known } from "./decide.ts";
import type { ProbeResult } from "./probe.ts";
import type { FetchedCertificate } from "./read-certificate.ts";

const AT = new Date("2026-03-29T00:30:00Z");
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

const inDays = (days: number) => new Date(AT.getTime() + days * DAY_MS);

function fetched(daysLeft: number, more: Partial<FetchedCertificate> = {}): ProbeResult {
  const certificate = { issuer: "CN=I", subject: "CN=S", validFrom: inDays(-50), validTo: inDays(daysLeft), serialNumber: "01", fingerprint: "AA", san: ["s"], faults: [], chainFault: null, ...more };
  return { kind: "fetched", certificate, responseTimeMs: 5, phases: { dnsMs: 1, connectMs: 1, tlsMs: 3 } };
}
const failed: ProbeResult = { kind: "unreachable", error: "Gone.", responseTimeMs: 5, phases: { dnsMs: null, connectMs: null, tlsMs: null } };

const FRESH: Known = { alertDays: 30, certificate: null, told: null };
const decide = (known: Partial<Known>, result: ProbeResult) => decideCheck({ ...FRESH, ...known }, result, AT);
const shown = (result: ProbeResult) => (result.kind === "fetched" ? judgeCertificate(result.certificate, AT) : null);
const VALID = shown(fetched(40));
const INVALID = shown(fetched(40, { faults: ["Bad."] }));

test.each([
  ["far from its expiry", fetched(40), "ok", 40, null, 6 * HOUR_MS],
  ["a day before the first warning", fetched(31), "ok", 31, null, 6 * HOUR_MS],
  ["on the day of the first warning", fetched(30.9), "warning", 30, null, HOUR_MS],
  ["four days before", fetched(4), "warning", 4, null, HOUR_MS],
  ["three days before", fetched(3.9), "critical", 3, null, HOUR_MS],
  ["an hour before", fetched(1 / 24), "critical", 0, null, HOUR_MS],
  ["at the moment of its expiry", fetched(0), "critical", 0, "The certificate expired on 2026-03-29 00:30 UTC.", HOUR_MS],
  ["a second after", fetched(-1 / 86_400), "critical", -1, "The certificate expired on 2026-03-29 00:29 UTC.", HOUR_MS],
  ["before it is valid", fetched(40, { validFrom: inDays(1) }), "critical", 40, "The certificate is not valid before 2026-03-30 00:30 UTC.", HOUR_MS],
  ["with faults", fetched(40, { faults: ["One.", "Two."] }), "critical", 40, "One. Two.", HOUR_MS],
  ["expired, and so is its chain", fetched(-2, { chainFault: "Chain." }), "critical", -2, "The certificate expired on 2026-03-27 00:30 UTC.", HOUR_MS],
  ["in force under a chain that is not", fetched(40, { chainFault: "Chain." }), "critical", 40, "Chain.", HOUR_MS],
  ["not fetched", failed, "error", undefined, "Gone.", HOUR_MS / 6],
])("%s", (_, result, status, days, error, again) => {
  const decision = decide({ told: "AA -1" }, result);
  expect({ ...decision, days: decision.certificate?.days_until_expiry }).toMatchObject({ status, days, error, again });
});

test.each([
  ["of none to a good one", null, fetched(40), "-"],
  ["of none to a bad one", null, fetched(40, { faults: ["Bad."] }), "down"],
  ["of a good one to a bad one", VALID, fetched(40, { faults: ["Bad."] }), "down"],
  ["of a good one to an expired one", VALID, fetched(-1), "down"],
  ["of a bad one to another bad one", INVALID, fetched(-1), "-"],
  ["of a bad one to a good one", INVALID, fetched(40), "up"],
  ["of a bad one to one that is valid for a day", INVALID, fetched(1), "up"],
  ["of a bad one to none", INVALID, failed, "-"],
  ["of a good one to none", VALID, failed, "-"],
])("the change %s is told", (_, certificate, result, told) => {
  const { tell } = decide({ certificate, told: "AA -1" }, result);
  expect([tell.down && "down", tell.up && "up"].filter(Boolean).join() || "-").toBe(told);
});

test.each([
  ["nothing before alert_days", 30, null, 31, null, null],
  ["at alert_days", 30, null, 30, 30, "AA 30"],
  ["not twice", 30, "AA 30", 15, null, "AA 30"],
  ["again at 14 days", 30, "AA 30", 14, 14, "AA 14"],
  ["the nearest of several", 30, "AA 30", 2, 3, "AA 3"],
  ["at 1 day", 30, "AA 3", 1, 1, "AA 1"],
  ["on the last day nothing new", 30, "AA 1", 0, null, "AA 1"],
  ["once it has expired", 30, "AA 1", -1, -1, "AA -1"],
  ["and not again", 30, "AA -1", -5, null, "AA -1"],
  ["of another certificate from the start", 30, "BB -1", 20, 30, "AA 30,BB -1"],
  ["of one of two that are shown in turns only once", 30, "BB 14,AA 30", 20, null, "BB 14,AA 30"],
  ["of the last eight", 30, "1 1,2 1,3 1,4 1,5 1,6 1,7 1,8 1", 1, 1, "AA 1,1 1,2 1,3 1,4 1,5 1,6 1,7 1"],
  ["not when alert_days grows past what was told", 60, "AA 30", 25, null, "AA 30"],
  ["only at days below a small alert_days", 5, null, 6, null, null],
  ["there at that day", 5, null, 5, 5, "AA 5"],
])("ssl.expiring: %s", (_, alertDays, told, days, threshold, toldAfter) => {
  const decision = decide({ alertDays, told }, fetched(days));
  expect({ threshold: decision.tell.expiring?.threshold ?? null, told: decision.told }).toEqual({ threshold, told: toldAfter });
});
