import { and, eq, isNull, lte, or, sql } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { idempotencyKeys } from "../../schemas/tables/all.ts";
import type { Sealed } from "./seal.ts";

/** For so long an answer is given again. */
const KEPT_MS = 24 * 3_600_000;

/** For so long a call is taken to be still running; longer than any transaction of it lasts. */
const LOCK_MS = 60_000;

/** Seconds after which a caller may ask for the answer of a call in flight. */
const RETRY_AFTER_SECONDS = 2;

/** Old answers that each claim removes of its organization: more than one new one, so that they cannot pile up and nothing else has to. */
const SWEPT_PER_CLAIM = 5;

/** Whose Idempotency-Key, and for which request. */
export interface Call {
  organizationId: string;
  apiKeyId: string;
  key: string;
  requestHash: Buffer;
}

/** The right to do what the key stands for, until `lockedUntil`. Of two claims on one key the later has the later time. */
export interface Claim extends Call {
  lockedUntil: Date;
}

/**
 * The right to go on, or the first call's answer. Of two first calls at once one gets the right, by the insert.
 * IDEMPOTENCY_MISMATCH when the key was used for another request; CONFLICT while the first call is in flight.
 */
export async function claimKey(database: Database, call: Call, at: Date): Promise<{ claim: Claim } | { kept: { status: number; sealed: Sealed } }> {
  for (;;) {
    const claim = await tryClaim(database, call, at);
    if (claim) return { claim };
    const [row] = await database
      .select({ requestHash: idempotencyKeys.requestHash, status: idempotencyKeys.status, body: idempotencyKeys.body })
      .from(idempotencyKeys)
      .where(isCall(call));
    // The other call gave its claim back in between.
    if (!row) continue;
    if (!row.requestHash.equals(call.requestHash)) {
      throw new Failure("IDEMPOTENCY_MISMATCH", "This Idempotency-Key was used for another request.", { fix: "Use a new key for a new request; send the same address and body to get the first answer again." });
    }
    if (row.status !== null) return { kept: { status: row.status, sealed: row.body as Sealed } };
    throw new Failure("CONFLICT", "The first request with this Idempotency-Key is still being answered.", { retryAfter: RETRY_AFTER_SECONDS, fix: `Send it again in ${RETRY_AFTER_SECONDS} s to get its answer.` });
  }
}

/** Null when somebody else holds the key or an answer is kept. What was abandoned or is too old is taken over. */
async function tryClaim(database: Database, call: Call, at: Date): Promise<Claim | null> {
  await forgetOld(database, call.organizationId, at);
  const lockedUntil = new Date(at.getTime() + LOCK_MS);
  const claimed = await database
    .insert(idempotencyKeys)
    .values({ ...call, lockedUntil, createdAt: at })
    .onConflictDoUpdate({
      target: [idempotencyKeys.organizationId, idempotencyKeys.apiKeyId, idempotencyKeys.key],
      set: { requestHash: call.requestHash, lockedUntil, createdAt: at, status: null, body: null },
      setWhere: or(and(isNull(idempotencyKeys.status), lte(idempotencyKeys.lockedUntil, at)), lte(idempotencyKeys.createdAt, oldest(at))),
    })
    .returning({ key: idempotencyKeys.key });
  return claimed.length === 1 ? { ...call, lockedUntil } : null;
}

async function forgetOld(database: Database, organizationId: string, at: Date): Promise<void> {
  await database.execute(
    sql`delete from ${idempotencyKeys} where ctid = any(array(
      select ctid from ${idempotencyKeys} where ${and(eq(idempotencyKeys.organizationId, organizationId), lte(idempotencyKeys.createdAt, oldest(at)))} order by ${idempotencyKeys.createdAt} limit ${SWEPT_PER_CLAIM} for update skip locked))`,
  );
}

function oldest(at: Date): Date {
  return new Date(at.getTime() - KEPT_MS);
}

export function isCall({ organizationId, apiKeyId, key }: Call) {
  return and(eq(idempotencyKeys.organizationId, organizationId), eq(idempotencyKeys.apiKeyId, apiKeyId), eq(idempotencyKeys.key, key));
}
