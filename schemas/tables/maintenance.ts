import { sql } from "drizzle-orm";
import { boolean, index, integer, pgEnum, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { MAINTENANCE_STATUSES } from "../vocabulary.ts";
import { moment, organizations } from "./organizations.ts";
import { services } from "./services.ts";

export const maintenanceStatus = pgEnum("maintenance_status", MAINTENANCE_STATUSES);

/** States: scheduled → in_progress → completed; scheduled or in_progress → cancelled. */
export const maintenanceWindows = pgTable(
  "maintenance_windows",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    title: text("title").notNull(),
    description: text("description").notNull().default(""),
    status: maintenanceStatus("status").notNull().default("scheduled"),
    startsAt: moment("starts_at").notNull(),
    endsAt: moment("ends_at").notNull(),
    rrule: text("rrule"),
    /** As of an incident. */
    lostServices: boolean("lost_services").notNull().default(false),
    autoStart: boolean("auto_start").notNull().default(true),
    autoComplete: boolean("auto_complete").notNull().default(true),
    notifyBeforeMinutes: integer("notify_before_minutes"),
    /** The start that was reminded of last: a window that is moved is reminded of once more. */
    remindedOf: moment("reminded_of"),
    createdAt: moment("created_at").notNull().defaultNow(),
    updatedAt: moment("updated_at").notNull().defaultNow(),
  },
  (table) => [
    index("maintenance_windows_organization").on(table.organizationId, table.startsAt),
    index("maintenance_windows_to_start").on(table.startsAt).where(sql`status = 'scheduled'`),
    index("maintenance_windows_to_complete").on(table.endsAt).where(sql`status = 'in_progress'`),
  ],
);

export const maintenanceWindowServices = pgTable(
  "maintenance_window_services",
  {
    organizationId: uuid("organization_id").notNull(),
    maintenanceWindowId: uuid("maintenance_window_id").notNull().references(() => maintenanceWindows.id, { onDelete: "cascade" }),
    serviceId: uuid("service_id").notNull().references(() => services.id, { onDelete: "cascade" }),
  },
  (table) => [primaryKey({ columns: [table.maintenanceWindowId, table.serviceId] }), index("maintenance_window_services_service").on(table.serviceId)],
);

export const maintenanceUpdates = pgTable(
  "maintenance_updates",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull(),
    maintenanceWindowId: uuid("maintenance_window_id").notNull().references(() => maintenanceWindows.id, { onDelete: "cascade" }),
    status: maintenanceStatus("status").notNull(),
    message: text("message").notNull(),
    createdAt: moment("created_at").notNull(),
  },
  (table) => [index("maintenance_updates_window").on(table.maintenanceWindowId, table.createdAt)],
);
