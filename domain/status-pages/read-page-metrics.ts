import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { COUNTED_AT } from "../services/read-metrics.ts";

/** What visitors are shown of a service's metrics: how it serves them. Load and memory are nobody else's business. */
export const PUBLIC_METRICS = ["response_time_ms", "error_rate"] as const;
export type PublicMetric = (typeof PUBLIC_METRICS)[number];

/** What was measured in the last 24 hours; milliseconds since the epoch. */
export interface PageMetrics {
  from: number;
  until: number;
  series: MetricSeries[];
}

/** One measurement over that time. */
export interface MetricSeries {
  serviceId: string;
  name: PublicMetric;
  /** Average of each `METRIC_STEP_MS` that has samples, in order; `at` is milliseconds since the epoch. */
  points: { at: number; average: number }[];
  /** Of all samples. */
  average: number;
  highest: number;
}

export const METRIC_STEP_MS = 900_000;
const WINDOW_MS = 86_400_000;

/** The public metrics of some services of an organization, in one query; a visitor does not wait longer for them than for the rest. Rejects when ClickHouse is away. */
export async function readPageMetrics(clickhouse: ClickHouse, organizationId: string, serviceIds: readonly string[], now: Date): Promise<PageMetrics> {
  const [from, until] = [now.getTime() - WINDOW_MS, now.getTime()];
  if (serviceIds.length === 0) return { from, until, series: [] };
  const params = { organization: organizationId, services: serviceIds, names: PUBLIC_METRICS, from, until, step: METRIC_STEP_MS, day: WINDOW_MS };
  const rows = await clickhouse.query<{ service_id: string; name: PublicMetric; at: string; total: number; highest: number; samples: string }>(SAMPLES, params, { timeoutMs: 2_000 });
  const series = new Map<string, MetricSeries & { total: number; samples: number }>();
  for (const { service_id: serviceId, name, at, total, highest, samples } of rows) {
    const key = `${serviceId} ${name}`;
    const found = series.get(key) ?? { serviceId, name, points: [], average: 0, highest: 0, total: 0, samples: 0 };
    series.set(key, found);
    found.points.push({ at: Number(at), average: total / Number(samples) });
    found.total += total;
    found.samples += Number(samples);
    found.highest = Math.max(found.highest, highest);
    found.average = found.total / found.samples;
  }
  return { from, until, series: [...series.values()].map(({ total: _total, samples: _samples, ...each }) => each) };
}

const SAMPLES = `
  SELECT service_id, name, intDiv(counted_at, {step:Int64}) * {step:Int64} AS at, sum(value) AS total, max(value) AS highest, count() AS samples
  FROM (
    SELECT service_id, name, value, ${COUNTED_AT} AS counted_at
    FROM metric_samples
    WHERE service_id IN {services:Array(UUID)} AND organization_id = {organization:UUID} AND name IN {names:Array(String)} AND received_at >= fromUnixTimestamp64Milli({from:Int64})
  )
  WHERE counted_at >= {from:Int64} AND counted_at < {until:Int64}
  GROUP BY service_id, name, at
  HAVING isFinite(total)
  ORDER BY service_id, name, at`;
