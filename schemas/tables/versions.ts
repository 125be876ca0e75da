import { bigint, pgTable, primaryKey, smallint, uuid } from "drizzle-orm/pg-core";

/**
 * How often what an organization's lists and pages show was changed: services, incidents with their updates, default thresholds.
 * Triggers count, in the transaction of the change. The sum over the shards is the version; a connection counts in its own
 * shard, so that writers do not wait for each other.
 */
export const contentVersions = pgTable(
  "content_versions",
  {
    organizationId: uuid("organization_id").notNull(),
    shard: smallint("shard").notNull(),
    version: bigint("version", { mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.shard] })],
);
