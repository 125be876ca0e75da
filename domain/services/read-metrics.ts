import { Failure } from "../../platform/failures.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import type { MetricsQuery, MetricsSeries } from "../../schemas/api/services.ts";
import { findService } from "./read.ts";

const DAY_MS = 86_400_000;
const USUAL_POINTS = 300;
const MOST_POINTS = 10_000;

/** 1970-01-02 and 2200-01-01: what ClickHouse can hold with a day to spare on each side. */
const EARLIEST_MS = DAY_MS;
const LATEST_MS = Date.UTC(2200, 0, 1);

/** Over all series of one answer; far above what a chart shows, and a bound on what one request can cost. */
const MOST_ROWS = 100_000;

interface Window {
  from: number;
  to: number;
  /** Milliseconds. */
  step: number;
}

/**
 * Average, maximum and number of a service's samples for each step (conventions §7), from all its metrics or one.
 * NOT_FOUND; INVALID_REQUEST for a window that is empty or has too many steps.
 */
export async function readMetrics(
  { database, clickhouse }: { database: Queries; clickhouse: ClickHouse },
  organizationId: string,
  serviceId: string,
  query: MetricsQuery,
  now: Date,
): Promise<MetricsSeries> {
  const { service } = await findService(database, organizationId, serviceId);
  const window = decideWindow(query, now);
  const rows = await clickhouse.query<SampleRow>(SAMPLES, { organization: organizationId, service: service.id, name: query.name ?? "", day: DAY_MS, most: MOST_ROWS, ...window });
  const series: MetricsSeries["series"] = [];
  for (const { name, at, average, maximum, samples } of rows) {
    if (series.at(-1)?.name !== name) series.push({ name, points: [] });
    series.at(-1)!.points.push([new Date(Number(at)).toISOString(), average, maximum, Number(samples)]);
  }
  return { series };
}

interface SampleRow {
  name: string;
  at: string;
  average: number;
  maximum: number;
  samples: string;
}

/** The asked window with its gaps filled: the last 24 hours, in whole seconds that make about 300 points. */
export function decideWindow({ from, to, step }: MetricsQuery, now: Date): Window {
  const end = Math.min((to ?? now).getTime(), LATEST_MS);
  const start = Math.max(from?.getTime() ?? end - DAY_MS, EARLIEST_MS);
  if (start >= end) throw new Failure("INVALID_REQUEST", "The window is empty: `from` is not before `to`.", { path: "/from", fix: "Choose a `from` that is earlier than `to`." });
  const seconds = step ?? Math.max(1, Math.ceil((end - start) / 1000 / USUAL_POINTS));
  if ((end - start) / 1000 / seconds > MOST_POINTS) {
    throw new Failure("INVALID_REQUEST", `A step of ${seconds} s makes more than ${MOST_POINTS} points of this window.`, {
      path: "/step",
      fix: `Choose a step of at least ${Math.ceil((end - start) / 1000 / MOST_POINTS)} s, or a shorter window.`,
    });
  }
  return { from: start, to: end, step: seconds * 1000 };
}

/** When a sample of `metric_samples` counts: the time it was reported for, unless the sender's clock was more than a `{day:Int64}` wrong. Milliseconds since the epoch. */
export const COUNTED_AT = `if(abs(toUnixTimestamp64Milli(reported_at) - toUnixTimestamp64Milli(received_at)) <= {day:Int64},
        toUnixTimestamp64Milli(reported_at), toUnixTimestamp64Milli(received_at))`;

// So the window reaches a day further in `received_at`, which the table is sorted by. An average of huge numbers can
// overflow; the maximum then stands for it, as JSON has no infinity.
const SAMPLES = `
  SELECT
    name,
    intDiv(counted_at, {step:Int64}) * {step:Int64} AS at,
    if(isFinite(avg(value)), avg(value), max(value)) AS average,
    max(value) AS maximum,
    count() AS samples
  FROM (
    SELECT
      name,
      value,
      ${COUNTED_AT} AS counted_at
    FROM metric_samples
    WHERE service_id = {service:UUID} AND organization_id = {organization:UUID}
      AND ({name:String} = '' OR name = {name:String})
      AND received_at >= fromUnixTimestamp64Milli({from:Int64} - {day:Int64})
      AND received_at < fromUnixTimestamp64Milli({to:Int64} + {day:Int64})
  )
  WHERE counted_at >= {from:Int64} AND counted_at < {to:Int64}
  GROUP BY name, at
  ORDER BY name, at
  LIMIT {most:UInt32}`;
