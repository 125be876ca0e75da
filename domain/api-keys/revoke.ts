import { and, eq, isNull } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { apiKeys } from "../../schemas/tables/all.ts";
import type { Scope } from "../../schemas/vocabulary.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { disableWorkflowsOf } from "../workflows/disable.ts";
import { readHeldRights } from "./held-rights.ts";
import { holdsScope } from "./judge.ts";
import { showApiKey } from "./read.ts";

/** Ends a key for good, and disables the workflows that it saved last. NOT_FOUND also when it was revoked before; INSUFFICIENT_SCOPE for a scope that it holds and who asks does not. */
export async function revokeApiKey(database: Database, actor: Actor, id: string, at: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    const own = and(eq(apiKeys.organizationId, actor.organizationId), eq(apiKeys.id, id), isNull(apiKeys.revokedAt));
    const held = await readHeldRights(tx, actor, at);
    const [row] = isUuid(id) ? await tx.select().from(apiKeys).where(own) : [];
    if (!row) throw new Failure("NOT_FOUND", "No such API key.");
    const missing = id === actor.id ? undefined : (row.scopes as Scope[]).find((scope) => !holdsScope(held.scopes, scope));
    if (missing !== undefined) throw new Failure("INSUFFICIENT_SCOPE", `Insufficient scope: ${missing} required`, { fix: "A key can only revoke keys whose scopes it holds itself." });
    const revoked = await tx.update(apiKeys).set({ revokedAt: at }).where(own).returning({ id: apiKeys.id });
    if (revoked.length === 0) throw new Failure("NOT_FOUND", "No such API key.");
    await recordAudit(tx, actor, { action: "api_key.revoked", resourceType: "api_key", resourceId: id, before: showApiKey(row), after: null });
    await disableWorkflowsOf(tx, { organizationId: actor.organizationId, keyId: row.id }, `The API key "${row.name}" was revoked.`, at);
  });
}
