import { and, eq, gt, isNull, lte, or, type SQL } from "drizzle-orm";
import { errorSignatures } from "../../schemas/tables/all.ts";
import type { ErrorStatus } from "../../schemas/vocabulary.ts";

/** A signature ignored until a moment that has passed is new again, whether or not it happened since. `now` in milliseconds since the epoch. */
export function effectiveStatus({ status, ignoreUntil }: { status: ErrorStatus; ignoreUntil: Date | null }, now: number): ErrorStatus {
  return status === "ignored" && ignoreUntil !== null && ignoreUntil.getTime() <= now ? "new" : status;
}

/** The same as a condition. */
export function hasStatus(status: ErrorStatus, now: number): SQL | undefined {
  const { status: stored, ignoreUntil } = errorSignatures;
  if (status === "ignored") return and(eq(stored, "ignored"), or(isNull(ignoreUntil), gt(ignoreUntil, new Date(now))));
  if (status === "new") return or(eq(stored, "new"), and(eq(stored, "ignored"), lte(ignoreUntil, new Date(now))));
  return eq(stored, status);
}
