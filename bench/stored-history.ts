import { sql } from "drizzle-orm";
import type { ClickHouse } from "../platform/clickhouse/port.ts";
import type { Database } from "../platform/postgres/database.ts";
import { newId } from "../platform/ids.ts";
import { domainMonitors, heartbeatMonitors, sslMonitors, uptimeMonitors } from "../schemas/tables/all.ts";
import { DAY_MS, type StoredPlace } from "./stored-events.ts";

/** Monitors of which results and pings are stored. */
export interface StoredMonitors {
  uptimeIds: string[];
  heartbeatIds: string[];
  sslId: string;
  domainId: string;
}

interface HistoryAmount {
  /** Of samples, of check results, and of pings, each. */
  rows: number;
  days: number;
  now: number;
}

const METRICS = ["cpu_percent", "error_rate", "memory_percent", "requests_per_second", "response_time_ms"];
/** For so long results of checks are kept. */
const CHECK_DAYS = 30;
/** As often as a monitor can be checked, and pings once a minute. */
const CHECK_EVERY_MS = 30_000;
const PING_EVERY_MS = 60_000;
/** A certificate and a registration are looked at twice a day. */
const EXPIRY_EVERY_MS = DAY_MS / 2;

/**
 * Has ClickHouse make samples of all services, results of uptime checks and pings, `rows` of each: as many
 * monitors as it takes, checked and pinging as often as they may.
 */
export async function storeHistory({ database, clickhouse }: { database: Database; clickhouse: ClickHouse }, { organizationId, serviceIds }: StoredPlace, { rows, days, now }: HistoryAmount): Promise<StoredMonitors> {
  const monitors = await makeMonitors(database, organizationId, now, {
    uptime: Math.max(1, Math.round(rows / ((CHECK_DAYS * DAY_MS) / CHECK_EVERY_MS))),
    heartbeats: Math.max(1, Math.round(rows / ((days * DAY_MS) / PING_EVERY_MS))),
  });
  const pushes = Math.ceil(rows / METRICS.length / serviceIds.length / days);
  const params = { organization: organizationId, services: serviceIds, uptime: monitors.uptimeIds, heartbeats: monitors.heartbeatIds, now };
  for (let day = days - 1; day >= 0; day--) {
    await clickhouse.command(
      `INSERT INTO metric_samples (log_id, offset, \`index\`, organization_id, service_id, name, value, received_at, reported_at)
       SELECT 'bench', number, metric.1, {organization:UUID}, service, metric.2, cityHash64(number, service, metric.1) % 1000 / 10, at, at FROM (
         SELECT ${(days - 1 - day) * pushes} + number AS number, fromUnixTimestamp64Milli(toInt64({now:Int64} - ${(day + 1) * DAY_MS} + number * ${DAY_MS / pushes}), 'UTC') AS at,
           arrayJoin({services:Array(UUID)}) AS service, arrayJoin([${METRICS.map((name, index) => `(${index}, '${name}')`).join(", ")}]) AS metric
         FROM numbers(${pushes}))`,
      params,
    );
    await clickhouse.command(
      `INSERT INTO heartbeat_pings (log_id, offset, organization_id, monitor_id, received_at, status, run_id, duration_ms, message)
       SELECT 'bench', number, {organization:UUID}, monitor, at, if(number % 50 = 0, 'fail', 'ok'), if(number % 2 = 0, '', toString(number)), 1000 + number % 5000, '' FROM (
         SELECT ${(days - 1 - day) * (DAY_MS / PING_EVERY_MS)} + number AS number, fromUnixTimestamp64Milli(toInt64({now:Int64} - ${(day + 1) * DAY_MS} + number * ${PING_EVERY_MS}), 'UTC') AS at, arrayJoin({heartbeats:Array(UUID)}) AS monitor
         FROM numbers(${DAY_MS / PING_EVERY_MS}))`,
      params,
    );
    if (day >= CHECK_DAYS) continue;
    await clickhouse.command(
      `INSERT INTO check_results (id, organization_id, kind, monitor_id, checked_at, status, error, response_time_ms, dns_ms, connect_ms, tls_ms, first_byte_ms, status_code)
       SELECT generateUUIDv4(), {organization:UUID}, 'uptime', monitor, at, multiIf(number % 97 = 0, 'down', number % 31 = 0, 'degraded', 'up'), if(number % 97 = 0, 'The connection was refused.', ''),
         50 + cityHash64(number, monitor) % 400, 3, 12, 20, 40, if(number % 97 = 0, NULL, 200) FROM (
         SELECT number, fromUnixTimestamp64Milli(toInt64({now:Int64} - ${(day + 1) * DAY_MS} + number * ${CHECK_EVERY_MS}), 'UTC') AS at, arrayJoin({uptime:Array(UUID)}) AS monitor FROM numbers(${DAY_MS / CHECK_EVERY_MS}))`,
      params,
    );
  }
  for (const [kind, id] of [["ssl", monitors.sslId], ["domain", monitors.domainId]] as const) {
    await clickhouse.command(
      `INSERT INTO check_results (id, organization_id, kind, monitor_id, checked_at, status, error, days_until_expiry, is_valid)
       SELECT generateUUIDv4(), {organization:UUID}, '${kind}', {id:UUID}, fromUnixTimestamp64Milli(toInt64({now:Int64} - number * ${EXPIRY_EVERY_MS}), 'UTC'), 'ok', '', 60, true FROM numbers(${CHECK_DAYS * 2})`,
      { ...params, id },
    );
  }
  return monitors;
}

/** Paused, so that no scheduler looks at them. */
async function makeMonitors(database: Database, organizationId: string, now: number, counts: { uptime: number; heartbeats: number }): Promise<StoredMonitors> {
  const at = new Date(now);
  const common = { organizationId, enabled: false, dueAt: at, createdAt: at, updatedAt: at };
  const uptime = Array.from({ length: counts.uptime }, (_, number) => ({
    id: newId(), ...common, name: `Shop ${number}`, url: `https://shop-${number}.example/health`, method: "GET", headers: {}, intervalSeconds: 30, timeoutMs: 10_000, expectedStatusCodes: [],
    followRedirects: true, verifySsl: true, failuresToDown: 2, successesToUp: 2, createIncident: false, status: "paused" as const,
  }));
  const heartbeats = Array.from({ length: counts.heartbeats }, (_, number) => ({ id: newId(), organizationId, name: `Stored ${number}`, slug: `stored-${number}`, scheduleType: "interval" as const, intervalSeconds: 60, graceSeconds: 60, status: "paused" as const }));
  const [ssl, registration] = [{ id: newId(), ...common, domain: "shop.example", alertDays: 14, port: 443 }, { id: newId(), ...common, domain: "shop.example", alertDays: 14, lookupMethod: "auto" as const }];
  for (let from = 0; from < uptime.length; from += 1_000) await database.insert(uptimeMonitors).values(uptime.slice(from, from + 1_000));
  for (let from = 0; from < heartbeats.length; from += 1_000) await database.insert(heartbeatMonitors).values(heartbeats.slice(from, from + 1_000));
  await database.insert(sslMonitors).values(ssl);
  await database.insert(domainMonitors).values(registration);
  await database.execute(sql`vacuum analyze`);
  return { uptimeIds: uptime.map(({ id }) => id), heartbeatIds: heartbeats.map(({ id }) => id), sslId: ssl.id, domainId: registration.id };
}
