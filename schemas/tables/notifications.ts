import { bigint, boolean, date, index, integer, jsonb, pgEnum, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { CHANNEL_TYPES, DELIVERY_STATUSES, DELIVERY_TRIGGERS, DISABLED_REASONS, EVENT_TYPES, NOTIFICATION_TRIGGERS } from "../vocabulary.ts";
import { bytea, moment, organizations } from "./organizations.ts";
import { sealedJson, sealedText } from "./sealed.ts";

export const eventType = pgEnum("event_type", EVENT_TYPES);
export const deliveryStatus = pgEnum("delivery_status", DELIVERY_STATUSES);
export const deliveryTrigger = pgEnum("delivery_trigger", DELIVERY_TRIGGERS);
export const notificationTrigger = pgEnum("notification_trigger", NOTIFICATION_TRIGGERS);
export const disabledReason = pgEnum("disabled_reason", DISABLED_REASONS);

/**
 * The outbox: one row for each event, written in the transaction of the change it tells of.
 * `fanned_out_at` is null until its deliveries exist; both happen in one transaction.
 */
export const events = pgTable(
  "events",
  {
    id: uuid("id").primaryKey(),
    // No reference, as with audit entries.
    organizationId: uuid("organization_id").notNull(),
    type: eventType("type").notNull(),
    data: jsonb("data").$type<Record<string, unknown>>().notNull(),
    createdAt: moment("created_at").notNull(),
    fannedOutAt: moment("fanned_out_at"),
    /** The workflows whose runs brought it about: a run names them to its transaction (`pharos.workflow_causes`). */
    causes: uuid("causes").array().default(sql`nullif(current_setting('pharos.workflow_causes', true), '')::uuid[]`),
    /** In the order in which they were written; `created_at` may be the same. */
    position: bigint("position", { mode: "number" }).generatedAlwaysAsIdentity(),
  },
  (table) => [
    index("events_to_fan_out").on(table.position).where(sql`fanned_out_at is null`),
    // What may be forgotten one day; regressions are counted for their release as long as that exists.
    index("events_forgettable").on(table.createdAt).where(sql`fanned_out_at is not null and type <> 'error.regressed'`),
    index("events_regressions").on(table.organizationId, sql`(${table.data} ->> 'release')`).where(sql`type = 'error.regressed'`),
  ],
);

export const webhooks = pgTable(
  "webhooks",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    url: text("url").notNull(),
    signingSecret: sealedText("signing_secret").notNull(),
    /** The secret before the last rotation; deliveries are signed with both until its end. */
    previousSecret: sealedText("previous_secret"),
    previousSecretExpiresAt: moment("previous_secret_expires_at"),
    isActive: boolean("is_active").notNull().default(true),
    events: text("events").array().notNull(),
    headers: sealedJson<Record<string, string>>("headers").notNull().default(sql`'{}'::jsonb`),
    disabledAt: moment("disabled_at"),
    disabledReason: disabledReason("disabled_reason"),
    createdAt: moment("created_at").notNull().defaultNow(),
    updatedAt: moment("updated_at").notNull().defaultNow(),
  },
  (table) => [index("webhooks_organization").on(table.organizationId)],
);

/**
 * States: pending (due_at says when) → delivered | failed (its next attempt is another row) | abandoned.
 * `attempt` is 1 for the first try; a retry is a new row with the same event. While a worker holds a
 * pending row, `lease_token` is its token and `due_at` the lease's end. `url` and `request_headers` are null until the attempt is made:
 * what was sent, with secrets masked.
 */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull(),
    webhookId: uuid("webhook_id").notNull().references(() => webhooks.id, { onDelete: "cascade" }),
    eventId: uuid("event_id").notNull().references(() => events.id, { onDelete: "cascade" }),
    attempt: integer("attempt").notNull(),
    trigger: deliveryTrigger("trigger").notNull(),
    status: deliveryStatus("status").notNull().default("pending"),
    dueAt: moment("due_at").notNull(),
    leaseToken: uuid("lease_token"),
    url: text("url"),
    requestHeaders: jsonb("request_headers").$type<Record<string, string>>(),
    responseStatusCode: integer("response_status_code"),
    responseBody: text("response_body"),
    durationMs: integer("duration_ms"),
    error: text("error"),
    nextRetryAt: moment("next_retry_at"),
    createdAt: moment("created_at").notNull().defaultNow(),
    /** The order of deliveries that are due at the same moment: that of their events. */
    position: bigint("position", { mode: "number" }).generatedAlwaysAsIdentity(),
  },
  (table) => [
    index("webhook_deliveries_due").on(table.dueAt, table.position).where(sql`status = 'pending'`),
    index("webhook_deliveries_leased").on(table.webhookId).where(sql`status = 'pending' and lease_token is not null`),
    index("webhook_deliveries_webhook").on(table.webhookId, table.createdAt),
    index("webhook_deliveries_event").on(table.eventId, table.webhookId),
  ],
);

export const channelType = pgEnum("channel_type", CHANNEL_TYPES);

/**
 * `config` holds addresses and secrets whole; they are masked whenever they are shown. Telling a channel something is the channel's due work
 * (`platform/claim-due.ts`): one at a time, in order. `due_at` is the lease's end while somebody does, else the moment from which it may be told more.
 */
export const channels = pgTable(
  "channels",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    type: channelType("type").notNull(),
    name: text("name").notNull(),
    enabled: boolean("enabled").notNull().default(true),
    config: sealedJson<Record<string, string>>("config").notNull(),
    notifyOnIncident: boolean("notify_on_incident").notNull().default(true),
    notifyOnMaintenance: boolean("notify_on_maintenance").notNull().default(true),
    /** When the person behind it agreed; null before, and for types that need nobody's consent. */
    confirmedAt: moment("confirmed_at"),
    /** Of the code that was sent last. */
    codeHash: bytea("code_hash"),
    codeSentAt: moment("code_sent_at"),
    codeTries: integer("code_tries").notNull().default(0),
    dueAt: moment("due_at").notNull().default(sql`'epoch'`),
    leaseToken: uuid("lease_token"),
    createdAt: moment("created_at").notNull().defaultNow(),
    updatedAt: moment("updated_at").notNull().defaultNow(),
  },
  (table) => [index("channels_organization").on(table.organizationId)],
);

/** Text messages of a day (UTC), by who had them sent or whom they went to. */
export const dailyTexts = pgTable(
  "daily_texts",
  { subject: text("subject").notNull(), day: date("day").notNull(), sent: integer("sent").notNull() },
  (table) => [primaryKey({ columns: [table.subject, table.day] })],
);

/**
 * What channels are to be told, one row each, in the order of `created_at`: when it happened. States: pending (due_at says when) →
 * delivered | failed | abandoned; a retry is the same row, pending again. `message` is set when no event tells what to say.
 */
export const notifications = pgTable(
  "notifications",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull(),
    channelId: uuid("channel_id").notNull().references(() => channels.id, { onDelete: "cascade" }),
    eventId: uuid("event_id").references(() => events.id, { onDelete: "cascade" }),
    message: text("message"),
    trigger: notificationTrigger("trigger").notNull(),
    status: deliveryStatus("status").notNull().default("pending"),
    /** Attempts made. */
    attempts: integer("attempts").notNull().default(0),
    dueAt: moment("due_at").notNull(),
    firstAttemptAt: moment("first_attempt_at"),
    /** The notification whose message told this one too. */
    coalescedInto: uuid("coalesced_into"),
    responseStatusCode: integer("response_status_code"),
    responseBody: text("response_body"),
    durationMs: integer("duration_ms"),
    error: text("error"),
    createdAt: moment("created_at").notNull(),
    finishedAt: moment("finished_at"),
    /** The order of those that were made at the same moment: that of their events. */
    position: bigint("position", { mode: "number" }).generatedAlwaysAsIdentity(),
  },
  (table) => [
    index("notifications_due").on(table.dueAt).where(sql`status = 'pending'`),
    index("notifications_channel").on(table.channelId, table.createdAt),
    index("notifications_waiting").on(table.channelId, table.createdAt).where(sql`status = 'pending'`),
    index("notifications_created").on(table.createdAt),
    index("notifications_event").on(table.eventId),
  ],
);
