import { and, eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import { apiKeys } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { invalidity } from "./judge.ts";

/** What somebody may do, and hand on. */
export interface HeldRights {
  /** `["*:*"]` for the operator and the service itself. */
  scopes: readonly string[];
  /** When the key ends that they act with; null when it does not. */
  expiresAt: Date | null;
}

/**
 * The rights of who acts, as they are now: a key that was revoked a moment ago may still be known at the door.
 * UNAUTHENTICATED when it is gone, revoked or expired.
 */
export async function readHeldRights(queries: Queries, { organizationId, type, id }: Actor, at: Date): Promise<HeldRights> {
  if (type !== "api_key") return { scopes: ["*:*"], expiresAt: null };
  const [row] = await queries
    .select({ scopes: apiKeys.scopes, expiresAt: apiKeys.expiresAt, revokedAt: apiKeys.revokedAt })
    .from(apiKeys)
    .where(and(eq(apiKeys.organizationId, organizationId), eq(apiKeys.id, id!)));
  if (!row) throw new Failure("UNAUTHENTICATED", "This API key does not exist any more.");
  const refusal = invalidity(row, at.getTime());
  if (refusal) throw refusal;
  return row;
}
