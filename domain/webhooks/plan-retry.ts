/** What became of an attempt, as far as it matters for what comes next. */
export interface AttemptOutcome {
  /** Null when there was no answer. */
  statusCode: number | null;
  /** When the attempt ended. */
  at: Date;
  /** The moment before which the receiver asked not to be tried again (`Retry-After`); null when it asked for nothing. */
  retryAfter: Date | null;
}

const DAY_MS = 24 * 60 * 60_000;

/** Too many requests, and not available: the answers with which a receiver may ask for time (RFC 9110 §10.2.3, RFC 6585 §4). */
const ASKING_FOR_TIME = new Set<number | null>([429, 503]);

export type Plan = { kind: "delivered" } | { kind: "retry"; at: Date } | { kind: "disable"; reason: "retries_exhausted" | "gone" } | { kind: "failed" };

interface Attempt {
  /** 1 for the first try, which is no retry. */
  attempt: number;
  /** False for tests and redeliveries: a person looks at those, so they are tried once and exhaust nothing. */
  retried: boolean;
}

/**
 * What follows an attempt (specification §6): anything but 2xx is a failure, redirects too; retry n comes `delays[n]`
 * ms after the failure before it; when the last retry has failed the webhook is disabled. 410 means that the
 * receiver is gone for good and disables at once. A receiver that asks for time with 429 or 503 gets it, at most as long
 * as the next retry would wait (24 hours for the last), and is never tried earlier than planned.
 */
export function planRetry({ attempt, retried }: Attempt, { statusCode, at, retryAfter }: AttemptOutcome, delays: readonly number[]): Plan {
  if (statusCode !== null && statusCode >= 200 && statusCode < 300) return { kind: "delivered" };
  if (statusCode === 410) return { kind: "disable", reason: "gone" };
  if (!retried) return { kind: "failed" };
  const delay = delays[attempt - 1];
  if (delay === undefined) return { kind: "disable", reason: "retries_exhausted" };
  const asked = retryAfter && ASKING_FOR_TIME.has(statusCode) ? retryAfter.getTime() - at.getTime() : 0;
  return { kind: "retry", at: new Date(at.getTime() + Math.max(delay, Math.min(asked, delays[attempt] ?? DAY_MS))) };
}

/**
 * A plan as it can still be carried out. A webhook that was disabled meanwhile gets no retry and is not disabled again. An attempt that was
 * `abandoned` while it ran belongs to the time before: its failure exhausts nothing of a webhook that was enabled again. 410 counts all the same.
 */
export function settlePlan(plan: Plan, { isActive, abandoned }: { isActive: boolean; abandoned: boolean }): Plan {
  if (plan.kind === "delivered") return plan;
  const holds = isActive && (!abandoned || (plan.kind === "disable" && plan.reason === "gone"));
  return holds ? plan : { kind: "failed" };
}
