import type { ExpiryStatus } from "../../../schemas/vocabulary.ts";
import { statusOfDays, thresholdToTell } from "../expiry.ts";
import type { Lookup, Registration } from "./registration.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** What a monitor knew before a look-up. */
interface Known {
  alertDays: number;
  /** As last found; null before that. */
  daysUntilExpiry: number | null;
  /** `<expiry> <threshold>` of the last warning. */
  told: string | null;
}

export interface Decision {
  status: ExpiryStatus;
  error: string | null;
  /** Of the look-up, null when none was found; what the monitor knew holds on. */
  registration: Registration | null;
  daysUntilExpiry: number | null;
  told: string | null;
  /** What there is to tell, each once. */
  tell: { down: boolean; up: boolean; expiring: boolean };
  /** No look-up for so long, and then within `everyMs`. */
  restMs: number;
  everyMs: number;
}

/**
 * What follows from a look-up. `monitor.down` when the registration is found to have expired, `monitor.up` when it is found renewed: a registry that cannot be
 * asked, or does not tell, says neither. `domain.expiring` once per expiry and threshold; of several that were passed at once the nearest is told.
 */
export function decideLookup(known: Known, lookup: Lookup, at: Date): Decision {
  const registration = lookup.kind === "found" ? lookup.registration : null;
  // A day less an hour: what is due on a grid of days stays on it, and no two look-ups come closer.
  const daily = { restMs: DAY_MS - HOUR_MS, everyMs: DAY_MS };
  const expiry = registration?.expiry_date ?? null;
  if (expiry === null) {
    const again = lookup.kind === "failed" ? { restMs: Math.min(lookup.retryAfterMs ?? 0, DAY_MS), everyMs: HOUR_MS } : daily;
    return { status: "error", error: lookup.error, registration, daysUntilExpiry: null, told: known.told, tell: { down: false, up: false, expiring: false }, ...again };
  }
  const days = daysUntil(expiry, at);
  const threshold = thresholdToTell(days, known.alertDays, toldAtOf(expiry, known.told));
  const wasExpired = known.daysUntilExpiry !== null && known.daysUntilExpiry < 0;
  return {
    status: statusOfDays(days, known.alertDays),
    error: days < 0 ? `The registration expired on ${expiry.slice(0, 10)}.` : null,
    registration,
    daysUntilExpiry: days,
    told: threshold === null ? known.told : `${expiry} ${threshold}`,
    tell: { down: days < 0 && !wasExpired, up: days >= 0 && wasExpired, expiring: threshold !== null },
    ...daily,
  };
}

/** Whole days, rounded down: -1 from the moment of the expiry on. */
function daysUntil(expiry: string, at: Date): number {
  const left = Date.parse(expiry) - at.getTime();
  return left <= 0 ? Math.min(Math.floor(left / DAY_MS), -1) : Math.floor(left / DAY_MS);
}

/** The threshold that was told last of this expiry. */
function toldAtOf(expiry: string, told: string | null): number | undefined {
  const [toldOf, toldAt] = told?.split(" ") ?? [];
  return toldOf === expiry ? Number(toldAt) : undefined;
}
