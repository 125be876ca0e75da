import { and, eq, isNull } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { apiKeys } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { showApiKey } from "./read.ts";

/** Ends a key for good. NOT_FOUND also when it was revoked before. */
export async function revokeApiKey(database: Database, actor: Actor, id: string, at: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    const own = and(eq(apiKeys.organizationId, actor.organizationId), eq(apiKeys.id, id), isNull(apiKeys.revokedAt));
    const [row] = isUuid(id) ? await tx.update(apiKeys).set({ revokedAt: at }).where(own).returning() : [];
    if (!row) throw new Failure("NOT_FOUND", "No such API key.");
    await recordAudit(tx, actor, { action: "api_key.revoked", resourceType: "api_key", resourceId: id, before: showApiKey(row), after: null });
  });
}
