import { and, desc, eq, isNull } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import type { HeartbeatMonitor, HeartbeatMonitorListQuery } from "../../schemas/api/heartbeat-monitors.ts";
import { heartbeatMonitors } from "../../schemas/tables/all.ts";
import { showRuns } from "./runs.ts";

export type HeartbeatMonitorRow = typeof heartbeatMonitors.$inferSelect;

/** Newest first. */
export async function listHeartbeatMonitors(queries: Queries, organizationId: string, { limit, offset }: HeartbeatMonitorListQuery): Promise<HeartbeatMonitor[]> {
  const rows = await queries
    .select()
    .from(heartbeatMonitors)
    .where(and(eq(heartbeatMonitors.organizationId, organizationId), isNull(heartbeatMonitors.deletedAt)))
    .orderBy(desc(heartbeatMonitors.createdAt), desc(heartbeatMonitors.id))
    .limit(limit)
    .offset(offset);
  return rows.map(showHeartbeatMonitor);
}

/** NOT_FOUND for ids that are unknown, deleted, malformed or of another organization. */
export async function getHeartbeatMonitor(queries: Queries, organizationId: string, id: string): Promise<HeartbeatMonitor> {
  const [row] = isUuid(id) ? await queries.select().from(heartbeatMonitors).where(ownHeartbeatMonitor(organizationId, id)) : [];
  if (!row) throw noSuchHeartbeatMonitor();
  return showHeartbeatMonitor(row);
}

export function ownHeartbeatMonitor(organizationId: string, id: string) {
  return and(eq(heartbeatMonitors.organizationId, organizationId), eq(heartbeatMonitors.id, id), isNull(heartbeatMonitors.deletedAt));
}

export function noSuchHeartbeatMonitor(): Failure {
  return new Failure("NOT_FOUND", "No such heartbeat monitor.");
}

export function showHeartbeatMonitor(row: HeartbeatMonitorRow): HeartbeatMonitor {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    schedule_type: row.scheduleType,
    interval_seconds: row.intervalSeconds,
    cron: row.cron,
    timezone: row.timezone,
    grace_seconds: row.graceSeconds,
    max_runtime_seconds: row.maxRuntimeSeconds,
    enabled: row.status !== "paused",
    status: row.status,
    last_ping_at: row.lastPingAt?.toISOString() ?? null,
    next_expected_at: row.nextExpectedAt?.toISOString() ?? null,
    last_duration_ms: row.lastDurationMs,
    ...showRuns(row.memory),
    warning: row.warning,
    service_id: row.serviceId,
    notification_channels: row.notificationChannels,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
