import { index, integer, jsonb, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { apiKeys, bytea, moment, organizations } from "./organizations.ts";

/**
 * Answers of POSTs that named an Idempotency-Key, kept for 24 h. A row without a status is of a call in flight: it is written
 * before the call and is anybody's once `locked_until` has passed, so a call that was killed leaves nothing behind.
 */
export const idempotencyKeys = pgTable(
  "idempotency_keys",
  {
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    apiKeyId: uuid("api_key_id").notNull().references(() => apiKeys.id, { onDelete: "cascade" }),
    key: text("key").notNull(),
    /** SHA-256 of method, path and body. */
    requestHash: bytea("request_hash").notNull(),
    lockedUntil: moment("locked_until").notNull(),
    status: integer("status"),
    body: jsonb("body"),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.apiKeyId, table.key] }), index("idempotency_keys_old").on(table.organizationId, table.createdAt)],
);
