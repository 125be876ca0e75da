import type { ExpiryStatus } from "../../schemas/vocabulary.ts";

/** Within so many days of its expiry a certificate or a registration is critical. */
const CRITICAL_DAYS = 3;

/** Beside `alert_days`, at these days before the expiry; those below `alert_days` count. */
const THRESHOLDS = [14, 7, 3, 1];
/** What is told once it has expired, as a threshold below all others. */
const EXPIRED = -1;

/** The status of what expires in so many days. */
export function statusOfDays(days: number, alertDays: number): ExpiryStatus {
  if (days <= CRITICAL_DAYS) return "critical";
  return days <= alertDays ? "warning" : "ok";
}

/** The nearest threshold that was passed, when nothing as near was told before (`toldAt`, undefined for nothing); else null. */
export function thresholdToTell(days: number, alertDays: number, toldAt: number | undefined): number | null {
  const passed = [alertDays, ...THRESHOLDS.filter((each) => each < alertDays), EXPIRED].filter((each) => days <= each);
  if (passed.length === 0) return null;
  const nearest = Math.min(...passed);
  return toldAt !== undefined && toldAt <= nearest ? null : nearest;
}
