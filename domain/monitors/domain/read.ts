import { and, desc, eq } from "drizzle-orm";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import { Failure } from "../../../platform/failures.ts";
import { isUuid } from "../../../platform/ids.ts";
import type { Database, Queries } from "../../../platform/postgres/database.ts";
import type { DomainMonitor, DomainMonitorInFull, DomainMonitorListQuery } from "../../../schemas/api/domain-monitors.ts";
import { domainMonitors } from "../../../schemas/tables/all.ts";
import type { ExpiryStatus } from "../../../schemas/vocabulary.ts";
import { readCheckHistory } from "../check-history.ts";
import type { Registration } from "./registration.ts";

export type DomainMonitorRow = typeof domainMonitors.$inferSelect;

/** Newest first. */
export async function listDomainMonitors(queries: Queries, organizationId: string, { limit, offset }: DomainMonitorListQuery): Promise<DomainMonitor[]> {
  const rows = await queries
    .select()
    .from(domainMonitors)
    .where(eq(domainMonitors.organizationId, organizationId))
    .orderBy(desc(domainMonitors.createdAt), desc(domainMonitors.id))
    .limit(limit)
    .offset(offset);
  return rows.map(showDomainMonitor);
}

/** NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function readDomainMonitor(queries: Queries, organizationId: string, id: string): Promise<DomainMonitorRow> {
  const [row] = isUuid(id) ? await queries.select().from(domainMonitors).where(ownDomainMonitor(organizationId, id)) : [];
  if (!row) throw noSuchDomainMonitor();
  return row;
}

/** With the look-ups of 30 days. NOT_FOUND, UNAVAILABLE. */
export async function getDomainMonitor(needs: { database: Database; clickhouse: ClickHouse }, organizationId: string, id: string, at: Date): Promise<DomainMonitorInFull> {
  const row = await readDomainMonitor(needs.database, organizationId, id);
  const history = await readCheckHistory(needs, row, at);
  return {
    ...showDomainMonitor(row),
    check_history: history.map(({ checkedAt, result }) => ({
      checked_at: checkedAt.toISOString(),
      status: result.status as ExpiryStatus,
      days_until_expiry: result.days_until_expiry ?? null,
      error: result.error === "" ? null : result.error,
    })),
  };
}

export function ownDomainMonitor(organizationId: string, id: string) {
  return and(eq(domainMonitors.organizationId, organizationId), eq(domainMonitors.id, id));
}

export function noSuchDomainMonitor(): Failure {
  return new Failure("NOT_FOUND", "No such domain monitor.");
}

export function showDomainMonitor(row: DomainMonitorRow): DomainMonitor {
  const registration = row.registration as Registration | null;
  return {
    id: row.id,
    domain: row.domain,
    alert_days: row.alertDays,
    lookup_method: row.lookupMethod,
    enabled: row.enabled,
    status: row.status,
    last_error: row.lastError,
    last_checked_at: row.lastCheckedAt?.toISOString() ?? null,
    registration: registration && { ...registration, days_until_expiry: row.daysUntilExpiry },
    service_id: row.serviceId,
    notification_channels: row.notificationChannels,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
