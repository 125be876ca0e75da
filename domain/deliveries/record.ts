import { and, eq, inArray, min, sql } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import { webhookDeliveries, webhooks } from "../../schemas/tables/all.ts";
import { disableWebhook } from "../webhooks/disable.ts";
import { planRetry, type Plan } from "../webhooks/plan-retry.ts";
import type { ClaimedDelivery } from "./claim.ts";
import { recordDelivered } from "./record-delivered.ts";

/** What an attempt brought. */
export interface Attempt {
  /** Null when there was no answer. */
  statusCode: number | null;
  responseBody: string | null;
  durationMs: number;
  /** Why it counts as failed, null when it was delivered. */
  error: string | null;
  at: Date;
}

/**
 * Records an attempt and what follows from it, in one transaction. `delays` are those of the retries, in ms. What
 * would be retried or disable the webhook is `failed` when it was disabled meanwhile; `lost` means that nothing was
 * recorded, because the lease was taken over or the webhook deleted.
 */
export async function recordAttempt(database: Database, claimed: ClaimedDelivery, attempt: Attempt, delays: readonly number[]): Promise<Plan | { kind: "lost" }> {
  const plan = planRetry({ attempt: claimed.attempt, retried: claimed.trigger === "event" }, attempt, delays);
  if (plan.kind === "delivered") return (await recordDelivered(database, claimed, attempt)) ? plan : { kind: "lost" };
  return inTransaction(database, async (tx) => {
    // The webhook before its deliveries, as everybody who locks both; shared unless we are going to change it.
    const [webhook] = await tx.select().from(webhooks).where(eq(webhooks.id, claimed.webhookId)).for(plan.kind === "disable" ? "no key update" : "share");
    const [held] = await tx.select({ status: webhookDeliveries.status }).from(webhookDeliveries).where(leased(claimed)).for("update");
    if (!webhook || !held) return { kind: "lost" };
    const retryAt = plan.kind === "retry" && webhook.isActive && held.status === "pending" ? plan.at : null;
    await tx
      .update(webhookDeliveries)
      .set({
        status: "failed",
        leaseToken: null,
        responseStatusCode: attempt.statusCode,
        responseBody: attempt.responseBody,
        durationMs: attempt.durationMs,
        error: attempt.error,
        nextRetryAt: retryAt,
      })
      .where(eq(webhookDeliveries.id, claimed.id));
    if (retryAt) await insertRetry(tx, claimed, retryAt, attempt.at);
    if (plan.kind === "disable" && (await disableWebhook(tx, webhook, plan.reason, attempt.at))) return plan;
    return retryAt ? plan : { kind: "failed" };
  });
}

async function insertRetry(tx: Transaction, { organizationId, webhookId, eventId, attempt, trigger }: ClaimedDelivery, dueAt: Date, createdAt: Date): Promise<void> {
  await tx.insert(webhookDeliveries).values({ id: newId(), organizationId, webhookId, eventId, attempt: attempt + 1, trigger, dueAt, nextRetryAt: dueAt, createdAt });
}

/** Gives claimed deliveries back: they are due at once, for whoever claims next. */
export async function releaseDeliveries(database: Database, claimed: ClaimedDelivery[], now: Date): Promise<void> {
  if (claimed.length === 0) return;
  const ids = claimed.map(({ id }) => id);
  const tokens = [...new Set(claimed.map(({ leaseToken }) => leaseToken))];
  await database
    .update(webhookDeliveries)
    .set({ leaseToken: null, dueAt: now })
    .where(and(inArray(webhookDeliveries.id, ids), inArray(webhookDeliveries.leaseToken, tokens)));
}

/** When the next delivery is due that is not due yet; null when none is planned. */
export async function nextDueAt(database: Database, now: Date): Promise<Date | null> {
  const [row] = await database
    .select({ at: min(webhookDeliveries.dueAt) })
    .from(webhookDeliveries)
    .where(sql`${webhookDeliveries.status} = 'pending' and ${webhookDeliveries.dueAt} > ${now.toISOString()}::timestamptz`);
  return row?.at ?? null;
}

function leased({ id, leaseToken }: ClaimedDelivery) {
  return and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.leaseToken, leaseToken));
}
