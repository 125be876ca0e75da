import { boolean, customType, date, index, inet, integer, jsonb, pgEnum, pgTable, primaryKey, text, timestamp, uuid } from "drizzle-orm/pg-core";
import type { Thresholds } from "../thresholds.ts";
import { PLANS } from "../vocabulary.ts";

export const plan = pgEnum("plan", PLANS);

export const bytea = customType<{ data: Buffer }>({ dataType: () => "bytea" });

/** Every timestamp is `timestamptz` with milliseconds, a `Date` in TypeScript. */
export const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });

export const organizations = pgTable("organizations", {
  id: uuid("id").primaryKey(),
  name: text("name").notNull(),
  plan: plan("plan").notNull(),
  ownerEmail: text("owner_email"),
  /** When its reader gave the code that was sent there; until then it gets nothing else. */
  ownerEmailConfirmedAt: moment("owner_email_confirmed_at"),
  /** Of the last code to the owner's address, and how many were sent on `codes_day` (UTC). */
  codeHash: bytea("code_hash"),
  codeSentAt: moment("code_sent_at"),
  codeTries: integer("code_tries").notNull().default(0),
  codesDay: date("codes_day"),
  codes: integer("codes").notNull().default(0),
  timezone: text("timezone").notNull().default("UTC"),
  language: text("language").notNull().default("en"),
  defaultThresholds: jsonb("default_thresholds").$type<Thresholds>(),
  retentionDays: integer("retention_days").notNull().default(90),
  isDemo: boolean("is_demo").notNull().default(false),
  createdAt: moment("created_at").notNull().defaultNow(),
  updatedAt: moment("updated_at").notNull().defaultNow(),
});

/**
 * `changed_at` is set by a trigger on every insert and update; edges re-read what changed in the
 * last minute every 2 s, so a lost notification is made good. Rows are never deleted, only revoked.
 */
export const apiKeys = pgTable(
  "api_keys",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    prefix: text("prefix").notNull(),
    hash: bytea("hash").notNull().unique(),
    scopes: text("scopes").array().notNull(),
    expiresAt: moment("expires_at"),
    revokedAt: moment("revoked_at"),
    lastUsedAt: moment("last_used_at"),
    createdAt: moment("created_at").notNull().defaultNow(),
    changedAt: moment("changed_at").notNull().defaultNow(),
  },
  (table) => [index("api_keys_organization").on(table.organizationId), index("api_keys_changed").on(table.changedAt)],
);

/** Append-only: a trigger refuses update and delete. Written in the change's own transaction. */
export const auditEntries = pgTable(
  "audit_entries",
  {
    id: uuid("id").primaryKey(),
    // No reference: checking it would lock the organization's row for each entry. A trigger deletes them with it.
    organizationId: uuid("organization_id").notNull(),
    actorType: text("actor_type").notNull(),
    actorId: uuid("actor_id"),
    actorName: text("actor_name").notNull(),
    action: text("action").notNull(),
    resourceType: text("resource_type").notNull(),
    resourceId: uuid("resource_id").notNull(),
    changedFields: text("changed_fields").array().notNull(),
    before: jsonb("before").$type<Record<string, unknown>>(),
    after: jsonb("after").$type<Record<string, unknown>>(),
    ip: inet("ip"),
    userAgent: text("user_agent"),
    createdAt: moment("created_at").notNull().defaultNow(),
  },
  (table) => [
    // Actors stand in it too: entries of others are passed over without being read.
    index("audit_entries_list").on(table.organizationId, table.createdAt, table.id, table.actorId, table.actorName, table.actorType),
    index("audit_entries_action").on(table.organizationId, table.action, table.createdAt, table.id),
    index("audit_entries_resource").on(table.organizationId, table.resourceType, table.createdAt, table.id),
  ],
);

/** What an organization did or had done on one day (UTC), by what is counted: steps of its workflows, subscriptions that a network asked for at its pages. */
export const dayCounts = pgTable(
  "day_counts",
  {
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    day: date("day").notNull(),
    subject: text("subject").notNull(),
    count: integer("count").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.day, table.subject] }), index("day_counts_day").on(table.day)],
);
