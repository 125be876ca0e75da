import { sql } from "drizzle-orm";
import { bigint, boolean, index, jsonb, pgEnum, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { ERROR_CATEGORIES, ERROR_STATUSES, PRIORITIES } from "../vocabulary.ts";
import type { Frame, GroupingPart } from "../frames.ts";
import { moment, organizations } from "./organizations.ts";
import { services } from "./services.ts";

export const errorStatus = pgEnum("error_status", ERROR_STATUSES);
export const errorCategory = pgEnum("error_category", ERROR_CATEGORIES);
export const priority = pgEnum("priority", PRIORITIES);

/** The public key is no secret; `changed_at` and `deleted_at` as in `heartbeat_monitors`. */
export const beaconKeys = pgTable(
  "beacon_keys",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    serviceId: uuid("service_id").notNull().references(() => services.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    key: text("key").notNull().unique(),
    allowedOrigins: text("allowed_origins").array(),
    createdAt: moment("created_at").notNull().defaultNow(),
    changedAt: moment("changed_at").notNull().defaultNow(),
    deletedAt: moment("deleted_at"),
  },
  (table) => [index("beacon_keys_organization").on(table.organizationId), index("beacon_keys_changed").on(table.changedAt)],
);

/** `id` is derived from (service, grouping version, fingerprint), so processors need not look it up. */
export const errorSignatures = pgTable(
  "error_signatures",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    serviceId: uuid("service_id").notNull().references(() => services.id, { onDelete: "cascade" }),
    groupingVersion: text("grouping_version").notNull(),
    fingerprint: text("fingerprint").notNull(),
    type: text("type").notNull(),
    message: text("message").notNull(),
    culprit: text("culprit"),
    status: errorStatus("status").notNull().default("new"),
    category: errorCategory("category").notNull(),
    priority: priority("priority").notNull(),
    /** Many sessions met it lately: its priority is a step higher than its kind alone would make it. */
    widespread: boolean("widespread").notNull().default(false),
    handled: boolean("handled").notNull(),
    occurrences: bigint("occurrences", { mode: "number" }).notNull(),
    firstSeen: moment("first_seen").notNull(),
    lastSeen: moment("last_seen").notNull(),
    /** The five minutes of `last_seen`, for the index of lists. `last_seen` itself, which every batch moves, stands in no index, so that counting rewrites none. */
    lastSeenSlot: moment("last_seen_slot").notNull().generatedAlwaysAs(sql`date_bin('5 minutes', last_seen, 'epoch'::timestamptz)`),
    release: text("release").notNull(),
    environment: text("environment").notNull(),
    /** When it was resolved last; an event only regresses it when it happened afterwards. */
    resolvedAt: moment("resolved_at"),
    resolvedInRelease: text("resolved_in_release"),
    ignoreUntil: moment("ignore_until"),
    ignoreUntilOccurrences: bigint("ignore_until_occurrences", { mode: "number" }),
  },
  (table) => [
    uniqueIndex("error_signatures_fingerprint").on(table.serviceId, table.groupingVersion, table.fingerprint),
    index("error_signatures_release").on(table.organizationId, table.serviceId, table.release),
    // Totals are read from it alone; a page is read slot by slot and put in order within them.
    index("error_signatures_list").on(table.organizationId, table.lastSeenSlot, table.serviceId, table.status, table.ignoreUntil, table.category, table.priority, table.firstSeen, table.id),
    index("error_signatures_service").on(table.organizationId, table.serviceId, table.lastSeenSlot, table.status),
    index("error_signatures_widespread").on(table.id).where(sql`${table.widespread}`),
    index("error_signatures_first_seen").on(table.organizationId, table.firstSeen),
  ],
);

/** What a signature's first event looked like; never changes, and stands apart because each counted event rewrites a signature's row. */
export const errorStacks = pgTable("error_stacks", {
  signatureId: uuid("signature_id").primaryKey().references(() => errorSignatures.id, { onDelete: "cascade" }),
  organizationId: uuid("organization_id").notNull(),
  stackTrace: text("stack_trace").notNull(),
  frames: jsonb("frames").$type<Frame[]>().notNull(),
  groupingParts: jsonb("grouping_parts").$type<GroupingPart[]>().notNull(),
});

/** Ids of signatures that became part of another. ClickHouse keeps their events under the old id for ever: whoever reads those looks here. */
export const errorAliases = pgTable(
  "error_aliases",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    /** Never an alias itself. */
    signatureId: uuid("signature_id").notNull().references(() => errorSignatures.id, { onDelete: "cascade" }),
  },
  (table) => [index("error_aliases_signature").on(table.signatureId), index("error_aliases_organization").on(table.organizationId)],
);

/** In which environments a signature has events. */
export const errorEnvironments = pgTable(
  "error_environments",
  {
    organizationId: uuid("organization_id").notNull(),
    environment: text("environment").notNull(),
    signatureId: uuid("signature_id").notNull().references(() => errorSignatures.id, { onDelete: "cascade" }),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.environment, table.signatureId] }), index("error_environments_signature").on(table.signatureId)],
);

/** A release is made by hand or by the first beacon that names it. */
export const releases = pgTable(
  "releases",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    serviceId: uuid("service_id").notNull().references(() => services.id, { onDelete: "cascade" }),
    version: text("version").notNull(),
    environment: text("environment"),
    url: text("url"),
    commits: jsonb("commits").$type<Record<string, unknown>[]>().notNull().default([]),
    releasedAt: moment("released_at"),
    createdAt: moment("created_at").notNull().defaultNow(),
  },
  (table) => [uniqueIndex("releases_version").on(table.serviceId, table.version), index("releases_organization").on(table.organizationId, table.createdAt), index("releases_service").on(table.organizationId, table.serviceId, table.createdAt)],
);
