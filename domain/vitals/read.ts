import { and, eq } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import type { VitalList, VitalsQuery } from "../../schemas/api/vitals.ts";
import { services } from "../../schemas/tables/all.ts";
import { askClickHouse } from "../errors/ask-clickhouse.ts";

const DAY_MS = 86_400_000;

/** 1970-01-02 and 2200-01-01: what ClickHouse can hold with a day to spare on each side. */
const EARLIEST_MS = DAY_MS;
const LATEST_MS = Date.UTC(2200, 0, 1);

/** More names than anybody has, and a bound on an answer. */
const MOST_NAMES = 200;

/** The 75th percentile of each vital that pages reported. A service that is unknown or foreign has none. INVALID_REQUEST for an empty window. */
export async function readVitals(
  { database, clickhouse }: { database: Queries; clickhouse: ClickHouse },
  organizationId: string,
  { service_id: serviceId, from, to }: VitalsQuery,
  now: number,
): Promise<VitalList> {
  const end = Math.min(to?.getTime() ?? now, LATEST_MS);
  const start = Math.max(from?.getTime() ?? end - DAY_MS, EARLIEST_MS);
  if (start >= end) throw new Failure("INVALID_REQUEST", "The window is empty: `from` is not before `to`.", { path: "/from", fix: "Choose a `from` that is earlier than `to`." });
  if (serviceId !== undefined && !isUuid(serviceId)) return { vitals: [] };
  const own = and(eq(services.organizationId, organizationId), serviceId === undefined ? undefined : eq(services.id, serviceId));
  const ids = (await database.select({ id: services.id }).from(services).where(own)).map(({ id }) => id);
  if (ids.length === 0) return { vitals: [] };
  const rows = await askClickHouse<{ name: string; p75: number; samples: string }>(clickhouse, P75, { organization: organizationId, services: ids, from: start, to: end });
  return { vitals: rows.map(({ name, p75, samples }) => ({ name, p75, count: Number(samples) })) };
}

// Vitals belong to no signature, so the nil one finds them by the table's order. An event is received at most 24 h after
// and 5 min before it happened. Interpolating huge numbers can overflow; the maximum then stands for it.
const P75 = `
  SELECT name, if(isFinite(quantileExactInclusive(0.75)(value)), quantileExactInclusive(0.75)(value), max(value)) AS p75, toString(count()) AS samples
  FROM beacon_events
  WHERE service_id IN {services:Array(UUID)}
    AND signature_id = toUUID('00000000-0000-0000-0000-000000000000')
    AND organization_id = {organization:UUID}
    AND type = 'vital'
    AND occurred_at >= fromUnixTimestamp64Milli({from:Int64}) AND occurred_at < fromUnixTimestamp64Milli({to:Int64})
    AND received_at >= fromUnixTimestamp64Milli({from:Int64}) - INTERVAL 5 MINUTE
    AND received_at < fromUnixTimestamp64Milli({to:Int64}) + INTERVAL 24 HOUR
  GROUP BY name
  ORDER BY name
  LIMIT ${MOST_NAMES}`;
