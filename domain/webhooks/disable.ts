import { and, eq, gt, or, sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { webhookDeliveries, webhooks } from "../../schemas/tables/all.ts";
import { systemActor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { tellOwner } from "../organizations/tell-owner.ts";
import { describeDisabled } from "./describe-disabled.ts";
import { auditedWebhook, type WebhookRow } from "./read.ts";

/** Why a receiver failed for good. */
export interface FinalFailure {
  reason: "retries_exhausted" | "gone";
  /** The last answer; null when there was none. */
  statusCode: number | null;
  /** When the first attempt at the event was planned. */
  since: Date;
}

/**
 * Disables an active webhook that the transaction has locked, because its receiver failed for good, abandons what is pending and
 * tells the owner.
 */
export async function disableWebhook(tx: Transaction, webhook: WebhookRow, failure: FinalFailure, at: Date): Promise<void> {
  const [row] = await tx.update(webhooks).set({ isActive: false, disabledAt: at, disabledReason: failure.reason, updatedAt: at }).where(eq(webhooks.id, webhook.id)).returning();
  await abandonPending(tx, webhook.id, at);
  const change = { action: "webhook.disabled", resourceType: "webhook", resourceId: webhook.id, before: auditedWebhook(webhook), after: auditedWebhook(row!) };
  await recordAudit(tx, systemActor(webhook.organizationId, "Webhook deliveries"), change);
  await tellOwner(tx, { organizationId: webhook.organizationId, ...describeDisabled(webhook, failure, at), at });
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
