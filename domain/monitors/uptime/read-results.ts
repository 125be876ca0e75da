import { ClickHouseUnavailable, type ClickHouse } from "../../../platform/clickhouse/port.ts";
import { Failure } from "../../../platform/failures.ts";
import type { Queries } from "../../../platform/postgres/database.ts";
import type { UptimeResults, UptimeResultsQuery } from "../../../schemas/api/uptime-monitors.ts";
import { getUptimeMonitor } from "./read.ts";

const DAY_MS = 86_400_000;

/** 1970-01-02 and 2200-01-01: what ClickHouse can hold with a day to spare on each side. */
const EARLIEST_MS = DAY_MS;
const LATEST_MS = Date.UTC(2200, 0, 1);

interface Needs {
  database: Queries;
  clickhouse: ClickHouse;
}

interface Asked {
  organizationId: string;
  id: string;
  query: UptimeResultsQuery;
  now: Date;
}

type ResultRow = Omit<UptimeResults["results"][number], "checked_at" | "error"> & { at: string; error: string };

interface HourRow {
  at: string;
  checks: string;
  well: string;
  percentiles: number[];
}

/** What checks of a monitor found, and how they went by hour; what a check found arrives a second or two after it. NOT_FOUND, INVALID_REQUEST for a window that is empty, UNAVAILABLE. */
export async function readUptimeResults({ database, clickhouse }: Needs, { organizationId, id, query, now }: Asked): Promise<UptimeResults> {
  const monitor = await getUptimeMonitor(database, organizationId, id);
  const to = Math.min((query.to ?? now).getTime(), LATEST_MS);
  const from = Math.max(query.from?.getTime() ?? to - DAY_MS, EARLIEST_MS);
  if (from >= to) throw new Failure("INVALID_REQUEST", "The window is empty: `from` is not before `to`.", { path: "/from", fix: "Choose a `from` that is earlier than `to`." });
  const params = { monitor: monitor.id, organization: organizationId, from, to };
  const [results, hours] = await Promise.all([clickhouse.query<ResultRow>(RESULTS, params), clickhouse.query<HourRow>(HOURS, params)]).catch((error: unknown) => {
    throw error instanceof ClickHouseUnavailable ? new Failure("UNAVAILABLE", "The store of check results cannot be reached at the moment.", { fix: "Try again in a few seconds.", retryAfter: 5 }) : error;
  });
  const [checks, well] = [sum(hours.map((hour) => Number(hour.checks))), sum(hours.map((hour) => Number(hour.well)))];
  return {
    results: results.map(showResult),
    hours: hours.map(showHour),
    uptime_percent: percentOf(well, checks),
  };
}

function showResult({ at, error, ...result }: ResultRow): UptimeResults["results"][number] {
  return { checked_at: new Date(Number(at)).toISOString(), ...result, error: error === "" ? null : error };
}

function showHour({ at, checks, well, percentiles }: HourRow): UptimeResults["hours"][number] {
  const [p50, p95, p99] = Number(well) > 0 ? percentiles.map(Math.round) : [];
  return { hour: new Date(Number(at)).toISOString(), checks: Number(checks), uptime_percent: percentOf(Number(well), Number(checks)), p50_ms: p50 ?? null, p95_ms: p95 ?? null, p99_ms: p99 ?? null };
}

/** To three places. */
function percentOf(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 100_000) / 1_000;
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

const OF_MONITOR = `
  FROM check_results
  WHERE monitor_id = {monitor:UUID} AND organization_id = {organization:UUID} AND kind = 'uptime'
    AND checked_at >= fromUnixTimestamp64Milli({from:Int64}) AND checked_at < fromUnixTimestamp64Milli({to:Int64})`;

const RESULTS = `
  SELECT toUnixTimestamp64Milli(checked_at) AS at, status, status_code, error, response_time_ms, dns_ms, connect_ms, tls_ms, first_byte_ms
  ${OF_MONITOR}
  ORDER BY checked_at DESC, id DESC
  LIMIT 1000`;

const HOURS = `
  SELECT
    intDiv(toUnixTimestamp64Milli(checked_at), 3600000) * 3600000 AS at,
    count() AS checks,
    countIf(status != 'down') AS well,
    quantilesExactIf(0.5, 0.95, 0.99)(assumeNotNull(response_time_ms), status != 'down' AND response_time_ms IS NOT NULL) AS percentiles
  ${OF_MONITOR}
  GROUP BY at
  ORDER BY at`;
