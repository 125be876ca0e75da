import { Failure } from "../../platform/failures.ts";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { CreateApiKey, CreatedApiKey } from "../../schemas/api/api-keys.ts";
import { apiKeys } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { makeApiKey } from "./format.ts";
import { holdsScope } from "./judge.ts";
import { showApiKey } from "./read.ts";

interface Granting {
  /** Scopes of whoever makes the key: nobody can grant more than they hold. `["*:*"]` for the operator. */
  heldScopes: readonly string[];
  at: Date;
}

/** Makes a key. INSUFFICIENT_SCOPE naming a scope that its maker does not hold; INVALID_REQUEST for an expiry that has passed. */
export async function createApiKey(database: Database, actor: Actor, input: CreateApiKey, granting: Granting): Promise<CreatedApiKey> {
  return inTransaction(database, (tx) => createApiKeyIn(tx, actor, input, granting));
}

/** As `createApiKey`, within a transaction. */
export async function createApiKeyIn(tx: Transaction, actor: Actor, input: CreateApiKey, { heldScopes, at }: Granting): Promise<CreatedApiKey> {
  const missing = input.scopes.find((scope) => !holdsScope(heldScopes, scope));
  if (missing !== undefined) throw new Failure("INSUFFICIENT_SCOPE", `Insufficient scope: ${missing} required`, { path: "/scopes", fix: "A key can only grant scopes that it holds itself." });
  const expiresAt = input.expires_at ? new Date(input.expires_at) : null;
  if (expiresAt !== null && expiresAt <= at) throw new Failure("INVALID_REQUEST", "expires_at has passed already.", { path: "/expires_at", fix: "Name a moment in the future, or leave it out." });

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
