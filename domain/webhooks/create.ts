import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { CreateWebhook, Webhook } from "../../schemas/api/webhooks.ts";
import { webhooks } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { requireRoom } from "../organizations/require-room.ts";
import { checkWebhookUrl, type UrlRules } from "./check-url.ts";
import { auditedWebhook, showWebhook } from "./read.ts";
import { newSigningSecret } from "./sign.ts";
import { unmaskHeaders } from "./unmask-headers.ts";

/** Makes a webhook and its secret, which is never shown again. INVALID_REQUEST for its URL or a masked header; PLAN_LIMIT. */
export async function createWebhook(
  { database, config }: { database: Database; config: UrlRules },
  actor: Actor,
  { name, url, events, headers }: CreateWebhook,
  at: Date,
): Promise<{ webhook: Webhook; signing_secret: string }> {
  checkWebhookUrl(url, config);
  const stored = unmaskHeaders(headers, null, url);
  const signingSecret = newSigningSecret();
  return inTransaction(database, async (tx) => {
    await requireRoom(tx, actor.organizationId, "webhooks");
    const values = { id: newId(), organizationId: actor.organizationId, name, url, signingSecret, events: [...new Set(events)], headers: stored, createdAt: at, updatedAt: at };
    const [row] = await tx.insert(webhooks).values(values).returning();
    const webhook = showWebhook(row!);
    await recordAudit(tx, actor, { action: "webhook.created", resourceType: "webhook", resourceId: webhook.id, before: null, after: auditedWebhook(row!) });
    return { webhook, signing_secret: signingSecret };
  });
}
