import { bigint, date, index, integer, pgEnum, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { DEAD_LETTER_STATES } from "../vocabulary.ts";
import { bytea, moment } from "./organizations.ts";
import { services } from "./services.ts";

export const deadLetterState = pgEnum("dead_letter_state", DEAD_LETTER_STATES);

/**
 * How far a consumer group has come in one partition of one log.
 *
 * `next_offset` is the first offset whose effect is not yet committed. `lease` names the consumer that may move the
 * cursor: every update says `where lease = $mine and next_offset = $first`, so the transaction of a consumer that was
 * replaced changes no row. `epoch` grows with each takeover; ClickHouse's table `insert_fences` repeats both.
 */
export const cursors = pgTable(
  "cursors",
  {
    consumerGroup: text("consumer_group").notNull(),
    logId: text("log_id").notNull(),
    topic: text("topic").notNull(),
    partition: integer("partition").notNull(),
    nextOffset: bigint("next_offset", { mode: "bigint" }).notNull(),
    epoch: bigint("epoch", { mode: "bigint" }).notNull(),
    lease: uuid("lease"),
    /** `query_id` of an insert that a processor of version 0.1 may have left running; ended at the takeover. */
    legacyInsert: text("legacy_insert"),
    /** Everything received before this moment has been processed, as far as this partition goes. */
    caughtUpTo: moment("caught_up_to"),
    updatedAt: moment("updated_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.consumerGroup, table.logId, table.topic, table.partition] })],
);

/**
 * Records, or single entries of records, that a consumer group could not process. Kept until somebody answers them.
 *
 * states: `rows_stand` (its rows are still in ClickHouse and are being deleted) → `open` → `replayed` or `discarded`.
 */
export const deadLetters = pgTable(
  "dead_letters",
  {
    id: uuid("id").primaryKey(),
    consumerGroup: text("consumer_group").notNull(),
    logId: text("log_id").notNull(),
    topic: text("topic").notNull(),
    partition: integer("partition").notNull(),
    offset: bigint("offset", { mode: "bigint" }).notNull(),
    /** Which entry of the record this is; -1 for the whole record. */
    entry: integer("entry").notNull(),
    reason: text("reason").notNull(),
    /** The record, or a frame that holds the entry alone. */
    bytes: bytea("bytes").notNull(),
    state: deadLetterState("state").notNull(),
    /** How often it was put back into its topic. */
    replays: integer("replays").notNull().default(0),
    createdAt: moment("created_at").notNull().defaultNow(),
    answeredAt: moment("answered_at"),
  },
  (table) => [
    uniqueIndex("dead_letters_position").on(table.consumerGroup, table.logId, table.topic, table.partition, table.offset, table.entry),
    index("dead_letters_state").on(table.state, table.createdAt),
  ],
);

/** How many partitions a topic had when its log was first used: the partition of a key depends on it. */
export const logTopics = pgTable(
  "log_topics",
  { logId: text("log_id").notNull(), topic: text("topic").notNull(), partitions: integer("partitions").notNull() },
  (table) => [primaryKey({ columns: [table.logId, table.topic] })],
);

/** What public beacon keys made newly for a service on one day (UTC): bounded, so that nobody can fill the tables. */
export const dailyCreations = pgTable(
  "daily_creations",
  {
    serviceId: uuid("service_id").notNull().references(() => services.id, { onDelete: "cascade" }),
    day: date("day").notNull(),
    kind: text("kind", { enum: ["signature", "release", "environment"] }).notNull(),
    count: integer("count").notNull(),
  },
  (table) => [primaryKey({ columns: [table.serviceId, table.day, table.kind] })],
);

/** The last frame of each edge that a consumer group has counted: a frame numbered lower or equal is a resend. */
export const frameSequences = pgTable(
  "frame_sequences",
  {
    consumerGroup: text("consumer_group").notNull(),
    logId: text("log_id").notNull(),
    topic: text("topic").notNull(),
    partition: integer("partition").notNull(),
    edgeId: uuid("edge_id").notNull(),
    lastSequence: bigint("last_sequence", { mode: "bigint" }).notNull(),
    updatedAt: moment("updated_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.consumerGroup, table.logId, table.topic, table.partition, table.edgeId] })],
);

/** Gaps in a log that a consumer met (records lost to retention): alarmed, never hidden. */
export const logGaps = pgTable("log_gaps", {
  id: uuid("id").primaryKey(),
  consumerGroup: text("consumer_group").notNull(),
  logId: text("log_id").notNull(),
  topic: text("topic").notNull(),
  partition: integer("partition").notNull(),
  fromOffset: bigint("from_offset", { mode: "bigint" }).notNull(),
  toOffset: bigint("to_offset", { mode: "bigint" }).notNull(),
  foundAt: moment("found_at").notNull().defaultNow(),
});

/** Ids of beacon keys and services that were deleted, kept a few minutes by a trigger: edges forget what they knew of them. */
export const removals = pgTable("removals", { id: uuid("id").primaryKey(), removedAt: moment("removed_at").notNull() }, (table) => [index("removals_removed").on(table.removedAt)]);

/** Each running edge tells here when it received the oldest frame that the log does not have yet. */
export const edges = pgTable(
  "edges",
  {
    id: uuid("id").primaryKey(),
    oldestUnsentAt: moment("oldest_unsent_at"),
    seenAt: moment("seen_at").notNull(),
  },
  (table) => [index("edges_seen").on(table.seenAt)],
);

/** Organizations that sent more than their share of all beacons: from `since` to `until` theirs go to `beacons-overflow`. */
export const floods = pgTable("floods", { organizationId: uuid("organization_id").primaryKey(), since: moment("since").notNull(), until: moment("until").notNull() });
