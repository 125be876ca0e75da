import { and, eq, isNull } from "drizzle-orm";
import type { Queries } from "../../platform/postgres/database.ts";
import { idempotencyKeys } from "../../schemas/tables/all.ts";
import { isCall, type Claim } from "./claim.ts";
import type { Sealed } from "./seal.ts";

/**
 * Keeps the answer of the call that holds the claim. False when the claim ran out and was taken over: whatever this
 * call did must not stand then, so do it and this in one transaction.
 */
export async function keepAnswer(queries: Queries, claim: Claim, { status, sealed }: { status: number; sealed: Sealed }): Promise<boolean> {
  const kept = await queries.update(idempotencyKeys).set({ status, body: sealed }).where(isHeld(claim)).returning({ key: idempotencyKeys.key });
  return kept.length === 1;
}

/** Gives the claim back, so that the same request may be tried again at once. */
export async function releaseClaim(queries: Queries, claim: Claim): Promise<void> {
  await queries.delete(idempotencyKeys).where(isHeld(claim));
}

/** The time is the token: whoever takes a claim over has a later one. */
function isHeld(claim: Claim) {
  return and(isCall(claim), isNull(idempotencyKeys.status), eq(idempotencyKeys.lockedUntil, claim.lockedUntil));
}
