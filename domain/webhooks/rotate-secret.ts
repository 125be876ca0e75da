import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { Webhook } from "../../schemas/api/webhooks.ts";
import { webhooks } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { lockWebhook, showWebhook } from "./read.ts";
import { newSigningSecret } from "./sign.ts";

/** Gives a webhook another secret; every attempt from now on, retries too, is signed with it. NOT_FOUND. */
export async function rotateSecret(database: Database, actor: Actor, id: string, at: Date): Promise<{ webhook: Webhook; signing_secret: string }> {
  const signingSecret = newSigningSecret();
  return inTransaction(database, async (tx) => {
    const found = await lockWebhook(tx, actor.organizationId, id);
    const updatedAt = at > found.updatedAt ? at : found.updatedAt;
    const [row] = await tx.update(webhooks).set({ signingSecret, updatedAt }).where(eq(webhooks.id, id)).returning();
    const webhook = showWebhook(row!);
    // Stand-ins: the log shall name the field that changed, and has no business with the secrets.
    const [before, after] = [{ ...showWebhook(found), signing_secret: "before" }, { ...webhook, signing_secret: "after" }];
    await recordAudit(tx, actor, { action: "webhook.secret_rotated", resourceType: "webhook", resourceId: id, before, after });
    return { webhook, signing_secret: signingSecret };
  });
}
