import { and, desc, eq } from "drizzle-orm";
import { Failure } from "../../../platform/failures.ts";
import { isUuid } from "../../../platform/ids.ts";
import type { Queries, Transaction } from "../../../platform/postgres/database.ts";
import type { UptimeMonitor, UptimeMonitorListQuery } from "../../../schemas/api/uptime-monitors.ts";
import { uptimeMonitors } from "../../../schemas/tables/all.ts";
import { hideRequest } from "./hidden-request.ts";

export type UptimeMonitorRow = typeof uptimeMonitors.$inferSelect;

/** Newest first. */
export async function listUptimeMonitors(queries: Queries, organizationId: string, { limit, offset }: UptimeMonitorListQuery): Promise<UptimeMonitor[]> {
  const rows = await queries
    .select()
    .from(uptimeMonitors)
    .where(eq(uptimeMonitors.organizationId, organizationId))
    .orderBy(desc(uptimeMonitors.createdAt), desc(uptimeMonitors.id))
    .limit(limit)
    .offset(offset);
  return rows.map(showUptimeMonitor);
}

/** NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function getUptimeMonitor(queries: Queries, organizationId: string, id: string): Promise<UptimeMonitor> {
  const [row] = isUuid(id) ? await queries.select().from(uptimeMonitors).where(own(organizationId, id)) : [];
  if (!row) throw noSuchUptimeMonitor();
  return showUptimeMonitor(row);
}

/** Locks a monitor of the organization until the transaction ends; services are locked after monitors. NOT_FOUND. */
export async function lockUptimeMonitor(tx: Transaction, organizationId: string, id: string): Promise<UptimeMonitorRow> {
  const [row] = isUuid(id) ? await tx.select().from(uptimeMonitors).where(own(organizationId, id)).for("no key update") : [];
  if (!row) throw noSuchUptimeMonitor();
  return row;
}

/** What a monitor that now has this status has to say of its service. */
export function hasOpinion({ status }: Pick<UptimeMonitorRow, "status">): boolean {
  return status === "down" || status === "degraded";
}

/** As the audit log is given it: what it sends whole, so that a change of it is noticed; it masks that itself. */
export function auditedUptimeMonitor(row: UptimeMonitorRow): Record<string, unknown> {
  return { ...showUptimeMonitor(row), headers: row.headers, body: row.body === null ? null : { secret: row.body } };
}

/** As the API shows it: header values and body are masked. */
export function showUptimeMonitor(row: UptimeMonitorRow): UptimeMonitor {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    interval_seconds: row.intervalSeconds,
    enabled: row.enabled,
    status: row.status,
    last_checked_at: row.lastCheckedAt?.toISOString() ?? null,
    service_id: row.serviceId,
    method: row.method,
    ...hideRequest(row),
    timeout_ms: row.timeoutMs,
    expected_status_codes: row.expectedStatusCodes,
    required_keyword: row.requiredKeyword,
    follow_redirects: row.followRedirects,
    verify_ssl: row.verifySsl,
    failures_to_down: row.failuresToDown,
    successes_to_up: row.successesToUp,
    degraded_after_ms: row.degradedAfterMs,
    create_incident: row.createIncident,
    notification_channels: row.notificationChannels,
    last_response_time_ms: row.lastResponseTimeMs,
    last_status_code: row.lastStatusCode,
    last_error: row.lastError,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function own(organizationId: string, id: string) {
  return and(eq(uptimeMonitors.organizationId, organizationId), eq(uptimeMonitors.id, id));
}

function noSuchUptimeMonitor(): Failure {
  return new Failure("NOT_FOUND", "No such uptime monitor.");
}
