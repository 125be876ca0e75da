import { setTimeout as pause } from "node:timers/promises";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { WebhookDelivery } from "../../schemas/api/webhooks.ts";
import { events, webhookDeliveries } from "../../schemas/tables/all.ts";
import { findWebhook } from "../webhooks/read.ts";
import { getDelivery } from "./read.ts";

/**
 * Plans one delivery of a `webhook.test` event to this webhook alone, due at once, and waits until its attempt is
 * recorded, at most `waitMs`; then the delivery is shown pending. Works on a disabled webhook too, so that a receiver
 * can be tried before it is enabled again. NOT_FOUND.
 */
export async function testWebhook(database: Database, organizationId: string, webhookId: string, { at, waitMs }: { at: Date; waitMs: number }): Promise<WebhookDelivery> {
  const deliveryId = newId();
  await inTransaction(database, async (tx) => {
    const { id, name } = await findWebhook(tx, organizationId, webhookId);
    const data = { webhook_id: id, name, message: "This is a test delivery. Nothing happened." };
    const eventId = newId();
    // Marked as fanned out: it concerns no other webhook.
    await tx.insert(events).values({ id: eventId, organizationId, type: "webhook.test", data, createdAt: at, fannedOutAt: at });
    await tx.insert(webhookDeliveries).values({ id: deliveryId, organizationId, webhookId: id, eventId, attempt: 1, trigger: "test", dueAt: at, createdAt: at });
  });
  return untilRecorded(database, organizationId, webhookId, deliveryId, waitMs);
}

/**
 * Plans another delivery of the same event, with the same id and body, due at once; as a test it is tried once, also
 * when the webhook is disabled. NOT_FOUND.
 */
export async function redeliver(database: Database, organizationId: string, webhookId: string, deliveryId: string, at: Date): Promise<WebhookDelivery> {
  return inTransaction(database, async (tx) => {
    const { event_id: eventId } = await getDelivery(tx, organizationId, webhookId, deliveryId);
    const id = newId();
    await tx.insert(webhookDeliveries).values({ id, organizationId, webhookId, eventId, attempt: 1, trigger: "redeliver", dueAt: at, createdAt: at });
    return getDelivery(tx, organizationId, webhookId, id);
  });
}

/** Asks Postgres: whoever makes the attempt may be another process. */
async function untilRecorded(database: Database, organizationId: string, webhookId: string, id: string, waitMs: number): Promise<WebhookDelivery> {
  const deadline = performance.now() + waitMs;
  for (let restMs = 20; ; restMs = Math.min(restMs * 1.5, 250)) {
    const delivery = await getDelivery(database, organizationId, webhookId, id);
    if (delivery.status !== "pending" || performance.now() >= deadline) return delivery;
    await pause(restMs);
  }
}
