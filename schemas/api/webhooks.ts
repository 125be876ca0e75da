import { z } from "zod";
import { DELIVERY_STATUSES, DELIVERY_TRIGGERS, DISABLED_REASONS, EVENT_TYPES } from "../vocabulary.ts";
import { requestHeaders } from "./request-headers.ts";
import { limit, Name, Offset, Timestamp } from "./shared.ts";

const Url = z.string().max(2048).meta({ description: "Where events are POSTed: https, an address that is public, no credentials.", example: "https://hooks.example.com/pharos" });
const SubscribedEvents = z.array(z.enum(EVENT_TYPES)).min(1).max(100).meta({ description: "The event types to deliver.", example: ["incident.created", "monitor.down"] });

/** Headers that a delivery sets itself, or that say how it is transferred (RFC 9110 §7.6.1). */
const RESERVED_HEADER = /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|date|x-service-signature|content-.*|webhook-.*|proxy-.*|http2-.*|sec-.*|:.*)$/i;

const CustomHeaders = requestHeaders({ reserved: RESERVED_HEADER, sender: "delivery" }).meta({ description: "Sent with each delivery, for example to authenticate. Headers of the delivery itself (host, content-*, webhook-* and the like) are refused.", example: { "X-Team": "checkout" } });

export const Webhook = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ example: "On call" }),
    url: z.string().meta({ example: "https://hooks.example.com/pharos" }),
    is_active: z.boolean(),
    events: z.array(z.enum(EVENT_TYPES)),
    headers: z.record(z.string(), z.string()),
    disabled_at: Timestamp.nullable(),
    disabled_reason: z.enum(DISABLED_REASONS).nullable().meta({ description: "`retries_exhausted`: a delivery failed with all its retries. `gone`: the receiver answered 410. `manual`: by PATCH." }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Webhook" });
export type Webhook = z.infer<typeof Webhook>;

export const WebhookList = z.object({ webhooks: z.array(Webhook) });
export const WebhookAnswer = z.object({ webhook: Webhook });
export const WebhookWithSecret = z.object({
  webhook: Webhook,
  signing_secret: z.string().meta({
    description:
      "Shown this once. `X-Service-Signature` is the hex HMAC-SHA256 of the body under this whole text; `webhook-signature` is that of Standard Webhooks, whose key is the base64 after `whsec_`.",
    example: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
  }),
});

export const CreateWebhook = z.strictObject({ name: Name.meta({ example: "On call" }), url: Url, events: SubscribedEvents, headers: CustomHeaders.default({}) }).meta({ id: "CreateWebhook" });
export type CreateWebhook = z.infer<typeof CreateWebhook>;

export const UpdateWebhook = z
  .strictObject({
    name: Name.optional(),
    url: Url.optional(),
    is_active: z.boolean().optional().meta({ description: "False abandons what is pending. True starts anew: events from now on are delivered, with all their retries." }),
    events: SubscribedEvents.optional(),
    headers: CustomHeaders.optional().meta({ description: "Replaces all custom headers." }),
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
    url: z.string(),
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
export const DeliveryListQuery = z.strictObject({ limit: limit(50, 100), offset: Offset });
export const DeliveryPath = z.object({ id: z.string(), deliveryId: z.string() });
