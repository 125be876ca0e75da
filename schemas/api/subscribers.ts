import { z } from "zod";
import { SUBSCRIBER_KINDS, SUBSCRIBER_STATES } from "../vocabulary.ts";
import { limit, Offset, Timestamp } from "./shared.ts";

export const Subscriber = z
  .object({
    id: z.uuid(),
    kind: z.enum(SUBSCRIBER_KINDS),
    address: z.string().meta({ description: "A mail address or a URL.", example: "ada@example.com" }),
    services: z.array(z.uuid()).meta({ description: "Of which services it hears; empty for all that the page shows." }),
    state: z.enum(SUBSCRIBER_STATES).meta({ description: "`pending` until it confirms; `quarantined` after three refusals for good, until it confirms again." }),
    bounces: z.int().meta({ description: "Refusals for good since it confirmed." }),
    created_at: Timestamp,
    confirmed_at: Timestamp.nullable(),
  })
  .meta({ id: "Subscriber" });
export type Subscriber = z.infer<typeof Subscriber>;

export const SubscriberList = z.object({ subscribers: z.array(Subscriber), total: z.int() });
export const SubscriberListQuery = z.strictObject({ state: z.enum(SUBSCRIBER_STATES).optional(), limit: limit(50, 100), offset: Offset });
export type SubscriberListQuery = z.infer<typeof SubscriberListQuery>;

export const SubscriberPath = z.object({ id: z.string(), subscriberId: z.string() });

const Email = z.email("must be a mail address such as ada@example.com").max(254);

/** What a visitor of a page sends: a mail address or a URL, not both. */
export const Subscribe = z
  .strictObject({
    email: Email.optional(),
    webhook_url: z.string().max(2_048).optional(),
    services: z.array(z.string().max(255)).max(500).default([]),
  })
  .refine(({ email, webhook_url }) => (email === undefined) !== (webhook_url === undefined), "must hold either email or webhook_url");

export const SubscribeAnswer = z.object({ success: z.literal(true), message: z.string() });
