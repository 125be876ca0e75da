import { eq, sql } from "drizzle-orm";
import type { Queries } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import type { ServiceUptime } from "../../schemas/api/uptime.ts";
import { organizations, serviceStatusHistory } from "../../schemas/tables/all.ts";
import { SERVICE_STATUSES, type ServiceStatus } from "../../schemas/vocabulary.ts";
import { findService } from "./read.ts";

/** A service's uptime by calendar day of its organization's time zone, today last. NOT_FOUND. */
export async function getUptime(queries: Queries, organizationId: string, serviceId: string, { days, now }: { days: number; now: Date }): Promise<ServiceUptime> {
  const { service } = await findService(queries, organizationId, serviceId);
  const [organization] = await queries.select({ timezone: organizations.timezone }).from(organizations).where(eq(organizations.id, organizationId));
  const shares = await secondsByDay(queries, { serviceIds: [service.id], timezone: organization?.timezone ?? "UTC", days, now });
  return uptimeOf(shares.get(service.id)!);
}

/** What one status took of one day; `status` is null for a day that has none. */
interface DayShare {
  /** `YYYY-MM-DD`. */
  date: string;
  status: ServiceStatus | null;
  /** To the millisecond. */
  seconds: number;
}

/**
 * How long each of these services had which status on each of its last days, from their history; by the service's id. Days begin
 * at local midnight, so a day on which the clocks change has 23 or 25 hours and the days follow each other without gap or overlap
 * (where midnight itself is skipped, the day begins at the first moment after it).
 */
export async function secondsByDay(
  queries: Queries,
  { serviceIds, timezone, days, now }: { serviceIds: readonly string[]; timezone: string; days: number; now: Date },
): Promise<Map<string, DayShare[]>> {
  const end = now.toISOString();
  const { rows } = await queries.execute<{ service_id: string; date: string; status: ServiceStatus | null; seconds: string }>(sql`
    with days as materialized (
      select row_number() over (order by midnight) as number, midnight::date as date, midnight at time zone ${timezone} as starts_at, (midnight + interval '1 day') at time zone ${timezone} as ends_at
      from generate_series(
        date_trunc('day', ${end}::timestamptz at time zone ${timezone}) - make_interval(days => ${days - 1}),
        date_trunc('day', ${end}::timestamptz at time zone ${timezone}),
        interval '1 day'
      ) as midnight
    ), calendar as materialized (
      select array_agg(starts_at order by number) as midnights from days
    ), asked as materialized (
      -- Of what was before the first day only the last change matters.
      select id, coalesce((select max(changed_at) from ${serviceStatusHistory} where service_id = asked.id and changed_at <= (select midnights[1] from calendar)), '-infinity') as since
      from unnest(${uuids(serviceIds)}) as asked (id)
    ), spans as (
      select asked.id as service_id, status, changed_at as starts_at, lead(changed_at, 1, ${end}::timestamptz) over (partition by asked.id order by changed_at, history.id) as ends_at
      from asked join ${serviceStatusHistory} as history on history.service_id = asked.id and changed_at >= asked.since and changed_at < ${end}::timestamptz
    ), shares as (
      -- A span is looked up in the days that it touches, however many there are: pages show a hundred services that flapped for months.
      select spans.service_id, touched.number, spans.status,
        sum(extract(epoch from least(days.ends_at, spans.ends_at) - greatest(days.starts_at, spans.starts_at))) as seconds
      from calendar cross join spans
      cross join lateral generate_series(greatest(width_bucket(spans.starts_at, calendar.midnights), 1), width_bucket(spans.ends_at, calendar.midnights)) as touched (number)
      join days on days.number = touched.number and days.starts_at < spans.ends_at
      where spans.ends_at > spans.starts_at
      group by spans.service_id, touched.number, spans.status
    )
    select asked.id as service_id, to_char(days.date, 'YYYY-MM-DD') as date, shares.status, coalesce(round(shares.seconds, 3), 0) as seconds
    from asked cross join days left join shares on shares.service_id = asked.id and shares.number = days.number
    order by asked.id, days.number, shares.status`);
  const shares = new Map(serviceIds.map((id): [string, DayShare[]] => [id, []]));
  for (const { service_id: id, date, status, seconds } of rows) shares.get(id)!.push({ date, status, seconds: Number(seconds) });
  return shares;
}

/** What counts as down. A degraded service still serves, and planned maintenance is no outage. */
const DOWN: ReadonlySet<ServiceStatus> = new Set(["partial_outage", "major_outage"]);

/** Percentages from seconds; `shares` in the order of days. Pure. */
export function uptimeOf(shares: readonly DayShare[]): ServiceUptime {
  const days = new Map<string, Map<ServiceStatus, number>>();
  const whole = new Map<ServiceStatus, number>();
  for (const { date, status, seconds } of shares) {
    const ofDay = days.get(date) ?? new Map<ServiceStatus, number>();
    days.set(date, ofDay);
    if (status === null) continue;
    ofDay.set(status, seconds);
    whole.set(status, (whole.get(status) ?? 0) + seconds);
  }
  return {
    days: [...days].map(([date, seconds]) => ({
      date,
      uptime_percent: percentUp(seconds),
      worst_status: SERVICE_STATUSES.findLast((status) => seconds.has(status)) ?? null,
      seconds_by_status: Object.fromEntries(SERVICE_STATUSES.map((status) => [status, seconds.get(status) ?? 0])) as Record<ServiceStatus, number>,
    })),
    uptime_percent: percentUp(whole),
  };
}

/** Four decimals, cut and not rounded: 100 means not a moment of downtime. Null without any time. */
function percentUp(seconds: ReadonlyMap<ServiceStatus, number>): number | null {
  let up = 0;
  let down = 0;
  // Whole milliseconds, so that adding up is exact.
  for (const [status, each] of seconds) {
    if (DOWN.has(status)) down += Math.round(each * 1000);
    else up += Math.round(each * 1000);
  }
  return up + down === 0 ? null : Math.floor((up * 1_000_000) / (up + down)) / 10_000;
}
