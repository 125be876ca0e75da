import { and, desc, eq, gt, gte, lt, lte, notInArray, sql, type SQL, type WithSubquery } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { NIL_SIGNATURE } from "../../schemas/messages/beacon-event-row.ts";
import { errorAliases, errorEnvironments, errorSignatures, services } from "../../schemas/tables/all.ts";
import type { ErrorCategory, ErrorStatus, Priority } from "../../schemas/vocabulary.ts";
import { aliasesOf } from "./aliases.ts";
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
const DAY_MS = 86_400_000;

/** A condition on `error_signatures`; and in parts that exclude each other, of which the list's index alone can count all but the smallest. */
export interface Chosen {
  where: SQL;
  parts: SQL[];
  /** What the condition names, for the statement's `with`; undefined when it names nothing. */
  seen: WithSubquery | undefined;
}

function choose(rest: SQL, start: Date | undefined, seen: WithSubquery | undefined): Chosen {
  if (!start) return { where: rest, parts: [rest], seen };
  const { lastSeen, lastSeenSlot } = errorSignatures;
  const slot = slotOf(start);
  return {
    where: and(rest, gte(lastSeenSlot, slot), gte(lastSeen, start))!,
    parts: [and(rest, gt(lastSeenSlot, slot))!, and(rest, eq(lastSeenSlot, slot), gte(lastSeen, start))!],
    seen,
  };
}

const slotOf = (moment: Date): Date => new Date(Math.floor(moment.getTime() / SLOT_MS) * SLOT_MS);

interface Stores {
  database: Database;
  clickhouse: ClickHouse;
}

/** What a filter means at `now` (milliseconds since the epoch); null when nothing can match. */
export async function chooseSignatures(stores: Stores, organizationId: string, filter: SignatureFilter, now: number): Promise<Chosen | null> {
  const { service_id: serviceId, status, priority, category, environment, start_date: start } = filter;
  // An id that cannot exist has no errors, just like one of another organization.
  if (serviceId !== undefined && !isUuid(serviceId)) return null;
  const asks = asksForEvents(filter);
  const rest = and(
    eq(errorSignatures.organizationId, organizationId),
    serviceId === undefined ? undefined : eq(errorSignatures.serviceId, serviceId),
    status && hasStatus(status, now),
    priority && eq(errorSignatures.priority, priority),
    category && eq(errorSignatures.category, category),
    filter.end_date && lte(errorSignatures.firstSeen, filter.end_date),
    environment === undefined || asks ? undefined : hasEnvironment(organizationId, environment),
  )!;
  if (!asks) return choose(rest, start, undefined);
  const absent = await absentBetween(stores, organizationId, filter, rest);
  if (absent !== null) return choose(absent.length === 0 ? rest : and(rest, notInArray(errorSignatures.id, absent))!, start, undefined);
  const ids = await idsWithEvents(stores, organizationId, filter, null);
  if (ids === "") return null;
  return choose(and(rest, sql`${errorSignatures.id} = any((select ids from seen)::uuid[])`)!, start, withMerged(stores.database, organizationId, ids));
}

/** What only events can tell: what holds for one and the same of them, or lies between two moments. One bound alone says something of the first or the last one. */
function asksForEvents({ environment, release, start_date: start, end_date: end }: SignatureFilter): boolean {
  if (environment !== undefined && (start !== undefined || end !== undefined)) return true;
  return release !== undefined || (start !== undefined && end !== undefined);
}

function hasEnvironment(organizationId: string, environment: string): SQL {
  return sql`exists (select from ${errorEnvironments} as seen where seen.organization_id = ${organizationId} and seen.environment = ${environment} and seen.signature_id = ${errorSignatures.id})`;
}

/** Named `seen`: these ids, with commas between them, and those of the signatures that they became part of. They cross to Postgres once in a statement: twenty thousand take 15 ms. */
function withMerged(database: Database, organizationId: string, ids: string): WithSubquery {
  const own = sql`${`{${ids}}`}::uuid[]`;
  const { id, signatureId } = errorAliases;
  const merged = sql`array(select ${signatureId} from ${errorAliases} where ${errorAliases.organizationId} = ${organizationId} and ${id} = any(array(select unnest(given.ids))))`;
  return database.$with("seen", { ids: sql<string>`ids`.as("ids") }).as(sql`select given.ids || ${merged} as ids from (select ${own} as ids offset 0) as given`);
}

/** More signatures than this are not looked through; the latest ones count. */
const MAX_MATCHES = 200_000;

/** An event is received at most 24 h after and 5 min before it happened: that bounds the months to read. */
const SINCE_START = "occurred_at >= fromUnixTimestamp64Milli({start:Int64}) AND received_at >= fromUnixTimestamp64Milli({start:Int64}) - INTERVAL 5 MINUTE";
const UNTIL_END = "occurred_at <= fromUnixTimestamp64Milli({end:Int64}) AND received_at <= fromUnixTimestamp64Milli({end:Int64}) + INTERVAL 24 HOUR";

const dayOf = (moment: Date): number => Math.floor(moment.getTime() / DAY_MS);

/** Signatures with an event that meets the conditions, and when the latest of them came. */
function signaturesOf(conditions: string[]): string {
  return `SELECT signature_id, max(received_at) AS latest FROM beacon_events WHERE organization_id = {organization:UUID} AND ${conditions.join(" AND ")} GROUP BY signature_id`;
}

/**
 * Those after one moment, before one, or between two of different days, as the projection `by_day` has them: of the days within each is one. On
 * the first day the last event tells whether one lies behind the start, on the last day the first event whether one lies before the end.
 */
function signaturesByDay(conditions: string[], { start_date: start, end_date: end }: SignatureFilter): string {
  const [within, edges, reaching]: [string[], string[], string[]] = [[], [], []];
  if (start) {
    within.push("toDate(occurred_at) > toDate(fromUnixTimestamp64Milli({start:Int64}, 'UTC'))");
    edges.push("toDate(fromUnixTimestamp64Milli({start:Int64}, 'UTC'))");
    reaching.push("last >= fromUnixTimestamp64Milli({start:Int64})");
  }
  if (end) {
    within.push("toDate(occurred_at) < toDate(fromUnixTimestamp64Milli({end:Int64}, 'UTC'))");
    edges.push("toDate(fromUnixTimestamp64Milli({end:Int64}, 'UTC'))");
    reaching.push("first <= fromUnixTimestamp64Milli({end:Int64})");
  }
  return `SELECT signature_id, max(latest) AS latest FROM (
    ${signaturesOf([...conditions, ...within])}
    UNION ALL
    SELECT signature_id, latest FROM (
      SELECT signature_id, toDate(occurred_at) AS day, min(occurred_at) AS first, max(occurred_at) AS last, max(received_at) AS latest FROM beacon_events
      WHERE organization_id = {organization:UUID} AND ${conditions.join(" AND ")} AND toDate(occurred_at) IN (${edges.join(", ")}) GROUP BY signature_id, day)
    WHERE ${reaching.join(" AND ")}) GROUP BY signature_id`;
}

/** More signatures than this are looked for in all events, rather than by themselves. */
const MAX_UNDECIDED = 1_000;

/**
 * Those that match `rest` and have no event between the filter's two moments. First and last events are known without ClickHouse, so that only
 * those seen before and after, and perhaps not between, are asked for; null when they are too many, or when the filter asks for more.
 */
async function absentBetween({ database, clickhouse }: Stores, organizationId: string, filter: SignatureFilter, rest: SQL): Promise<string[] | null> {
  const { start_date: start, end_date: end, environment, release } = filter;
  if (!start || !end || environment !== undefined || release !== undefined) return null;
  const { id, firstSeen, lastSeen, lastSeenSlot } = errorSignatures;
  const around = and(rest, lt(firstSeen, start), gte(lastSeenSlot, slotOf(end)), gt(lastSeen, end));
  const undecided = await database.select({ id }).from(errorSignatures).where(around).limit(MAX_UNDECIDED + 1);
  if (undecided.length === 0) return [];
  if (undecided.length > MAX_UNDECIDED) return null;
  const ids = undecided.map((row) => row.id);
  const into = new Map(await aliasesOf(database, ids));
  const found = await idsWithEvents({ database, clickhouse }, organizationId, filter, [...ids, ...into.keys()]);
  const present = new Set(found.split(",").map((each) => into.get(each) ?? each));
  return ids.filter((each) => !present.has(each));
}

/**
 * Signatures with an event that matches, of the organization's services: the order of the table begins with the service; of `among` alone, unless
 * that is null. Their ids with commas between them: as a hundred thousand values they would take seconds on their way to Postgres.
 */
async function idsWithEvents({ database, clickhouse }: Stores, organizationId: string, filter: SignatureFilter, among: string[] | null): Promise<string> {
  const own = and(eq(services.organizationId, organizationId), filter.service_id === undefined ? undefined : eq(services.id, filter.service_id));
  const serviceIds = await database.select({ id: services.id }).from(services).where(own);
  if (serviceIds.length === 0) return "";
  const params: Record<string, unknown> = { organization: organizationId, services: serviceIds.map(({ id }) => id), nil: NIL_SIGNATURE };
  const conditions = ["service_id IN {services:Array(UUID)}", "signature_id != {nil:UUID}"];
  const where = (condition: string, name: string, value: unknown) => {
    conditions.push(condition);
    params[name] = value;
  };
  const { environment, release, start_date: start, end_date: end } = filter;
  if (among) where("signature_id IN {among:Array(UUID)}", "among", among);
  if (environment !== undefined) where("environment = {environment:String}", "environment", environment);
  if (release !== undefined) where("release = {release:String}", "release", release);
  if (start) params.start = start.getTime();
  if (end) params.end = end.getTime();
  const matching = !start && !end ? signaturesOf(conditions) : start && end && dayOf(start) === dayOf(end) ? signaturesOf([...conditions, SINCE_START, UNTIL_END]) : signaturesByDay(conditions, filter);
  const [found] = await askClickHouse<{ ids: string }>(
    clickhouse,
    `SELECT arrayStringConcat(groupArray(toString(signature_id)), ',') AS ids FROM (SELECT signature_id FROM (${matching}) ORDER BY latest DESC LIMIT ${MAX_MATCHES})`,
    params,
  );
  return found?.ids ?? "";
}
