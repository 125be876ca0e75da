const SECOND = 1_000;

/** So long after the first attempt it is tried again: that is 10 s, 1 min, 5 min, 30 min and 2 h after the attempt before. */
const RETRIES_AFTER_MS = [10, 70, 370, 2_170, 9_370].map((seconds) => seconds * SECOND);

/** New notices of a channel that fails wait at most so long: the vendor may be back. */
const LONGEST_PAUSE_MS = 60 * SECOND;

/**
 * When a notification is tried again after a failure at `at`, null when it is given up. By the time since its first attempt, not by
 * their number: what comes new to a channel has everything before it tried too, and must not use its tries up.
 */
export function planRetry(firstAttemptAt: Date, at: Date, afterMs: number | null): Date | null {
  const elapsed = at.getTime() - firstAttemptAt.getTime();
  const next = RETRIES_AFTER_MS.find((offset) => offset > elapsed);
  return next === undefined ? null : new Date(Math.max(firstAttemptAt.getTime() + next, at.getTime() + (afterMs ?? 0)));
}

/** Until when nothing that waits for a channel makes it be tried again, after a failure at `at` whose own retry is at `retryAt`. */
export function pauseUntil(at: Date, retryAt: Date | null): Date {
  return new Date(Math.min(at.getTime() + LONGEST_PAUSE_MS, retryAt?.getTime() ?? at.getTime()));
}
