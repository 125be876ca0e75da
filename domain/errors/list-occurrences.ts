import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Database, Queries } from "../../platform/postgres/database.ts";
import type { ErrorOccurrence } from "../../schemas/api/errors.ts";
import type { Frame } from "../../schemas/frames.ts";
import { withContexts } from "../source-maps/read-contexts.ts";
import { aliasesOf } from "./aliases.ts";
import { askClickHouse, isoMoment } from "./ask-clickhouse.ts";
import { framesWithMaps } from "./map-again.ts";
import { findSignature, type SignatureRow } from "./show.ts";

interface OccurrenceRow {
  event_id: string;
  error_type: string;
  message: string;
  occurred_at: string;
  received_at: string;
  release: string;
  environment: string;
  session_id: string;
  user_id: string;
  url: string;
  handled: boolean;
  level: string;
  stack: string;
  frames: string;
  debug_ids: string;
  causes: string;
  breadcrumbs: string;
  tags: Record<string, string>;
  sdk: string;
  truncated: boolean;
}

/** The events of one signature that have their details, latest received first, and how many there are in all. NOT_FOUND as for the signature itself. */
export async function listOccurrences(
  { database, clickhouse }: { database: Database; clickhouse: ClickHouse },
  organizationId: string,
  signatureId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ occurrences: ErrorOccurrence[]; total: number; counted: number }> {
  const signature = await findSignature(database, organizationId, signatureId);
  const place = await placeOf(database, signature);
  if (signature.occurrences <= MANY) {
    const [occurrences, days] = await Promise.all([readOccurrences({ database, clickhouse }, organizationId, place, { limit, offset }), countByDay(clickhouse, place)]);
    return { occurrences, ...totalsOf(days) };
  }
  const days = await countByDay(clickhouse, place);
  const occurrences = await readOccurrences({ database, clickhouse }, organizationId, place, { limit, offset, since: sinceOf(days, offset + limit) });
  return { occurrences, ...totalsOf(days) };
}

/** Of a signature with more occurrences only those days are read that a page lies in. */
export const MANY = 100_000;

const DAY_MS = 86_400_000;
/** An event is received at most so long before it happened, by clocks that differ. */
const AHEAD_MS = 5 * 60_000;

interface DayCount {
  /** Days since the epoch. */
  day: number;
  /** Events that have their details. */
  detailed: string;
  counted: string;
}

/** How many events a signature has on each day that it happened on, the latest first. */
function countByDay(clickhouse: ClickHouse, place: Place): Promise<DayCount[]> {
  return askClickHouse<DayCount>(
    clickhouse,
    `SELECT toUInt32(toDate(occurred_at)) AS day, toString(countIf(detailed)) AS detailed, toString(count()) AS counted FROM beacon_events
     WHERE service_id = {service:UUID} AND signature_id IN {signatures:Array(UUID)} AND organization_id = {organization:UUID} GROUP BY toDate(occurred_at) ORDER BY day DESC`,
    place,
  );
}

function totalsOf(days: DayCount[]): { total: number; counted: number } {
  return { total: days.reduce((sum, { detailed }) => sum + Number(detailed), 0), counted: days.reduce((sum, { counted }) => sum + Number(counted), 0) };
}

/** A moment (ms since the epoch) since which the latest `rows` events with details were received; 0 when there are not as many. */
function sinceOf(days: DayCount[], rows: number): number {
  let found = 0;
  for (const { day, detailed } of days) {
    found += Number(detailed);
    if (found >= rows) return day * DAY_MS - AHEAD_MS;
  }
  return 0;
}

/** The latest event with details, which nearly always is of the last day. */
export async function readLatest(needs: { database: Database; clickhouse: ClickHouse }, { organizationId, occurrences, lastSeen }: SignatureRow, place: Place): Promise<ErrorOccurrence | null> {
  const since = occurrences > MANY ? lastSeen.getTime() - DAY_MS - AHEAD_MS : 0;
  const [lately] = await readOccurrences(needs, organizationId, place, { limit: 1, offset: 0, since });
  if (lately || since === 0) return lately ?? null;
  const [latest] = await readOccurrences(needs, organizationId, place, { limit: 1, offset: 0 });
  return latest ?? null;
}

/** Where ClickHouse has the events of a signature. A type, not an interface: only so does it pass for a query's parameters. */
export type Place = { organization: string; service: string; signatures: string[] };

export async function placeOf(queries: Queries, { id, serviceId, organizationId }: SignatureRow): Promise<Place> {
  const aliases = await aliasesOf(queries, [id]);
  return { organization: organizationId, service: serviceId, signatures: [id, ...aliases.map(([alias]) => alias)] };
}

/** Of one signature, latest received first; none that was received before `since` (ms since the epoch). */
async function readOccurrences({ database, clickhouse }: { database: Database; clickhouse: ClickHouse }, organizationId: string, place: Place, { limit, offset, since = 0 }: { limit: number; offset: number; since?: number }): Promise<ErrorOccurrence[]> {
  const rows = await askClickHouse<OccurrenceRow>(
    clickhouse,
    `SELECT toString(event_id) AS event_id, error_type, message, toString(occurred_at) AS occurred_at, toString(received_at) AS received_at, release, environment,
       session_id, user_id, url, handled, level, stack, frames, debug_ids, causes, breadcrumbs, tags, sdk, truncated
     FROM beacon_events AS event WHERE service_id = {service:UUID} AND signature_id IN {signatures:Array(UUID)} AND organization_id = {organization:UUID} AND detailed
       AND event.received_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
     ORDER BY event.received_at DESC, event.offset DESC, event.index DESC LIMIT {limit:UInt32} OFFSET {offset:UInt64}`,
    { ...place, limit, offset, since },
  );
  const frames = await withContexts(database, organizationId, await framesWithMaps(database, place.service, rows));
  return rows.map((row, index) => showOccurrence(row, frames[index]!));
}

function showOccurrence(row: OccurrenceRow, frames: Frame[]): ErrorOccurrence {
  return {
    id: row.event_id,
    type: row.error_type,
    message: row.message,
    timestamp: isoMoment(row.occurred_at),
    received_at: isoMoment(row.received_at),
    release: row.release,
    environment: row.environment,
    session_id: row.session_id || null,
    user: row.user_id === "" ? null : { id: row.user_id },
    url: row.url || null,
    handled: row.handled,
    level: row.level,
    stack_trace: row.stack,
    frames,
    causes: JSON.parse(row.causes) as ErrorOccurrence["causes"],
    breadcrumbs: JSON.parse(row.breadcrumbs) as unknown[],
    tags: row.tags,
    sdk: row.sdk || null,
    truncated: row.truncated,
  };
}
