import { bigint, boolean, index, integer, jsonb, pgEnum, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import type { Thresholds } from "../thresholds.ts";
import { OPINION_SOURCES, SERVICE_STATUSES } from "../vocabulary.ts";
import { moment, organizations } from "./organizations.ts";

export const serviceStatus = pgEnum("service_status", SERVICE_STATUSES);
export const opinionSource = pgEnum("opinion_source", OPINION_SOURCES);

/** `status` and `status_source` are derived from the opinions by `domain/services/change-status.ts` alone. */
export const services = pgTable(
  "services",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    description: text("description").notNull().default(""),
    status: serviceStatus("status").notNull().default("operational"),
    statusSource: opinionSource("status_source").notNull().default("manual"),
    displayOrder: integer("display_order").notNull().default(0),
    thresholds: jsonb("thresholds").$type<Thresholds>(),
    createdAt: moment("created_at").notNull().defaultNow(),
    updatedAt: moment("updated_at").notNull().defaultNow(),
  },
  (table) => [index("services_organization").on(table.organizationId, table.displayOrder)],
);

/** A source without a row has no opinion (which counts as operational). */
export const serviceOpinions = pgTable(
  "service_opinions",
  {
    organizationId: uuid("organization_id").notNull(),
    serviceId: uuid("service_id").notNull().references(() => services.id, { onDelete: "cascade" }),
    source: opinionSource("source").notNull(),
    status: serviceStatus("status").notNull(),
    reason: text("reason").notNull(),
    /** Overruled by a status set by hand: it does not count until the source says something else. */
    overruled: boolean("overruled").notNull().default(false),
    updatedAt: moment("updated_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.serviceId, table.source] })],
);

/** One row for each change of the resulting status, and one at creation; the source of uptime. */
export const serviceStatusHistory = pgTable(
  "service_status_history",
  {
    id: bigint("id", { mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    organizationId: uuid("organization_id").notNull(),
    serviceId: uuid("service_id").notNull().references(() => services.id, { onDelete: "cascade" }),
    status: serviceStatus("status").notNull(),
    source: opinionSource("source").notNull(),
    reason: text("reason").notNull(),
    changedAt: moment("changed_at").notNull(),
  },
  (table) => [index("service_status_history_service").on(table.serviceId, table.changedAt)],
);

/** Consecutive breaches and clears of a service's metric pushes; written only when they change. */
export const metricStates = pgTable("metric_states", {
  serviceId: uuid("service_id").primaryKey().references(() => services.id, { onDelete: "cascade" }),
  breaches: integer("breaches").notNull(),
  clears: integer("clears").notNull(),
  /** The level that the last judged push left; a manual status withdraws the opinion until this changes. */
  level: serviceStatus("level"),
  updatedAt: moment("updated_at").notNull().defaultNow(),
});
