import type { ClickHouse } from "../platform/clickhouse/port.ts";
import { stringLiteral } from "../platform/clickhouse/tokens.ts";

export interface AgedRows {
  organizationId: string;
  serviceId: string;
  monitorId: string;
  /** Rows in each table. */
  rows: number;
  /** Spread evenly between these moments. */
  from: Date;
  until: Date;
}

/** Rows for the tables that have an age, spread over a span of time, made by ClickHouse itself. Their views fill the tables behind them. */
export async function insertAgedRows(clickhouse: ClickHouse, rows: AgedRows, tables: readonly string[] = ["beacon_events", "metric_samples", "heartbeat_pings", "check_results"]): Promise<void> {
  for (const table of tables) await clickhouse.command(`INSERT INTO ${table} ${selectOf(table, rows)} SETTINGS max_partitions_per_insert_block = 0, max_insert_threads = 1`);
}

function selectOf(table: string, { organizationId, serviceId, monitorId, rows, from, until }: AgedRows): string {
  const [organization, service, monitor] = [organizationId, serviceId, monitorId].map((id) => `toUUID(${stringLiteral(id)})`);
  const at = `fromUnixTimestamp64Milli(${from.getTime()} + intDiv(number * ${until.getTime() - from.getTime()}, ${rows}), 'UTC')`;
  const columns = "log_id, partition, offset, `index`, organization_id";
  const values = (owner: string) => `'log', number % 4, number, 0, ${organization}, ${owner}, ${at} AS at`;
  const selects: Record<string, string> = {
    beacon_events: `(${columns}, service_id, received_at, signature_id, event_id, event_id_given, type, occurred_at, session_id, release, message, stack)
      SELECT ${values(service!)}, ${service}, generateUUIDv4(), false, 'error', at, toString(number % 1000), '1.0', concat('failed ', toString(number % 97)), hex(randomString(40))`,
    metric_samples: `(${columns}, service_id, received_at, name, value, reported_at) SELECT ${values(service!)}, 'cpu', number % 100, at`,
    heartbeat_pings: `(${columns}, monitor_id, received_at, status, message) SELECT ${values(monitor!)}, 'ok', ''`,
    check_results: `(organization_id, monitor_id, checked_at, id, kind, status) SELECT ${organization}, ${monitor}, ${at}, generateUUIDv4(), 'uptime', 'up'`,
  };
  return `${selects[table]} FROM numbers(${rows})`;
}
