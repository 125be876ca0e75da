import { eq } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Database } from "../../platform/postgres/database.ts";
import type { ErrorDetail } from "../../schemas/api/errors.ts";
import { errorStacks } from "../../schemas/tables/all.ts";
import { askClickHouse, isoMoment } from "./ask-clickhouse.ts";
import { effectiveStatus } from "./effective-status.ts";
import { explainFrames } from "./explain-frames.ts";
import { placeOf, readLatest, type Place } from "./list-occurrences.ts";
import { findSignature, showSignatures, type SignatureRow } from "./show.ts";

const HOUR_MS = 3_600_000;
const TREND_HOURS = 24;

/** One signature with frames, grouping, its latest event, its releases and its last 24 hours. */
export async function getError(needs: { database: Database; clickhouse: ClickHouse }, organizationId: string, id: string, now: number): Promise<ErrorDetail> {
  return describeSignature(needs, await findSignature(needs.database, organizationId, id), now);
}

/** `now` in milliseconds since the epoch: the trend ends with its hour. */
export async function describeSignature(needs: { database: Database; clickhouse: ClickHouse }, row: SignatureRow, now: number): Promise<ErrorDetail> {
  const { database, clickhouse } = needs;
  const { stackTrace, frames, groupingParts } = errorStacks;
  const place = await placeOf(database, row);
  const [[signature], [stack], latest, byRelease, trend] = await Promise.all([
    showSignatures(needs, [row], now),
    database.select({ stackTrace, frames, groupingParts }).from(errorStacks).where(eq(errorStacks.signatureId, row.id)),
    readLatest(needs, row, place),
    readReleases(clickhouse, place),
    readTrend(clickhouse, place, now),
  ]);
  return {
    ...signature!,
    resolved_at: row.resolvedAt?.toISOString() ?? null,
    resolved_in_release: row.resolvedInRelease,
    ...showIgnored(row, now),
    frames: stack ? explainFrames(row, stack) : [],
    grouping: { version: row.groupingVersion, parts: stack?.groupingParts ?? [] },
    latest_occurrence: latest,
    by_release: byRelease,
    trend,
  };
}

/** Until when it is ignored; nothing unless it is. */
function showIgnored(row: SignatureRow, now: number): Pick<ErrorDetail, "ignore_until" | "ignore_until_occurrences"> {
  if (effectiveStatus(row, now) !== "ignored") return { ignore_until: null, ignore_until_occurrences: null };
  return {
    ignore_until: row.ignoreUntil?.toISOString() ?? null,
    ignore_until_occurrences: row.ignoreUntilOccurrences === null ? null : Math.max(1, row.ignoreUntilOccurrences - row.occurrences),
  };
}

async function readReleases(clickhouse: ClickHouse, place: Place): Promise<ErrorDetail["by_release"]> {
  const rows = await askClickHouse<{ name: string; occurrences: string; first: string; last: string }>(
    clickhouse,
    `SELECT release AS name, toString(count()) AS occurrences, toString(min(occurred_at)) AS first, toString(max(occurred_at)) AS last FROM beacon_events
     WHERE service_id = {service:UUID} AND signature_id IN {signatures:Array(UUID)} AND organization_id = {organization:UUID} GROUP BY release ORDER BY max(occurred_at) DESC, release LIMIT 100`,
    place,
  );
  return rows.map(({ name, occurrences, first, last }) => ({ release: name, occurrences: Number(occurrences), first_seen: isoMoment(first), last_seen: isoMoment(last) }));
}

/** An event is received at most 5 min before it happened: that bounds what is read of the table's order. */
async function readTrend(clickhouse: ClickHouse, place: Place, now: number): Promise<number[]> {
  const firstHour = Math.floor(now / HOUR_MS) - (TREND_HOURS - 1);
  const rows = await askClickHouse<{ hour: string; events: string }>(
    clickhouse,
    `SELECT toString(intDiv(toUnixTimestamp64Milli(occurred_at), ${HOUR_MS})) AS hour, toString(count()) AS events FROM beacon_events
     WHERE service_id = {service:UUID} AND signature_id IN {signatures:Array(UUID)} AND organization_id = {organization:UUID} AND occurred_at >= fromUnixTimestamp64Milli({since:Int64}) AND received_at >= fromUnixTimestamp64Milli({since:Int64}) - INTERVAL 5 MINUTE
     GROUP BY hour`,
    { ...place, since: firstHour * HOUR_MS },
  );
  const trend = Array.from({ length: TREND_HOURS }, () => 0);
  // A client's clock may be some minutes ahead: its events count for the current hour.
  for (const { hour, events } of rows) trend[Math.min(Number(hour) - firstHour, TREND_HOURS - 1)]! += Number(events);
  return trend;
}
