import { index, integer, jsonb, pgEnum, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { MAIL_STATUSES, SUBSCRIBER_KINDS, SUBSCRIBER_STATES } from "../vocabulary.ts";
import { events } from "./notifications.ts";
import { bytea, moment, organizations } from "./organizations.ts";
import { statusPages } from "./status-pages.ts";

export const subscriberKind = pgEnum("subscriber_kind", SUBSCRIBER_KINDS);
export const subscriberState = pgEnum("subscriber_state", SUBSCRIBER_STATES);

/**
 * Who wants to hear of a page. States: pending → active (by following the confirmation's link) → unsubscribed (by its own link) or
 * quarantined (by three bounces); each becomes active again by another confirmation, and only so. Asking again changes nothing but the
 * confirmation: `wanted_services` become `services` when it is followed.
 */
export const subscribers = pgTable(
  "subscribers",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    statusPageId: uuid("status_page_id").notNull().references(() => statusPages.id, { onDelete: "cascade" }),
    kind: subscriberKind("kind").notNull(),
    /** A mail address, its domain in lower case, or a URL. */
    address: text("address").notNull(),
    /** The same for all ways of writing one mail address: all in lower case. */
    addressKey: text("address_key").notNull(),
    /** Who is behind it, as limits over all pages count: a mail address without its +tag, or a URL's host. */
    target: text("target").notNull(),
    /** Ids; empty stands for all that the page shows. */
    services: uuid("services").array().notNull().default(sql`'{}'`),
    wantedServices: uuid("wanted_services").array().notNull().default(sql`'{}'`),
    state: subscriberState("state").notNull().default("pending"),
    /** SHA-256 of the token in the last confirmation; null once it was used. */
    confirmHash: bytea("confirm_hash"),
    confirmExpiresAt: moment("confirm_expires_at"),
    /** Keys the tokens that unsubscribe and that change services. */
    secret: bytea("secret").notNull(),
    /** Refused for good, since the last confirmation. */
    bounces: integer("bounces").notNull().default(0),
    /** Confirmations that were sent in the day that began at `asks_since`, and the last of them. */
    asks: integer("asks").notNull().default(0),
    asksSince: moment("asks_since").notNull(),
    lastAskedAt: moment("last_asked_at").notNull(),
    /** Network of the client that asked last, until it is confirmed: an IPv4 address or the /48 of an IPv6 address. */
    askedBy: text("asked_by"),
    confirmedAt: moment("confirmed_at"),
    createdAt: moment("created_at").notNull(),
    updatedAt: moment("updated_at").notNull(),
  },
  (table) => [
    uniqueIndex("subscribers_address").on(table.statusPageId, table.kind, table.addressKey),
    uniqueIndex("subscribers_confirm").on(table.confirmHash).where(sql`confirm_hash is not null`),
    index("subscribers_active").on(table.organizationId, table.id).where(sql`state = 'active'`),
    index("subscribers_page").on(table.statusPageId, table.createdAt),
    index("subscribers_room").on(table.statusPageId, table.state),
    index("subscribers_everywhere").on(table.target, table.lastAskedAt),
  ],
);

/**
 * Events of which subscribers are being told: made with the fan-out, gone when the last subscriber has its row in `mails` or
 * `subscriber_posts`. `cursor` is the last subscriber that has; whoever died is taken over from there.
 */
export const announcements = pgTable(
  "announcements",
  {
    /** The event's. */
    id: uuid("id").primaryKey().references(() => events.id, { onDelete: "cascade" }),
    organizationId: uuid("organization_id").notNull(),
    cursor: uuid("cursor"),
    dueAt: moment("due_at").notNull(),
    leaseToken: uuid("lease_token"),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [index("announcements_due").on(table.dueAt)],
);

export const postStatus = pgEnum("post_status", MAIL_STATUSES);

/**
 * What webhooks that subscribed to a page are sent; `event_id` is null for the request to confirm. States and lease as for mails. The
 * body goes when it is finished: it holds tokens.
 */
export const subscriberPosts = pgTable(
  "subscriber_posts",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull(),
    subscriberId: uuid("subscriber_id").notNull().references(() => subscribers.id, { onDelete: "cascade" }),
    eventId: uuid("event_id"),
    body: jsonb("body").$type<Record<string, unknown>>(),
    status: postStatus("status").notNull().default("pending"),
    attempts: integer("attempts").notNull().default(0),
    dueAt: moment("due_at").notNull(),
    leaseToken: uuid("lease_token"),
    error: text("error"),
    createdAt: moment("created_at").notNull(),
    finishedAt: moment("finished_at"),
  },
  (table) => [
    uniqueIndex("subscriber_posts_once").on(table.eventId, table.subscriberId),
    index("subscriber_posts_due").on(table.dueAt).where(sql`status = 'pending'`),
    index("subscriber_posts_subscriber").on(table.subscriberId),
    index("subscriber_posts_finished").on(table.finishedAt).where(sql`status <> 'pending'`),
  ],
);
