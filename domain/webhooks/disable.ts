import { and, eq, gt, or, sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { webhookDeliveries, webhooks } from "../../schemas/tables/all.ts";
import { systemActor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { showWebhook, type WebhookRow } from "./read.ts";

/**
 * Disables a webhook that the transaction has locked, because its receiver failed for good, and abandons what is
 * pending. Returns false when it was disabled before.
 */
export async function disableWebhook(tx: Transaction, webhook: WebhookRow, reason: "retries_exhausted" | "gone", at: Date): Promise<boolean> {
  if (!webhook.isActive) return false;
  const [row] = await tx.update(webhooks).set({ isActive: false, disabledAt: at, disabledReason: reason, updatedAt: at }).where(eq(webhooks.id, webhook.id)).returning();
  await abandonPending(tx, webhook.id, at);
  const change = { action: "webhook.disabled", resourceType: "webhook", resourceId: webhook.id, before: showWebhook(webhook), after: showWebhook(row!) };
  await recordAudit(tx, systemActor(webhook.organizationId, "Webhook deliveries"), change);
  return true;
}

/**
 * Gives up what is pending of a webhook. An attempt that is being made keeps its lease token, so that its outcome is
 * still recorded; failed attempts no longer promise a retry.
 */
export async function abandonPending(tx: Transaction, webhookId: string, at: Date): Promise<void> {
  const { status, nextRetryAt } = webhookDeliveries;
  await tx
    .update(webhookDeliveries)
    .set({ status: sql`case when ${status} = 'pending' then 'abandoned' else ${status} end`, nextRetryAt: null })
    .where(and(eq(webhookDeliveries.webhookId, webhookId), or(eq(status, "pending"), gt(nextRetryAt, at))));
}
