import { and, desc, eq, gt, gte, lte, sql, type SQL } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { errorAliases, errorEnvironments, errorSignatures, services } from "../../schemas/tables/all.ts";
import type { ErrorCategory, ErrorStatus, Priority } from "../../schemas/vocabulary.ts";
import { askClickHouse } from "./ask-clickhouse.ts";
import { hasStatus } from "./effective-status.ts";

/** Which signatures; those of release, environment and dates have any event there. */
export interface SignatureFilter {
  service_id?: string | undefined;
  status?: ErrorStatus | undefined;
  environment?: string | undefined;
  release?: string | undefined;
  priority?: Priority | undefined;
  category?: ErrorCategory | undefined;
  start_date?: Date | undefined;
  end_date?: Date | undefined;
}

/** The order of lists, as their index has it: by slot, and within it by moment. */
export const LATEST_FIRST = [desc(errorSignatures.lastSeenSlot), desc(errorSignatures.lastSeen), desc(errorSignatures.id)];

const SLOT_MS = 5 * 60_000;

/** A condition on `error_signatures`; and in parts that exclude each other, of which the list's index alone can count all but the smallest. */
export interface Chosen {
  where: SQL;
  parts: SQL[];
}

function choose(rest: SQL, start: Date | undefined): Chosen {
  if (!start) return { where: rest, parts: [rest] };
  const { lastSeen, lastSeenSlot } = errorSignatures;
  const slot = new Date(Math.floor(start.getTime() / SLOT_MS) * SLOT_MS);
  return {
    where: and(rest, gte(lastSeenSlot, slot), gte(lastSeen, start))!,
    parts: [and(rest, gt(lastSeenSlot, slot))!, and(rest, eq(lastSeenSlot, slot), gte(lastSeen, start))!],
  };
}

/** What a filter means at `now` (milliseconds since the epoch); null when nothing can match. */
export async function chooseSignatures(
  { database, clickhouse }: { database: Database; clickhouse: ClickHouse },
  organizationId: string,
  filter: SignatureFilter,
  now: number,
): Promise<Chosen | null> {
  const { service_id: serviceId, status, priority, category } = filter;
  // An id that cannot exist has no errors, just like one of another organization.
  if (serviceId !== undefined && !isUuid(serviceId)) return null;
  const seen = await eventsCondition({ database, clickhouse }, organizationId, filter);
  if (seen === null) return null;
  const rest = and(
    eq(errorSignatures.organizationId, organizationId),
    serviceId === undefined ? undefined : eq(errorSignatures.serviceId, serviceId),
    status && hasStatus(status, now),
    priority && eq(errorSignatures.priority, priority),
    category && eq(errorSignatures.category, category),
    filter.end_date && lte(errorSignatures.firstSeen, filter.end_date),
    seen,
  )!;
  return choose(rest, filter.start_date);
}

/** What a filter asks of a signature's events; undefined for nothing, null when none has such. */
async function eventsCondition({ database, clickhouse }: { database: Database; clickhouse: ClickHouse }, organizationId: string, filter: SignatureFilter): Promise<SQL | undefined | null> {
  if (!asksForEvents(filter)) return filter.environment === undefined ? undefined : hasEnvironment(organizationId, filter.environment);
  const ids = await idsWithEvents(database, clickhouse, organizationId, filter);
  return ids === "" ? null : sql`${errorSignatures.id} = any(${`{${ids}}`}::uuid[])`;
}

/** What only events can tell: what holds for one and the same of them, or lies between two moments. One bound alone says something of the first or the last one. */
function asksForEvents({ environment, release, start_date: start, end_date: end }: SignatureFilter): boolean {
  if (environment !== undefined && (start !== undefined || end !== undefined)) return true;
  return release !== undefined || (start !== undefined && end !== undefined);
}

function hasEnvironment(organizationId: string, environment: string): SQL {
  return sql`exists (select from ${errorEnvironments} as seen where seen.organization_id = ${organizationId} and seen.environment = ${environment} and seen.signature_id = ${errorSignatures.id})`;
}

/** With the signatures that these became part of. */
async function withMerged(database: Database, ids: string): Promise<string> {
  if (ids === "") return "";
  const { rows } = await database.execute<{ id: string }>(sql`select distinct signature_id as id from ${errorAliases} where id = any(${`{${ids}}`}::uuid[])`);
  return [ids, ...rows.map(({ id }) => id)].join(",");
}

/** More signatures than this are not looked through; the latest ones count. */
const MAX_MATCHES = 200_000;

/**
 * Signatures with an event that matches, of the organization's services: the order of the table begins with the service.
 * Their ids with commas between them: as a hundred thousand values they would take seconds on their way to Postgres.
 */
async function idsWithEvents(database: Database, clickhouse: ClickHouse, organizationId: string, filter: SignatureFilter): Promise<string> {
  const own = and(eq(services.organizationId, organizationId), filter.service_id === undefined ? undefined : eq(services.id, filter.service_id));
  const serviceIds = await database.select({ id: services.id }).from(services).where(own);
  if (serviceIds.length === 0) return "";
  const conditions = ["service_id IN {services:Array(UUID)}", "type != 'vital'"];
  const params: Record<string, unknown> = { services: serviceIds.map(({ id }) => id) };
  const where = (condition: string, name: string, value: unknown) => {
    conditions.push(condition);
    params[name] = value;
  };
  if (filter.environment !== undefined) where("environment = {environment:String}", "environment", filter.environment);
  if (filter.release !== undefined) where("release = {release:String}", "release", filter.release);
  // An event is received at most 24 h after and 5 min before it happened: that bounds the months to read.
  if (filter.start_date) where("occurred_at >= fromUnixTimestamp64Milli({start:Int64}) AND received_at >= fromUnixTimestamp64Milli({start:Int64}) - INTERVAL 5 MINUTE", "start", filter.start_date.getTime());
  if (filter.end_date) where("occurred_at <= fromUnixTimestamp64Milli({end:Int64}) AND received_at <= fromUnixTimestamp64Milli({end:Int64}) + INTERVAL 24 HOUR", "end", filter.end_date.getTime());
  const [found] = await askClickHouse<{ ids: string }>(
    clickhouse,
    `SELECT arrayStringConcat(groupArray(toString(signature_id)), ',') AS ids FROM
     (SELECT signature_id FROM beacon_events WHERE ${conditions.join(" AND ")} GROUP BY signature_id ORDER BY max(received_at) DESC LIMIT ${MAX_MATCHES})`,
    params,
  );
  return withMerged(database, found?.ids ?? "");
}
