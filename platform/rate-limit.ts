import type { Clock } from "./clock.ts";

export interface RateState {
  allowed: boolean;
  /** Requests per minute; 2147483647 when there is no limit. */
  limit: number;
  /** What is left of this minute after this request. */
  remaining: number;
  /** End of the minute, in seconds since the epoch. */
  resetAtSeconds: number;
  /** Whole seconds until then, at least 1: a `Retry-After`. */
  retryAfterSeconds: number;
}

export interface RateLimit {
  /** Counts one request under `key`; a `limitPerMinute` of 0 is no limit. Refused requests count too. */
  take(key: string, limitPerMinute: number): RateState;
  /** Whether the next `take` of this key would be refused. */
  isSpent(key: string, limitPerMinute: number): boolean;
  /** Takes the last `take` of this key back, when it turned out to concern another. */
  giveBack(key: string): void;
}

/** What "no limit" looks like in headers that have to be numbers. */
export const UNLIMITED = 2_147_483_647;

const WINDOW_MS = 60_000;

/** When the minute of a moment ends, in seconds since the epoch; `now` in ms. */
export function endOfMinute(now: number): number {
  return (Math.floor(now / WINDOW_MS) + 1) * 60;
}

/** Past this many keys in one minute the oldest start anew: somebody with many addresses must not fill the memory. */
const MAX_KEYS = 500_000;

/** Counts requests in fixed windows of one minute, aligned to the wall's minute, in this process. */
export function makeRateLimit({ clock, maxKeys = MAX_KEYS }: { clock: Clock; maxKeys?: number }): RateLimit {
  let window = -1;
  // A box for each key: counting a known key then writes a number and does not touch the map.
  let counts = new Map<string, { count: number }>();
  /** What all get who have no limit; made anew each second. */
  let unlimited: RateState = { allowed: true, limit: UNLIMITED, remaining: UNLIMITED, resetAtSeconds: 0, retryAfterSeconds: 0 };

  return {
    take(key, limitPerMinute) {
      const now = clock.now();
      const current = Math.floor(now / WINDOW_MS);
      if (current !== window) {
        window = current;
        counts = new Map();
      }
      const resetAtSeconds = endOfMinute(now);
      const retryAfterSeconds = Math.max(1, Math.ceil(resetAtSeconds - now / 1_000));
      if (limitPerMinute === 0) {
        if (unlimited.resetAtSeconds !== resetAtSeconds || unlimited.retryAfterSeconds !== retryAfterSeconds) unlimited = { ...unlimited, resetAtSeconds, retryAfterSeconds };
        return unlimited;
      }
      let box = counts.get(key);
      if (box === undefined) {
        if (counts.size >= maxKeys) counts.delete(counts.keys().next().value!);
        counts.set(key, (box = { count: 0 }));
      }
      box.count += 1;
      return { allowed: box.count <= limitPerMinute, limit: limitPerMinute, remaining: Math.max(0, limitPerMinute - box.count), resetAtSeconds, retryAfterSeconds };
    },
    isSpent(key, limitPerMinute) {
      return limitPerMinute > 0 && Math.floor(clock.now() / WINDOW_MS) === window && (counts.get(key)?.count ?? 0) >= limitPerMinute;
    },
    giveBack(key) {
      // What was taken in the minute before is gone with it.
      const box = counts.get(key);
      if (box !== undefined && box.count > 0) box.count -= 1;
    },
  };
}
