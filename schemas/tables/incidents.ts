import { boolean, index, pgEnum, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { INCIDENT_SEVERITIES, INCIDENT_STATUSES } from "../vocabulary.ts";
import { moment, organizations } from "./organizations.ts";
import { services } from "./services.ts";

export const incidentStatus = pgEnum("incident_status", INCIDENT_STATUSES);
export const incidentSeverity = pgEnum("incident_severity", INCIDENT_SEVERITIES);

/** `opened_by` says which automatism opened it (`metrics:<service id>`), null for a person or script. */
export const incidents = pgTable(
  "incidents",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    title: text("title").notNull(),
    status: incidentStatus("status").notNull(),
    severity: incidentSeverity("severity").notNull(),
    openedBy: text("opened_by"),
    /** It was about services that were deleted: pages shall not take it for one about none, which all of them show. */
    lostServices: boolean("lost_services").notNull().default(false),
    startedAt: moment("started_at").notNull(),
    resolvedAt: moment("resolved_at"),
    createdAt: moment("created_at").notNull().defaultNow(),
    updatedAt: moment("updated_at").notNull().defaultNow(),
  },
  (table) => [
    index("incidents_organization").on(table.organizationId, table.createdAt),
    // Few of many are open, and those are asked for by their status.
    index("incidents_open").on(table.organizationId, table.createdAt).where(sql`status <> 'resolved'`),
    uniqueIndex("incidents_one_open_per_automatism").on(table.openedBy).where(sql`opened_by is not null and status <> 'resolved'`),
  ],
);

export const incidentServices = pgTable(
  "incident_services",
  {
    organizationId: uuid("organization_id").notNull(),
    incidentId: uuid("incident_id").notNull().references(() => incidents.id, { onDelete: "cascade" }),
    serviceId: uuid("service_id").notNull().references(() => services.id, { onDelete: "cascade" }),
  },
  (table) => [primaryKey({ columns: [table.incidentId, table.serviceId] }), index("incident_services_service").on(table.serviceId)],
);

export const incidentUpdates = pgTable(
  "incident_updates",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull(),
    incidentId: uuid("incident_id").notNull().references(() => incidents.id, { onDelete: "cascade" }),
    status: incidentStatus("status").notNull(),
    message: text("message").notNull(),
    createdAt: moment("created_at").notNull().defaultNow(),
  },
  (table) => [index("incident_updates_incident").on(table.incidentId, table.createdAt)],
);
