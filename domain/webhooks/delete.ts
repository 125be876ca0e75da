import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { webhooks } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { lockWebhook, auditedWebhook } from "./read.ts";

/** Deletes a webhook with its deliveries, pending ones too. NOT_FOUND. */
export async function deleteWebhook(database: Database, actor: Actor, id: string): Promise<void> {
  await inTransaction(database, async (tx) => {
    const found = await lockWebhook(tx, actor.organizationId, id);
    await tx.delete(webhooks).where(eq(webhooks.id, id));
    await recordAudit(tx, actor, { action: "webhook.deleted", resourceType: "webhook", resourceId: id, before: auditedWebhook(found), after: null });
  });
}
