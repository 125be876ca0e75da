import { index, integer, jsonb, pgEnum, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { HEARTBEAT_STATUSES, SCHEDULE_TYPES } from "../vocabulary.ts";
import { moment, organizations } from "./organizations.ts";
import { services } from "./services.ts";

export const heartbeatStatus = pgEnum("heartbeat_status", HEARTBEAT_STATUSES);
export const scheduleType = pgEnum("schedule_type", SCHEDULE_TYPES);

/** What a monitor remembers of its runs and of the pace of its pings; moments in ms since the epoch, lists bounded. */
export interface PingMemory {
  /** Runs in progress in the order of their starts; `id` is null for the one without a name, `overrun` is when it was found to exceed its limit. */
  open: { id: string | null; startedAt: number; overrun?: number }[];
  /** Named runs that are over, the latest end last: a start of theirs may still come, and their ok or fail may come again. */
  over: { id: string; status: "ok" | "fail"; finishedAt: number }[];
  /** The last ok or fail: when, which edge took it (null when unknown), and the run that `last_duration_ms` tells of. */
  last: { at: number; edgeId: string | null; runId: string | null } | null;
  /** The last few oks. */
  oks: number[];
}

export const EMPTY_MEMORY: PingMemory = { open: [], over: [], last: null, oks: [] };

/**
 * States: new → up (first ok) → grace (next_expected_at passed) → down (grace passed too) → up.
 * `fail` goes to down at once; paused from anywhere. `next_expected_at` is null while new, down or paused.
 * `changed_at` as in `api_keys`; deletion sets `deleted_at`, so that edges hear of it.
 */
export const heartbeatMonitors = pgTable(
  "heartbeat_monitors",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    serviceId: uuid("service_id").references(() => services.id, { onDelete: "set null" }),
    name: text("name").notNull(),
    slug: text("slug").notNull(),
    scheduleType: scheduleType("schedule_type").notNull(),
    intervalSeconds: integer("interval_seconds"),
    cron: text("cron"),
    timezone: text("timezone").notNull().default("UTC"),
    graceSeconds: integer("grace_seconds").notNull(),
    maxRuntimeSeconds: integer("max_runtime_seconds"),
    status: heartbeatStatus("status").notNull().default("new"),
    notificationChannels: uuid("notification_channels").array().notNull().default(sql`'{}'`),
    lastPingAt: moment("last_ping_at"),
    /** The earliest start of a run in progress that was not yet found to exceed its limit. */
    lastStartAt: moment("last_start_at"),
    memory: jsonb("memory").$type<PingMemory>().notNull().default(EMPTY_MEMORY),
    /** What is odd about the pace of the pings, as a sentence. */
    warning: text("warning"),
    nextExpectedAt: moment("next_expected_at"),
    lastDurationMs: integer("last_duration_ms"),
    createdAt: moment("created_at").notNull().defaultNow(),
    updatedAt: moment("updated_at").notNull().defaultNow(),
    changedAt: moment("changed_at").notNull().defaultNow(),
    deletedAt: moment("deleted_at"),
  },
  (table) => [
    index("heartbeat_monitors_organization").on(table.organizationId),
    uniqueIndex("heartbeat_monitors_slug").on(table.organizationId, table.slug).where(sql`deleted_at is null`),
    index("heartbeat_monitors_due").on(table.nextExpectedAt).where(sql`status in ('up', 'grace') and deleted_at is null`),
    index("heartbeat_monitors_running").on(table.lastStartAt).where(sql`last_start_at is not null and max_runtime_seconds is not null and deleted_at is null`),
    index("heartbeat_monitors_changed").on(table.changedAt),
    index("heartbeat_monitors_service").on(table.serviceId),
  ],
);
