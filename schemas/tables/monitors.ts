import { boolean, index, integer, jsonb, pgEnum, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { EXPIRY_STATUSES, LOOKUP_METHODS, MONITOR_KINDS, UPTIME_STATUSES } from "../vocabulary.ts";
import { moment, organizations } from "./organizations.ts";
import { sealedJson, sealedText } from "./sealed.ts";
import { services } from "./services.ts";

export const monitorKind = pgEnum("monitor_kind", MONITOR_KINDS);
export const uptimeStatus = pgEnum("uptime_status", UPTIME_STATUSES);
export const expiryStatus = pgEnum("expiry_status", EXPIRY_STATUSES);
export const lookupMethod = pgEnum("lookup_method", LOOKUP_METHODS);

/** What monitors of all kinds that Pharos checks itself have. `due_at` and `lease_token` as in `platform/claim-due.ts`. */
const monitorColumns = () => ({
  id: uuid("id").primaryKey(),
  organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
  serviceId: uuid("service_id").references(() => services.id, { onDelete: "set null" }),
  enabled: boolean("enabled").notNull().default(true),
  notificationChannels: uuid("notification_channels").array().notNull().default(sql`'{}'`),
  lastCheckedAt: moment("last_checked_at"),
  dueAt: moment("due_at").notNull(),
  leaseToken: uuid("lease_token"),
  createdAt: moment("created_at").notNull(),
  updatedAt: moment("updated_at").notNull(),
});

/** States: pending → up | degraded | down, by counts of checks in a row; paused while not enabled. */
export const uptimeMonitors = pgTable(
  "uptime_monitors",
  {
    ...monitorColumns(),
    name: text("name").notNull(),
    url: text("url").notNull(),
    method: text("method").notNull(),
    headers: sealedJson<Record<string, string>>("headers").notNull(),
    body: sealedText("body"),
    intervalSeconds: integer("interval_seconds").notNull(),
    timeoutMs: integer("timeout_ms").notNull(),
    /** Empty for any of 200 to 299. */
    expectedStatusCodes: integer("expected_status_codes").array().notNull(),
    requiredKeyword: text("required_keyword"),
    followRedirects: boolean("follow_redirects").notNull(),
    verifySsl: boolean("verify_ssl").notNull(),
    failuresToDown: integer("failures_to_down").notNull(),
    successesToUp: integer("successes_to_up").notNull(),
    degradedAfterMs: integer("degraded_after_ms"),
    createIncident: boolean("create_incident").notNull(),
    /** The incident that it opened when it went down, while that is open. */
    incidentId: uuid("incident_id"),
    status: uptimeStatus("status").notNull(),
    /** Checks in a row that spoke against the status. */
    contrary: integer("contrary").notNull().default(0),
    lastResponseTimeMs: integer("last_response_time_ms"),
    lastStatusCode: integer("last_status_code"),
    lastError: text("last_error"),
  },
  (table) => [
    index("uptime_monitors_organization").on(table.organizationId, table.createdAt),
    index("uptime_monitors_service").on(table.serviceId),
    index("uptime_monitors_due").on(table.dueAt).where(sql`enabled`),
  ],
);

const expiryColumns = () => ({
  domain: text("domain").notNull(),
  alertDays: integer("alert_days").notNull(),
  /** Of the last check; null before the first. */
  status: expiryStatus("status"),
  lastError: text("last_error"),
  daysUntilExpiry: integer("days_until_expiry"),
  /** Which warning of which certificate or registration was told last, so that each is told once. */
  told: text("told"),
});

export const sslMonitors = pgTable(
  "ssl_monitors",
  {
    ...monitorColumns(),
    ...expiryColumns(),
    port: integer("port").notNull(),
    /** As `schemas/api/ssl-monitors.ts` shows it; null while none was fetched. */
    certificate: jsonb("certificate").$type<Record<string, unknown>>(),
  },
  (table) => [
    index("ssl_monitors_organization").on(table.organizationId, table.createdAt),
    index("ssl_monitors_service").on(table.serviceId),
    index("ssl_monitors_due").on(table.dueAt).where(sql`enabled`),
  ],
);

export const domainMonitors = pgTable(
  "domain_monitors",
  {
    ...monitorColumns(),
    ...expiryColumns(),
    lookupMethod: lookupMethod("lookup_method").notNull(),
    /** As `schemas/api/domain-monitors.ts` shows it; null while none was found. */
    registration: jsonb("registration").$type<Record<string, unknown>>(),
  },
  (table) => [
    index("domain_monitors_organization").on(table.organizationId, table.createdAt),
    index("domain_monitors_service").on(table.serviceId),
    index("domain_monitors_due").on(table.dueAt).where(sql`enabled`),
  ],
);

/** Results on their way to ClickHouse, written with the check's effect; `batch` names the insert that takes them, so that it can be repeated. */
export const checkResults = pgTable(
  "check_results",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull(),
    kind: monitorKind("kind").notNull(),
    monitorId: uuid("monitor_id").notNull(),
    checkedAt: moment("checked_at").notNull(),
    /** The rest of the row in ClickHouse. */
    result: jsonb("result").$type<Record<string, unknown>>().notNull(),
    batch: uuid("batch"),
  },
  (table) => [index("check_results_batch").on(table.batch)],
);
