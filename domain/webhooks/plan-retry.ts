/** What became of an attempt, as far as it matters for what comes next. */
export interface AttemptOutcome {
  /** Null when there was no answer. */
  statusCode: number | null;
  /** When the attempt ended. */
  at: Date;
}

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
 * receiver is gone for good and disables at once.
 */
export function planRetry({ attempt, retried }: Attempt, { statusCode, at }: AttemptOutcome, delays: readonly number[]): Plan {
  if (statusCode !== null && statusCode >= 200 && statusCode < 300) return { kind: "delivered" };
  if (statusCode === 410) return { kind: "disable", reason: "gone" };
  if (!retried) return { kind: "failed" };
  const delay = delays[attempt - 1];
  return delay === undefined ? { kind: "disable", reason: "retries_exhausted" } : { kind: "retry", at: new Date(at.getTime() + delay) };
}
