import { bigint, index, integer, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { moment } from "./organizations.ts";

/**
 * How far a consumer group has come in one partition of one log.
 *
 * `next_offset` is the first offset whose effect is not yet committed. `range_last` is set while a range
 * [next_offset, range_last] is open, that is: it may already stand in ClickHouse. `range_token` names it.
 * `epoch` grows with each take-over; every update says `where epoch = $mine`, so that the transaction
 * of an owner that was replaced changes no row.
 */
export const cursors = pgTable(
  "cursors",
  {
    consumerGroup: text("consumer_group").notNull(),
    logId: text("log_id").notNull(),
    topic: text("topic").notNull(),
    partition: integer("partition").notNull(),
    nextOffset: bigint("next_offset", { mode: "bigint" }).notNull(),
    rangeLast: bigint("range_last", { mode: "bigint" }),
    rangeToken: text("range_token"),
    epoch: bigint("epoch", { mode: "bigint" }).notNull(),
    /** Everything received before this moment has been processed, as far as this partition goes. */
    caughtUpTo: moment("caught_up_to"),
    updatedAt: moment("updated_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.consumerGroup, table.logId, table.topic, table.partition] })],
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
