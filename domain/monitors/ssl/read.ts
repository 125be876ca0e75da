import { and, desc, eq } from "drizzle-orm";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import { Failure } from "../../../platform/failures.ts";
import { isUuid } from "../../../platform/ids.ts";
import type { Database, Queries } from "../../../platform/postgres/database.ts";
import type { CertificateInFull, SslMonitor, SslMonitorInFull, SslMonitorListQuery } from "../../../schemas/api/ssl-monitors.ts";
import { sslMonitors } from "../../../schemas/tables/all.ts";
import type { ExpiryStatus } from "../../../schemas/vocabulary.ts";
import { readCheckHistory } from "../check-history.ts";

export type SslMonitorRow = typeof sslMonitors.$inferSelect;

/** Newest first. */
export async function listSslMonitors(queries: Queries, organizationId: string, { limit, offset }: SslMonitorListQuery): Promise<SslMonitor[]> {
  const rows = await queries
    .select()
    .from(sslMonitors)
    .where(eq(sslMonitors.organizationId, organizationId))
    .orderBy(desc(sslMonitors.createdAt), desc(sslMonitors.id))
    .limit(limit)
    .offset(offset);
  return rows.map(showSslMonitor);
}

/** NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function readSslMonitor(queries: Queries, organizationId: string, id: string): Promise<SslMonitorRow> {
  const [row] = isUuid(id) ? await queries.select().from(sslMonitors).where(ownSslMonitor(organizationId, id)) : [];
  if (!row) throw noSuchSslMonitor();
  return row;
}

/** With the whole certificate and the checks of 30 days. NOT_FOUND, UNAVAILABLE. */
export async function getSslMonitor(needs: { database: Database; clickhouse: ClickHouse }, organizationId: string, id: string, at: Date): Promise<SslMonitorInFull> {
  const row = await readSslMonitor(needs.database, organizationId, id);
  const history = await readCheckHistory(needs, row, at);
  return {
    ...showSslMonitor(row),
    certificate: certificateOf(row),
    check_history: history.map(({ checkedAt, result }) => ({
      checked_at: checkedAt.toISOString(),
      status: result.status as ExpiryStatus,
      days_until_expiry: result.days_until_expiry ?? null,
      is_valid: result.is_valid ?? null,
      error: result.error === "" ? null : result.error,
    })),
  };
}

export function ownSslMonitor(organizationId: string, id: string) {
  return and(eq(sslMonitors.organizationId, organizationId), eq(sslMonitors.id, id));
}

export function noSuchSslMonitor(): Failure {
  return new Failure("NOT_FOUND", "No such SSL monitor.");
}

/** The certificate as the column holds it. */
export function certificateOf(row: Pick<SslMonitorRow, "certificate">): CertificateInFull | null {
  return row.certificate as CertificateInFull | null;
}

export function showSslMonitor(row: SslMonitorRow): SslMonitor {
  return {
    id: row.id,
    domain: row.domain,
    port: row.port,
    alert_days: row.alertDays,
    enabled: row.enabled,
    status: row.status,
    last_error: row.lastError,
    last_checked_at: row.lastCheckedAt?.toISOString() ?? null,
    certificate: brief(certificateOf(row)),
    service_id: row.serviceId,
    notification_channels: row.notificationChannels,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function brief(certificate: CertificateInFull | null): SslMonitor["certificate"] {
  if (certificate === null) return null;
  const { serial_number: _serial, fingerprint: _fingerprint, san: _san, ...shown } = certificate;
  return shown;
}
