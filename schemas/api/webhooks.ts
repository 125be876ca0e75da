import { z } from "zod";
import { DELIVERY_STATUSES, DELIVERY_TRIGGERS, DISABLED_REASONS, EVENT_TYPES } from "../vocabulary.ts";
import { requestHeaders } from "./request-headers.ts";
import { limit, Name, Offset, Timestamp } from "./shared.ts";

const Url = z.string().max(2048).meta({ description: "Where events are POSTed: https, an address that is public, no credentials.", example: "https://hooks.example.com/pharos" });
const SubscribedEvents = z.array(z.enum(EVENT_TYPES)).min(1).max(100).meta({ description: "The event types to deliver.", example: ["incident.created", "monitor.down"] });

/** Headers that a delivery sets itself, or that say how it is transferred (RFC 9110 §7.6.1). */
const RESERVED_HEADER = /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|date|x-service-signature(?:-previous)?|content-.*|webhook-.*|proxy-.*|http2-.*|sec-.*|:.*)$/i;

const CustomHeaders = requestHeaders({ reserved: RESERVED_HEADER, sender: "delivery" }).meta({ description: "Sent with each delivery, for example to authenticate. Headers of the delivery itself (host, content-*, webhook-* and the like) are refused.", example: { "X-Team": "checkout" } });

export const Webhook = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ example: "On call" }),
    url: z.string().meta({ example: "https://hooks.example.com/pharos" }),
    is_active: z.boolean(),
    events: z.array(z.enum(EVENT_TYPES)),
    headers: z.record(z.string(), z.string()).meta({ description: "Values of headers that authenticate are shown as `[masked]`." }),
    disabled_at: Timestamp.nullable(),
    disabled_reason: z.enum(DISABLED_REASONS).nullable().meta({ description: "`retries_exhausted`: a delivery failed with all its retries. `gone`: the receiver answered 410. `manual`: by PATCH." }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Webhook" });
export type Webhook = z.infer<typeof Webhook>;

/** Without `limit` all that a plan can have. */
export const WebhookListQuery = z.object({ limit: limit(500, 500), offset: Offset });
export type WebhookListQuery = z.output<typeof WebhookListQuery>;
export const WebhookList = z.object({ webhooks: z.array(Webhook) });
export const WebhookAnswer = z.object({ webhook: Webhook });
export const WebhookInFull = WebhookAnswer.extend({
  success_rate: z.number().min(0).max(100).nullable().meta({
    description: "Per cent of the events of the last 7 days that arrived, at whichever attempt; events that were not attempted yet and tests do not count. Taken from the 10,000 latest deliveries; null when there were none.",
    example: 99.87,
  }),
});
export const WebhookWithSecret = z.object({
  webhook: Webhook,
  signing_secret: z.string().meta({
    description:
      "Shown this once. `X-Service-Signature` is the hex HMAC-SHA256 of the body under this whole text; `webhook-signature` is that of Standard Webhooks, whose key is the base64 after `whsec_`.",
    example: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
  }),
});

export const RotateSecret = z
  .strictObject({ expire_previous: z.boolean().default(false).meta({ description: "End the secret before at once, because others know it. Otherwise it stays valid for 24 hours." }) })
  .meta({ id: "RotateSecret" });
export type RotateSecret = z.infer<typeof RotateSecret>;

export const RotatedSecret = WebhookWithSecret.extend({ previous_secret_expires_at: Timestamp.nullable().meta({ description: "Until then deliveries are signed with the secret before as well; null when it ended at once." }) });
export type RotatedSecret = z.infer<typeof RotatedSecret>;

export const CreateWebhook = z.strictObject({ name: Name.meta({ example: "On call" }), url: Url, events: SubscribedEvents, headers: CustomHeaders.default({}) }).meta({ id: "CreateWebhook" });
export type CreateWebhook = z.infer<typeof CreateWebhook>;

export const UpdateWebhook = z
  .strictObject({
    name: Name.optional(),
    url: Url.optional(),
    is_active: z.boolean().optional().meta({ description: "False abandons what is pending. True starts anew: events from now on are delivered, with all their retries." }),
    events: SubscribedEvents.optional(),
    headers: CustomHeaders.optional().meta({ description: "Replaces all custom headers. A value that was shown as `[masked]` and is sent back stays as it is, unless the webhook's `url` goes to another origin." }),
  })
  .meta({ id: "UpdateWebhook" });
export type UpdateWebhook = z.infer<typeof UpdateWebhook>;

export const WebhookDelivery = z
  .object({
    id: z.uuid(),
    webhook_id: z.uuid(),
    event_id: z.uuid().meta({ description: "The same in every attempt and redelivery: the body's `id` and the header `webhook-id`." }),
    event: z.enum(EVENT_TYPES),
    attempt: z.number().int().meta({ description: "1 is the first; each retry is a delivery of its own." }),
    trigger: z.enum(DELIVERY_TRIGGERS).meta({ description: "Tests and redeliveries are tried once." }),
    status: z.enum(DELIVERY_STATUSES),
    url: z.string().meta({ description: "Where it was sent; of a pending one, where it will be." }),
    request_headers: z.record(z.string(), z.string()).nullable().meta({ description: "As they were sent; values of custom headers that authenticate are shown as `[masked]`. Null when nothing was sent.", example: { "webhook-timestamp": "1777896000", authorization: "[masked]" } }),
    request_body: z.string().meta({ description: "The exact bytes that are signed." }),
    response_status_code: z.number().int().nullable().meta({ description: "Null when there was no answer." }),
    response_body: z.string().nullable().meta({ description: "The first 16 KiB." }),
    duration_ms: z.number().int().nullable(),
    error: z.string().nullable().meta({ example: "No complete answer within 30 s." }),
    next_retry_at: Timestamp.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: "WebhookDelivery" });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const WebhookTest = z.object({
  success: z.boolean().meta({ description: "The receiver answered 2xx. False as well while the delivery is still pending." }),
  delivery: WebhookDelivery,
});
export const DeliveryAnswer = z.object({ delivery: WebhookDelivery });
export const DeliveryList = z.object({ deliveries: z.array(WebhookDelivery), total: z.number().int() });
export const DeliveryListQuery = z.strictObject({ status: z.enum(DELIVERY_STATUSES).optional(), event: z.enum(EVENT_TYPES).optional(), limit: limit(50, 100), offset: Offset });
export type DeliveryListQuery = z.infer<typeof DeliveryListQuery>;
export const DeliveryPath = z.object({ id: z.string(), deliveryId: z.string() });

export const RedeliverFailed = z
  .strictObject({ since: Timestamp.meta({ description: "Deliveries that failed since then; at most 30 days back, which is how long they are kept.", example: "2026-05-04T00:00:00Z" }) })
  .meta({ id: "RedeliverFailed" });
export type RedeliverFailed = z.infer<typeof RedeliverFailed>;
export const PlannedRedeliveries = z.object({
  planned: z.int().meta({ description: "Redeliveries planned, one for each event; at most 10,000." }),
  remaining: z.int().meta({ description: "Events beyond those: ask again once these are done." }),
});
export type PlannedRedeliveries = z.infer<typeof PlannedRedeliveries>;
