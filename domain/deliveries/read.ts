import { and, count, desc, eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Database, Queries } from "../../platform/postgres/database.ts";
import type { DeliveryListQuery, WebhookDelivery } from "../../schemas/api/webhooks.ts";
import { events, webhookDeliveries, webhooks } from "../../schemas/tables/all.ts";
import { findWebhook } from "../webhooks/read.ts";
import { deliveryBody } from "./body.ts";

/** The deliveries of one webhook, of a status or of an event type if asked, newest first. NOT_FOUND as for the webhook itself. */
export async function listDeliveries(
  database: Database,
  organizationId: string,
  webhookId: string,
  { status, event, limit, offset }: DeliveryListQuery,
): Promise<{ deliveries: WebhookDelivery[]; total: number }> {
  const { id } = await findWebhook(database, organizationId, webhookId);
  const asked = and(eq(webhookDeliveries.webhookId, id), status && eq(webhookDeliveries.status, status), event && eq(events.type, event));
  const [rows, [counted]] = await Promise.all([
    withRequest(database).where(asked).orderBy(desc(webhookDeliveries.createdAt), desc(webhookDeliveries.attempt), desc(webhookDeliveries.id)).limit(limit).offset(offset),
    event
      ? database.select({ total: count() }).from(webhookDeliveries).innerJoin(events, eq(events.id, webhookDeliveries.eventId)).where(asked)
      : database.select({ total: count() }).from(webhookDeliveries).where(asked),
  ]);
  return { deliveries: rows.map(showDelivery), total: counted?.total ?? 0 };
}

/** One delivery of one webhook. NOT_FOUND for ids that are unknown, malformed or of another webhook or organization. */
export async function getDelivery(queries: Queries, organizationId: string, webhookId: string, id: string): Promise<WebhookDelivery> {
  const own = and(eq(webhooks.organizationId, organizationId), eq(webhookDeliveries.webhookId, webhookId), eq(webhookDeliveries.id, id));
  const [row] = isUuid(webhookId) && isUuid(id) ? await withRequest(queries).where(own) : [];
  if (!row) throw new Failure("NOT_FOUND", "No such delivery.");
  return showDelivery(row);
}

function withRequest(queries: Queries) {
  return queries
    .select({ delivery: webhookDeliveries, event: events, url: webhooks.url })
    .from(webhookDeliveries)
    .innerJoin(webhooks, eq(webhooks.id, webhookDeliveries.webhookId))
    .innerJoin(events, eq(events.id, webhookDeliveries.eventId))
    .$dynamic();
}

type DeliveryRow = Awaited<ReturnType<typeof withRequest>>[number];

function showDelivery({ delivery, event, url }: DeliveryRow): WebhookDelivery {
  return {
    id: delivery.id,
    webhook_id: delivery.webhookId,
    event_id: delivery.eventId,
    event: event.type,
    attempt: delivery.attempt,
    trigger: delivery.trigger,
    status: delivery.status,
    url: delivery.url ?? url,
    request_headers: delivery.requestHeaders,
    request_body: deliveryBody(event),
    response_status_code: delivery.responseStatusCode,
    response_body: delivery.responseBody,
    duration_ms: delivery.durationMs,
    error: delivery.error,
    next_retry_at: delivery.nextRetryAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
  };
}
