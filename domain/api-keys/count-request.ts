import { Failure } from "../../platform/failures.ts";
import type { RateLimit, RateState } from "../../platform/rate-limit.ts";

/** All keys of an organization together may send so many times what one of them may. */
const KEYS_TOGETHER = 5;

/**
 * Counts a request for its key and for all keys of its organization, and gives the state of the tighter limit. What a key is
 * refused does not use up what the others have. `kind` is for requests that count apart, such as `metrics/`;
 * `limitPerMinute` is one key's, 0 is no limit.
 */
export function countRequest(rateLimit: RateLimit, kind: string, { id, organizationId }: { id: string; organizationId: string }, limitPerMinute: number): RateState {
  const own = rateLimit.take(kind + id, limitPerMinute);
  if (!own.allowed) return own;
  const together = rateLimit.take(kind + organizationId, KEYS_TOGETHER * limitPerMinute);
  return !together.allowed || together.remaining < own.remaining ? together : own;
}

/** RATE_LIMITED; `ownLimit` is what the key by itself may send a minute, when it is known. */
export function tooManyRequests({ limit, retryAfterSeconds }: RateState, ownLimit = limit): Failure {
  const whose = limit > ownLimit ? " with all keys of this organization" : "";
  return new Failure("RATE_LIMITED", `More than ${limit} requests${whose} in this minute.`, { retryAfter: retryAfterSeconds, fix: `Wait ${retryAfterSeconds} s, or send less often.` });
}
