import { and, asc, desc, eq, inArray, lte } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import { webhookDeliveries, webhooks } from "../../schemas/tables/all.ts";
import { disableWebhook } from "../webhooks/disable.ts";
import { planRetry, settlePlan, type Plan } from "../webhooks/plan-retry.ts";
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
  /** When the receiver asked to be tried again; null when it did not. */
  retryAfter: Date | null;
  /** Where it was sent, and with which headers, secrets masked; null when nothing could be sent. */
  url: string;
  requestHeaders: Record<string, string> | null;
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
    const settled = settlePlan(plan, { isActive: webhook.isActive, abandoned: held.status === "abandoned" });
    const retryAt = settled.kind === "retry" ? settled.at : null;
    await tx
      .update(webhookDeliveries)
      .set({
        status: "failed",
        leaseToken: null,
        url: attempt.url,
        requestHeaders: attempt.requestHeaders,
        responseStatusCode: attempt.statusCode,
        responseBody: attempt.responseBody,
        durationMs: attempt.durationMs,
        error: attempt.error,
        nextRetryAt: retryAt,
      })
      .where(eq(webhookDeliveries.id, claimed.id));
    if (retryAt) await insertRetry(tx, claimed, retryAt, attempt.at);
    if (settled.kind === "disable") await disableWebhook(tx, webhook, { reason: settled.reason, statusCode: attempt.statusCode, since: await failingSince(tx, claimed) }, attempt.at);
    return settled;
  });
}

/** When the first of the attempts was planned of which this is the last. */
async function failingSince(tx: Transaction, { webhookId, eventId, trigger, attempt }: ClaimedDelivery): Promise<Date> {
  const ofEvent = and(eq(webhookDeliveries.eventId, eventId), eq(webhookDeliveries.webhookId, webhookId), eq(webhookDeliveries.trigger, trigger), lte(webhookDeliveries.attempt, attempt));
  const [row] = await tx.select({ createdAt: webhookDeliveries.createdAt }).from(webhookDeliveries).where(ofEvent).orderBy(asc(webhookDeliveries.attempt), desc(webhookDeliveries.createdAt)).limit(1);
  return row!.createdAt;
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

function leased({ id, leaseToken }: ClaimedDelivery) {
  return and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.leaseToken, leaseToken));
}
