import { Failure } from "../../platform/failures.ts";
import type { Scope } from "../../schemas/vocabulary.ts";

/** Whether these scopes contain one; `*:*` contains all, a write scope does not contain read. */
export function holdsScope(held: readonly string[], scope: Scope): boolean {
  return held.includes("*:*") || held.includes(scope);
}

/** Why a key that exists is not valid at `now` (milliseconds since the epoch), or null. Only the key's own holder gets to see it. */
export function invalidity({ revokedAt, expiresAt }: { revokedAt: Date | null; expiresAt: Date | null }, now: number): Failure | null {
  if (revokedAt !== null) return new Failure("UNAUTHENTICATED", "This API key was revoked.", { fix: "Use another key, or make one with POST /api/v1/api-keys." });
  if (expiresAt !== null && expiresAt.getTime() <= now) {
    return new Failure("UNAUTHENTICATED", `This API key expired at ${expiresAt.toISOString()}.`, { fix: "Make a new key with POST /api/v1/api-keys." });
  }
  return null;
}

/** The refusal when none of `wanted` is held, naming the first (specification §5); else null. */
export function scopeRefusal(held: readonly string[], wanted: readonly Scope[]): Failure | null {
  if (wanted.some((scope) => holdsScope(held, scope))) return null;
  return new Failure("INSUFFICIENT_SCOPE", `Insufficient scope: ${wanted[0]} required`, { fix: "Use a key that has this scope, or make one with POST /api/v1/api-keys." });
}
