import { sql } from "drizzle-orm";
import { boolean, index, pgEnum, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { moment } from "./organizations.ts";

export const deletionKind = pgEnum("deletion_kind", ["service", "monitor"]);

/**
 * Services and monitors that were deleted, noted by triggers in the deleting transaction. ClickHouse's rows of them are deleted because they
 * stand here, never because Postgres lacks them: a Postgres that was restored from a backup lacks what was made since.
 */
export const deletions = pgTable(
  "deletions",
  { id: uuid("id").primaryKey(), kind: deletionKind("kind").notNull(), deletedAt: moment("deleted_at").notNull() },
  (table) => [index("deletions_deleted").on(table.deletedAt)],
);

/** Work of the whole installation that is due now and then; `due_at` and `lease_token` as in `platform/claim-periodic.ts`. */
export const periodicWork = pgTable("periodic_work", {
  name: text("name").primaryKey(),
  dueAt: moment("due_at").notNull().default(sql`now()`),
  leaseToken: uuid("lease_token"),
});

/** One row: the fingerprint of the key that seals secrets, left by the first start. */
export const secretsKeys = pgTable("secrets_keys", { one: boolean("one").primaryKey(), fingerprint: text("fingerprint").notNull() });
