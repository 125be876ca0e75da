import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import type { HeartbeatState } from "../../schemas/api/heartbeat-monitors.ts";
import { heartbeatMonitors } from "../../schemas/tables/all.ts";
import type { PingStatus } from "../../schemas/vocabulary.ts";
import { ownHeartbeatMonitor } from "./read.ts";
import { showRuns } from "./runs.ts";

interface PingRow {
  at: string;
  status: PingStatus;
  run_id: string;
  duration_ms: number | null;
  message: string;
}

// A ping that was sent again under its run's name is listed once; a run may log as often as it likes.
const RECENT = `
  SELECT toUnixTimestamp64Milli(received_at) AS at, status, run_id, duration_ms, message
  FROM heartbeat_pings
  WHERE monitor_id = {monitor:UUID} AND organization_id = {organization:UUID}
  ORDER BY received_at DESC, offset DESC, index DESC
  LIMIT 1 BY if(run_id = '' OR status = 'log', concat(toString(partition), '/', toString(offset), '/', toString(index)), concat(run_id, ' ', toString(status)))
  LIMIT 100`;

/** A monitor's state with its last 100 pings, newest first; null when the organization has no monitor with this id. */
export async function readHeartbeatStatus(
  { database, clickhouse }: { database: Queries; clickhouse: ClickHouse },
  organizationId: string,
  monitorId: string,
): Promise<HeartbeatState | null> {
  const [monitor] = await database.select().from(heartbeatMonitors).where(ownHeartbeatMonitor(organizationId, monitorId));
  if (!monitor) return null;
  const pings = await clickhouse.query<PingRow>(RECENT, { organization: organizationId, monitor: monitor.id });
  return {
    monitor_id: monitor.id,
    status: monitor.status,
    last_ping_at: monitor.lastPingAt?.toISOString() ?? null,
    next_expected_at: monitor.nextExpectedAt?.toISOString() ?? null,
    last_duration_ms: monitor.lastDurationMs,
    ...showRuns(monitor.memory),
    warning: monitor.warning,
    recent: pings.map(({ at, status, run_id, duration_ms, message }) => ({
      received_at: new Date(Number(at)).toISOString(),
      status,
      run_id: run_id || null,
      duration_ms,
      message: message || null,
    })),
  };
}
