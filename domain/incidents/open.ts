import { sql, type SQL } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import { inTransactionWithLast, isTransaction, type Database, type Queries, type Transaction } from "../../platform/postgres/database.ts";
import { makeGather } from "../../platform/postgres/gather.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import type { CreateIncident, Incident } from "../../schemas/api/incidents.ts";
import { incidents, incidentServices, incidentUpdates, services } from "../../schemas/tables/all.ts";
import type { IncidentSeverity, IncidentStatus, ServiceStatus } from "../../schemas/vocabulary.ts";
import type { Actor } from "../actor.ts";
import { auditInsert } from "../audit/record.ts";
import { eventsInsert } from "../events/emit.ts";
import { storableJson } from "../events/storable-json.ts";
import { changeOpinions, type StatusChange } from "../services/change-status.ts";
import { lockServicesWhere, type LockedService } from "../services/lock.ts";
import { auditedIncident, incidentEvent } from "./describe.ts";
import { isServiceNamed, pickServices } from "./find-services.ts";
import { requireFewToday } from "./require-few-today.ts";
import type { IncidentRow } from "./read.ts";
import { readIncidentOpinions, worsenOpinions } from "./weigh-on-services.ts";

type AffectedService = Incident["services"][number];
type IncidentUpdate = Incident["updates"][number];

interface NewIncident {
  title: string;
  status?: IncidentStatus;
  severity?: IncidentSeverity;
  /** Text of the first update; without it there is none. */
  message?: string;
  /** Without repetitions. Those of other organizations or deleted meanwhile are left out. */
  serviceIds: readonly string[];
  /** The automatism that opens it, such as `metrics:<service id>`; each has at most one open incident. */
  openedBy?: string;
  at: Date;
}

/** An incident to open, and who opens it. */
export interface Opening {
  actor: Actor;
  input: NewIncident;
}

interface Opened {
  /** One for each opening, in their order. */
  incidents: (Incident | null)[];
  /** The changes of status that follow. */
  changes: StatusChange[];
}

interface Prepared {
  actor: Actor;
  incident: IncidentRow;
  services: AffectedService[];
  update: IncidentUpdate | null;
}

/** A transaction of many costs hardly more than one of one. */
const MOST_AT_ONCE = 50;
/** While many are opened, transactions of an organization begin so far apart. */
const EVERY_MS = 5;

/**
 * Opens an incident as a person or script asks for it, services given by name or id. INVALID_REQUEST with the
 * place of a service that is unknown or ambiguous; RATE_LIMITED when too many were opened within a day.
 */
export async function openIncident(
  database: Database,
  actor: Actor,
  { services: named, ...input }: CreateIncident & { at: Date },
): Promise<Incident> {
  await requireFewToday(database, actor.organizationId, input.at);
  const asked = { actor, named, input };
  // Within a transaction of the caller's it stands or falls with that.
  return isTransaction(database) ? (await openAll(database, [asked]))[0]! : openGathered(database, asked);
}

/** An incident that a person or script asks for. */
interface Asked {
  actor: Actor;
  /** Names and ids of services. */
  named: readonly string[];
  input: Omit<NewIncident, "serviceIds" | "openedBy">;
}

const openGathered = makeGather({ most: MOST_AT_ONCE, everyMs: EVERY_MS }, openAll);

/** All or none, in one transaction, in as few trips to the database as can be. */
async function openAll(database: Database, asked: Asked[]): Promise<Incident[]> {
  const named = asked.flatMap((each) => each.named);
  // One statement needs no transaction around it.
  if (named.length === 0) {
    const of = ({ actor, input }: Asked) => prepare({ actor, input: { ...input, serviceIds: [] } }, new Map());
    return writeAll(database, asked.map(of));
  }
  const organizationIds = new Set(asked.map(({ actor }) => actor.organizationId));
  const isAsked = isServiceNamed([...organizationIds], named);
  return inTransactionWithLast(database, async (tx) => {
    const { locked, held } = await lockToOpen(tx, isAsked);
    const known = locked.toSorted(byListedOrder);
    const byId = new Map(locked.map((service) => [service.id, service]));
    const prepared = asked.map(({ actor, named: references, input }) => {
      const theirs = known.filter(({ organizationId }) => organizationId === actor.organizationId);
      const serviceIds = pickServices(theirs, references);
      return prepare({ actor, input: { ...input, serviceIds } }, byId);
    });
    const changes = worsenOpinions(weighing(prepared.map(showIncident)), held);
    if (changes.length === 0) return () => writeAll(tx, prepared);
    const opened = await writeAll(tx, prepared);
    await changeOpinions(tx, changes, lastMoment(asked));
    return async () => opened;
  });
}

/** Incidents that no automatism opens: nothing stands in their way. */
async function writeAll(queries: Queries, prepared: Prepared[]): Promise<Incident[]> {
  return (await writeIncidents(queries, prepared)).map((incident) => incident!);
}

interface LockedToOpen {
  locked: LockedService[];
  /** What open incidents say of them, by the service's id. */
  held: ReadonlyMap<string, ServiceStatus>;
}

/** They go out together, and the second begins when the services are locked. */
async function lockToOpen(tx: Transaction, isAsked: SQL): Promise<LockedToOpen> {
  const [locked, held] = await Promise.all([lockServicesWhere(tx, isAsked), readIncidentOpinions(tx, isAsked)]);
  return { locked, held };
}

function byListedOrder(one: LockedService, other: LockedService): number {
  const inOrder = one.displayOrder - other.displayOrder;
  return inOrder || one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1);
}

function weighing(opened: readonly (Incident | null)[]): Incident[] {
  return opened.flatMap((incident) => (incident === null || incident.status === "resolved" ? [] : [incident]));
}

function lastMoment(openings: readonly { input: { at: Date } }[]): Date {
  return new Date(Math.max(...openings.map(({ input }) => input.at.getTime())));
}

/**
 * Opens an incident in a transaction, as `openIncidentsIn` does. Null, and nothing written, when
 * the automatism `openedBy` has one open already.
 */
export async function openIncidentIn(tx: Transaction, actor: Actor, input: NewIncident): Promise<Incident | null> {
  const { incidents: [opened] } = await openIncidentsIn(tx, [{ actor, input }]);
  return opened!;
}

/**
 * Opens incidents, of any organizations, in a transaction: incidents, first updates, the opinions
 * on their services, `incident.created` and the audit entries. Null in the place of one whose
 * automatism `openedBy` has one open already, be it opened here before it, and nothing of it
 * written. The number of statements does not depend on the number of incidents. Opinions are
 * dated by the last opening.
 */
export async function openIncidentsIn(
  tx: Transaction,
  openings: readonly Opening[],
): Promise<Opened> {
  if (openings.length === 0) return { incidents: [], changes: [] };
  const ids = openings.flatMap(({ input }) => input.serviceIds);
  const isNamed = sql`${services.id} = any(${uuids(new Set(ids))})`;
  const nothing: LockedToOpen = { locked: [], held: new Map() };
  const { locked, held } = ids.length === 0 ? nothing : await lockToOpen(tx, isNamed);
  const byId = new Map(locked.map((service) => [service.id, service]));
  const opened = await writeIncidents(tx, openings.map((opening) => prepare(opening, byId)));
  const changes = worsenOpinions(weighing(opened), held);
  return { incidents: opened, changes: changes.length === 0 ? [] : await changeOpinions(tx, changes, lastMoment(openings)) };
}

function prepare({ actor, input }: Opening, known: ReadonlyMap<string, LockedService>): Prepared {
  const { organizationId } = actor;
  const { title, status = "investigating", severity = "minor", openedBy, message, serviceIds, at } = input;
  const ours = serviceIds.flatMap((id) => known.get(id) ?? []).filter((service) => service.organizationId === organizationId);
  return {
    actor,
    incident: { id: newId(), organizationId, title, status, severity, openedBy: openedBy ?? null, lostServices: false, startedAt: at, resolvedAt: status === "resolved" ? at : null, createdAt: at, updatedAt: at },
    services: ours.map(({ id, name }) => ({ id, name })),
    update: message === undefined ? null : { id: newId(), status, message, created_at: at.toISOString() },
  };
}

/** In one statement, whatever belongs to them; null, and nothing written, where the automatism has one open already. */
async function writeIncidents(queries: Queries, prepared: Prepared[]): Promise<(Incident | null)[]> {
  const { rows } = await queries.execute<{ id: string }>(incidentsInsert(prepared));
  const opened = new Set(rows.map(({ id }) => id));
  return prepared.map((each) => (opened.has(each.incident.id) ? showIncident(each) : null));
}

function incidentsInsert(prepared: Prepared[]): SQL {
  const rows = prepared.map(({ incident: { id, organizationId, title, status, severity, openedBy, startedAt, resolvedAt, createdAt } }) => ({ id, organization_id: organizationId, title, status, severity, opened_by: openedBy, started_at: startedAt, resolved_at: resolvedAt, created_at: createdAt }));
  const events = prepared.map(({ incident, services, update }) => incidentEvent({ type: "incident.created", incident, services, message: update?.message ?? "", at: incident.createdAt }));
  const entries = prepared.map(({ actor, incident, services, update }) => ({ actor, action: "incident.created", resourceType: "incident", resourceId: incident.id, before: null, after: { ...auditedIncident(incident, services), ...(update && { message: update.message }) } }));
  const links = prepared.flatMap(({ incident, services }) => services.map((service) => ({ incident_id: incident.id, service_id: service.id })));
  const updates = prepared.flatMap(({ incident, update }) => (update ? [{ ...update, incident_id: incident.id }] : []));
  // Each part by its incident: of a batch some may be open already.
  const parts = [
    sql`opened as (
      insert into ${incidents} (id, organization_id, title, status, severity, opened_by, started_at, resolved_at, created_at, updated_at)
      select id, organization_id, title, status, severity, opened_by, started_at, resolved_at, created_at, created_at
      from jsonb_to_recordset(${storableJson(rows)}::jsonb) as row (id uuid, organization_id uuid, title text, status incident_status,
        severity incident_severity, opened_by text, started_at timestamptz, resolved_at timestamptz, created_at timestamptz)
      on conflict (opened_by) where opened_by is not null and status <> 'resolved' do nothing
      returning id, organization_id)`,
    sql`announced as (${eventsInsert(events, sql`(row.data ->> 'id')::uuid in (select id from opened)`)})`,
    sql`audited as (${auditInsert(entries, sql`row.resource_id in (select id from opened)`)})`,
  ];
  if (links.length > 0) {
    parts.push(sql`affected as (
      insert into ${incidentServices} (organization_id, incident_id, service_id)
      select opened.organization_id, opened.id, row.service_id
      from jsonb_to_recordset(${storableJson(links)}::jsonb) as row (incident_id uuid, service_id uuid) join opened on opened.id = row.incident_id)`);
  }
  if (updates.length > 0) {
    parts.push(sql`told as (
      insert into ${incidentUpdates} (id, organization_id, incident_id, status, message, created_at)
      select row.id, opened.organization_id, opened.id, row.status, row.message, row.created_at
      from jsonb_to_recordset(${storableJson(updates)}::jsonb) as row (id uuid, incident_id uuid, status incident_status, message text, created_at timestamptz)
      join opened on opened.id = row.incident_id)`);
  }
  return sql`with ${sql.join(parts, sql`, `)} select id from opened`;
}

/** A new incident as the API shows it. */
function showIncident({ incident, services, update }: Prepared): Incident {
  const { id, title, status, severity, startedAt, resolvedAt, createdAt, updatedAt } = incident;
  return {
    id,
    title,
    status,
    severity,
    started_at: startedAt.toISOString(),
    resolved_at: resolvedAt?.toISOString() ?? null,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    services,
    updates: update ? [update] : [],
    updates_total: update ? 1 : 0,
  };
}
