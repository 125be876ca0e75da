import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { RotatedSecret, RotateSecret } from "../../schemas/api/webhooks.ts";
import { webhooks } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { ROTATION_MS } from "./previous-secret.ts";
import { auditedWebhook, lockWebhook, showWebhook } from "./read.ts";
import { newSigningSecret } from "./sign.ts";

/**
 * Gives a webhook another secret; every attempt from now on, retries too, is signed with it, and for 24 hours with the one
 * before as well, unless that shall end at once because others know it. An older one ends now. NOT_FOUND.
 */
export async function rotateSecret(database: Database, actor: Actor, id: string, { expire_previous: endNow }: RotateSecret, at: Date): Promise<RotatedSecret> {
  const signingSecret = newSigningSecret();
  return inTransaction(database, async (tx) => {
    const found = await lockWebhook(tx, actor.organizationId, id);
    const updatedAt = at > found.updatedAt ? at : found.updatedAt;
    const previous = endNow ? { previousSecret: null, previousSecretExpiresAt: null } : { previousSecret: found.signingSecret, previousSecretExpiresAt: new Date(at.getTime() + ROTATION_MS) };
    const [row] = await tx.update(webhooks).set({ signingSecret, ...previous, updatedAt }).where(eq(webhooks.id, id)).returning();
    const webhook = showWebhook(row!);
    // Stand-ins: the log shall name the field that changed, and has no business with the secrets.
    const [before, after] = [{ ...auditedWebhook(found), signing_secret: "before" }, { ...auditedWebhook(row!), signing_secret: "after" }];
    await recordAudit(tx, actor, { action: "webhook.secret_rotated", resourceType: "webhook", resourceId: id, before, after });
    return { webhook, signing_secret: signingSecret, previous_secret_expires_at: previous.previousSecretExpiresAt?.toISOString() ?? null };
  });
}
