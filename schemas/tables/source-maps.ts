import { boolean, customType, foreignKey, index, integer, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { moment, organizations } from "./organizations.ts";
import { services } from "./services.ts";

const bytes = customType<{ data: Buffer }>({ dataType: () => "bytea" });

/** What maps were turned into, once for each different content: the flat index (`domain/source-maps/flat-index.ts`). */
export const sourceMapFiles = pgTable(
  "source_map_files",
  {
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    /** SHA-256 of the map as it was uploaded, in hex. */
    hash: text("hash").notNull(),
    /** Of the map. */
    sizeBytes: integer("size_bytes").notNull(),
    debugId: uuid("debug_id"),
    index: bytes("index").notNull(),
    /** Of the index. */
    storedBytes: integer("stored_bytes").notNull().default(0),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.hash] }), index("source_map_files_stored").on(table.organizationId, table.storedBytes)],
);

/** Which script of which release a map belongs to. */
export const sourceMaps = pgTable(
  "source_maps",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    serviceId: uuid("service_id").notNull().references(() => services.id, { onDelete: "cascade" }),
    release: text("release").notNull(),
    /** Of the script, as it is looked up: see `domain/source-maps/match-url.ts`. */
    url: text("url").notNull(),
    hash: text("hash").notNull(),
    debugId: uuid("debug_id"),
    uploadedAt: moment("uploaded_at").notNull(),
  },
  (table) => [
    uniqueIndex("source_maps_url").on(table.serviceId, table.release, table.url),
    index("source_maps_list").on(table.organizationId, table.uploadedAt),
    index("source_maps_debug_id").on(table.serviceId, table.debugId),
    index("source_maps_file").on(table.organizationId, table.hash),
    foreignKey({ columns: [table.organizationId, table.hash], foreignColumns: [sourceMapFiles.organizationId, sourceMapFiles.hash], name: "source_maps_file_fk" }),
  ],
);

/**
 * Maps that came after errors of their release: those errors are symbolicated and grouped once more, in the order of their signatures' ids.
 * A row is due work (`platform/claim-due.ts`) and goes when it is done.
 */
export const lateSourceMaps = pgTable(
  "late_source_maps",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    serviceId: uuid("service_id").notNull().references(() => services.id, { onDelete: "cascade" }),
    release: text("release").notNull(),
    /** The last signature that is done with; null at the beginning. */
    doneUpTo: uuid("done_up_to"),
    dueAt: moment("due_at").notNull(),
    leaseToken: uuid("lease_token"),
    /** Errors have come that were read without the maps: when this is done it is done once more. */
    again: boolean("again").notNull().default(false),
  },
  (table) => [uniqueIndex("late_source_maps_release").on(table.serviceId, table.release), index("late_source_maps_due").on(table.dueAt)],
);
