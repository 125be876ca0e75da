import { and, desc, eq, inArray, isNotNull } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { CreateApiKey, CreatedApiKey } from "../../schemas/api/api-keys.ts";
import { apiKeys } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { makeApiKey } from "./format.ts";
import { requireRoom } from "../organizations/require-room.ts";
import { readHeldRights } from "./held-rights.ts";
import { holdsScope } from "./judge.ts";
import { showApiKey } from "./read.ts";

/** Revoked keys that an organization keeps, so that their holders are told. */
const REVOKED_KEPT = 1_000;

/**
 * Makes a key, which can do no more than its maker and ends no later. INSUFFICIENT_SCOPE naming a scope that its maker does not hold;
 * INVALID_REQUEST for an expiry that has passed or is later than the maker's own, which holds where none is named; PLAN_LIMIT.
 */
export async function createApiKey(database: Database, actor: Actor, input: CreateApiKey, at: Date): Promise<CreatedApiKey> {
  return inTransaction(database, (tx) => createApiKeyIn(tx, actor, input, at));
}

/** As `createApiKey`, within a transaction. */
export async function createApiKeyIn(tx: Transaction, actor: Actor, input: CreateApiKey, at: Date): Promise<CreatedApiKey> {
  const held = await readHeldRights(tx, actor, at);
  const missing = input.scopes.find((scope) => !holdsScope(held.scopes, scope));
  if (missing !== undefined) throw new Failure("INSUFFICIENT_SCOPE", `Insufficient scope: ${missing} required`, { path: "/scopes", fix: "A key can only grant scopes that it holds itself." });
  // Left out, it is the maker's own; null asks for a key that never ends.
  const expiresAt = input.expires_at === undefined ? held.expiresAt : input.expires_at === null ? null : new Date(input.expires_at);
  if (expiresAt !== null && expiresAt <= at) throw new Failure("INVALID_REQUEST", "expires_at has passed already.", { path: "/expires_at", fix: "Name a moment in the future, or leave it out." });
  if (held.expiresAt !== null && (expiresAt === null || expiresAt > held.expiresAt)) {
    const end = held.expiresAt.toISOString();
    throw new Failure("INVALID_REQUEST", `The key that makes this one expires at ${end}; this one cannot work longer.`, { path: "/expires_at", fix: `Name ${end} or an earlier moment, or leave it out.` });
  }
  await requireRoom(tx, actor.organizationId, "api_keys");
  await forgetRevokedKeys(tx, actor.organizationId);

  const { key, prefix, hash } = makeApiKey();
  const scopes = [...new Set(input.scopes)];
  const [row] = await tx
    .insert(apiKeys)
    .values({ id: newId(), organizationId: actor.organizationId, name: input.name, prefix, hash, scopes, expiresAt, createdAt: at })
    .returning();
  const shown = showApiKey(row!);
  await recordAudit(tx, actor, { action: "api_key.created", resourceType: "api_key", resourceId: shown.id, before: null, after: shown });
  return { api_key: shown, key };
}

/** Without it whoever makes and revokes keys in turns would fill the table. */
async function forgetRevokedKeys(tx: Transaction, organizationId: string): Promise<void> {
  const revoked = and(eq(apiKeys.organizationId, organizationId), isNotNull(apiKeys.revokedAt));
  const old = tx.select({ id: apiKeys.id }).from(apiKeys).where(revoked).orderBy(desc(apiKeys.revokedAt)).offset(REVOKED_KEPT);
  await tx.delete(apiKeys).where(inArray(apiKeys.id, old));
}
