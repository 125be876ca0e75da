import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { CreateWebhook, Webhook } from "../../schemas/api/webhooks.ts";
import { webhooks } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { requireRoom } from "../organizations/require-room.ts";
import { checkWebhookUrl, type UrlRules } from "./check-url.ts";
import { showWebhook } from "./read.ts";
import { newSigningSecret } from "./sign.ts";

/** Makes a webhook and its secret, which is never shown again. INVALID_REQUEST for its URL; PLAN_LIMIT. */
export async function createWebhook(
  { database, config }: { database: Database; config: UrlRules },
  actor: Actor,
  { name, url, events, headers }: CreateWebhook,
  at: Date,
): Promise<{ webhook: Webhook; signing_secret: string }> {
  checkWebhookUrl(url, config);
  const signingSecret = newSigningSecret();
  return inTransaction(database, async (tx) => {
    await requireRoom(tx, actor.organizationId, "webhooks");
    const values = { id: newId(), organizationId: actor.organizationId, name, url, signingSecret, events: [...new Set(events)], headers, createdAt: at, updatedAt: at };
    const [row] = await tx.insert(webhooks).values(values).returning();
    const webhook = showWebhook(row!);
    await recordAudit(tx, actor, { action: "webhook.created", resourceType: "webhook", resourceId: webhook.id, before: null, after: webhook });
    return { webhook, signing_secret: signingSecret };
  });
}
