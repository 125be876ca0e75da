import type { CertificateInFull } from "../../../schemas/api/ssl-monitors.ts";
import type { ExpiryStatus } from "../../../schemas/vocabulary.ts";
import { statusOfDays, thresholdToTell } from "../expiry.ts";
import type { ProbeResult } from "./probe.ts";
import type { FetchedCertificate } from "./read-certificate.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Certificates whose warnings are remembered. */
const MOST_TOLD = 8;

const CHECK_MS = { good: 360 * MINUTE_MS, notGood: 60 * MINUTE_MS, notFetched: 10 * MINUTE_MS };

/** What a monitor knew before a check. */
export interface Known {
  alertDays: number;
  certificate: CertificateInFull | null;
  /** `<fingerprint> <threshold>` of the last warning of each certificate, the latest first, with commas between: servers behind one name may show several in turns. */
  told: string | null;
}

export interface Decision {
  status: ExpiryStatus;
  error: string | null;
  /** Of the check, null when none was fetched; what the monitor knew holds on. */
  certificate: CertificateInFull | null;
  told: string | null;
  /** What there is to tell, each once. */
  tell: { down: boolean; up: boolean; expiring: { threshold: number } | null };
  /** Until the next check, in ms. */
  again: number;
}

/**
 * What follows from a check. `monitor.down` when the certificate becomes invalid, which expiring makes it; `monitor.up` when one that is valid comes again, not when
 * the check fails: a server that cannot be reached says nothing about its certificate. `ssl.expiring` once per certificate and threshold; of several that were passed
 * at once the nearest is told.
 */
export function decideCheck(known: Known, result: ProbeResult, at: Date): Decision {
  if (result.kind !== "fetched") {
    return { status: "error", error: failureOf(result), certificate: null, told: known.told, tell: { down: false, up: false, expiring: null }, again: CHECK_MS.notFetched };
  }
  const certificate = judgeCertificate(result.certificate, at);
  const { status, error } = judgeStatus(certificate, known.alertDays);
  const wasInvalid = known.certificate?.is_valid === false;
  const threshold = thresholdToTell(certificate.days_until_expiry, known.alertDays, toldAtOf(certificate.fingerprint, known.told));
  return {
    status,
    error,
    certificate,
    told: threshold === null ? known.told : withTold(known.told, certificate.fingerprint, threshold),
    tell: { down: !certificate.is_valid && !wasInvalid, up: certificate.is_valid && wasInvalid, expiring: threshold === null ? null : { threshold } },
    again: status === "ok" ? CHECK_MS.good : CHECK_MS.notGood,
  };
}

/** A certificate as it stands at a moment. */
export function judgeCertificate(fetched: FetchedCertificate, at: Date): CertificateInFull {
  const reasons = [...datesFaults(fetched, at), ...fetched.faults];
  return {
    issuer: fetched.issuer,
    subject: fetched.subject,
    valid_from: fetched.validFrom.toISOString(),
    valid_to: fetched.validTo.toISOString(),
    days_until_expiry: daysUntil(fetched.validTo, at),
    is_valid: reasons.length === 0,
    invalid_reason: reasons.length === 0 ? null : reasons.join(" "),
    serial_number: fetched.serialNumber,
    fingerprint: fetched.fingerprint,
    san: fetched.san,
  };
}

/** Whole days, rounded down: -1 from the moment of the expiry on. */
function daysUntil(validTo: Date, at: Date): number {
  return Math.floor((validTo.getTime() - at.getTime()) / DAY_MS);
}

/** The status of a certificate under a number of days. */
export function judgeStatus({ is_valid: valid, invalid_reason: error, days_until_expiry: days }: Pick<CertificateInFull, "is_valid" | "invalid_reason" | "days_until_expiry">, alertDays: number): { status: ExpiryStatus; error: string | null } {
  const status = valid ? statusOfDays(days, alertDays) : "critical";
  return { status, error: status === "critical" ? error : null };
}

function failureOf(result: Exclude<ProbeResult, { kind: "fetched" }>): string {
  return result.kind === "unreachable" && result.fix !== undefined ? `${result.error} ${result.fix}` : result.error;
}

function datesFaults({ validFrom, validTo, chainFault }: FetchedCertificate, at: Date): string[] {
  if (at >= validTo) return [`The certificate expired on ${moment(validTo)}.`];
  if (at < validFrom) return [`The certificate is not valid before ${moment(validFrom)}.`];
  return chainFault === null ? [] : [chainFault];
}

/** The threshold that was told last of this certificate. */
function toldAtOf(fingerprint: string, told: string | null): number | undefined {
  return warnings(told).find(([of]) => of === fingerprint)?.[1];
}

function withTold(told: string | null, fingerprint: string, threshold: number): string {
  const others = warnings(told).filter(([of]) => of !== fingerprint);
  return [[fingerprint, threshold] as const, ...others].slice(0, MOST_TOLD).map(([of, at]) => `${of} ${at}`).join(",");
}

function warnings(told: string | null): (readonly [string, number])[] {
  return (told ?? "").split(",").filter(Boolean).map((each) => [each.split(" ")[0]!, Number(each.split(" ")[1])]);
}

function moment(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
