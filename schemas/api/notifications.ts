import { z } from "zod";
import { DELIVERY_STATUSES, EVENT_TYPES, NOTIFICATION_TRIGGERS } from "../vocabulary.ts";
import { limit, Offset, Timestamp } from "./shared.ts";

export const Notification = z
  .object({
    id: z.uuid(),
    channel_id: z.uuid(),
    trigger: z.enum(NOTIFICATION_TRIGGERS).meta({ description: "Why the channel is told: an event, a workflow's step, a test, or a notice of Pharos itself." }),
    event_id: z.uuid().nullable(),
    event: z.enum(EVENT_TYPES).nullable().meta({ example: "incident.created" }),
    message: z.string().nullable().meta({ description: "What it says when no event tells that." }),
    status: z.enum(DELIVERY_STATUSES).meta({ description: "`abandoned`: the channel was disabled before it could be told." }),
    attempts: z.number().int(),
    coalesced_into: z.uuid().nullable().meta({ description: "The notification whose message told this one too, when many waited for the channel." }),
    response_status_code: z.number().int().nullable().meta({ description: "Of the last attempt; null when there was no answer." }),
    response_body: z.string().nullable().meta({ description: "What the vendor answered last, its first 16 KiB, without secrets.", example: "ok" }),
    duration_ms: z.number().int().nullable(),
    error: z.string().nullable().meta({ example: "The receiver answered 404. This Slack hook was removed or is disabled: add a new one in Slack and set it as webhook_url." }),
    next_attempt_at: Timestamp.nullable().meta({ description: "From when it is told or tried again, while it is pending." }),
    created_at: Timestamp.meta({ description: "When that of which it tells happened." }),
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: "Notification" });
export type Notification = z.infer<typeof Notification>;

export const ChannelTest = z.object({
  success: z.boolean().meta({ description: "The vendor took it. False as well while it is still pending." }),
  notification: Notification,
});
export const NotificationList = z.object({ notifications: z.array(Notification), total: z.number().int() });
export const NotificationListQuery = z.strictObject({ limit: limit(50, 100), offset: Offset });
