import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { UpdateWebhook, Webhook } from "../../schemas/api/webhooks.ts";
import { webhooks } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { maskSecretHeaders } from "../secret-names.ts";
import { checkWebhookUrl, type UrlRules } from "./check-url.ts";
import { abandonPending } from "./disable.ts";
import { auditedWebhook, lockWebhook, showWebhook, type WebhookRow } from "./read.ts";
import { unmaskHeaders } from "./unmask-headers.ts";

/**
 * Changes a webhook; what is left out stays. `is_active` false abandons what is pending; true, after it was disabled
 * for whatever reason, starts anew. NOT_FOUND; INVALID_REQUEST for its URL or a secret
 * header that would go to another origin.
 */
export async function updateWebhook({ database, config }: { database: Database; config: UrlRules }, actor: Actor, id: string, patch: UpdateWebhook, at: Date): Promise<Webhook> {
  return inTransaction(database, async (tx) => {
    const found = await lockWebhook(tx, actor.organizationId, id);
    if (patch.url !== undefined) checkWebhookUrl(patch.url, config);
    const { name, url } = patch;
    const headers = changedHeaders(found, patch);
    const events = patch.events && [...new Set(patch.events)];
    const updatedAt = at > found.updatedAt ? at : found.updatedAt;
    const [row] = await tx.update(webhooks).set({ name, url, headers, events, ...activity(found, patch.is_active, at), updatedAt }).where(eq(webhooks.id, id)).returning();
    if (found.isActive && patch.is_active === false) await abandonPending(tx, id, at);
    await recordAudit(tx, actor, { action: "webhook.updated", resourceType: "webhook", resourceId: id, before: auditedWebhook(found), after: auditedWebhook(row!) });
    return showWebhook(row!);
  });
}

/** A webhook that is disabled already keeps its reason. */
function activity(found: WebhookRow, isActive: boolean | undefined, at: Date): Partial<WebhookRow> {
  if (isActive === undefined || isActive === found.isActive) return {};
  return isActive ? { isActive, disabledAt: null, disabledReason: null } : { isActive, disabledAt: at, disabledReason: "manual" };
}

/** What is left out stays; with another URL it is judged as if it had been sent back as it was shown. */
function changedHeaders(found: WebhookRow, { headers, url }: UpdateWebhook): Record<string, string> | undefined {
  if (headers === undefined && url === undefined) return undefined;
  return unmaskHeaders(headers ?? maskSecretHeaders(found.headers), found, url ?? found.url);
}
