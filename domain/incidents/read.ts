import { and, asc, eq, exists, inArray, sql, type SQL } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Database, Queries } from "../../platform/postgres/database.ts";
import { isoText } from "../../platform/postgres/iso-text.ts";
import type { Incident, IncidentListQuery, IncidentUpdateList } from "../../schemas/api/incidents.ts";
import type { UpdateListQuery } from "../../schemas/api/shared.ts";
import { incidents, incidentServices, services } from "../../schemas/tables/all.ts";
import { newestUpdates, OF_INCIDENTS, updatesPage } from "./newest-updates.ts";

export type IncidentRow = typeof incidents.$inferSelect;

/**
 * The incidents, newest first, with services and their newest updates as the JSON text of an array: Postgres writes it in one statement,
 * however many there are, and nobody has to read it again.
 */
export async function listIncidents(database: Database, organizationId: string, filter: IncidentListQuery): Promise<string> {
  const { status, service_id: serviceId, limit, offset } = filter;
  // An id that cannot exist affects no incident, just like one of another organization.
  if (serviceId !== undefined && !isUuid(serviceId)) return "[]";
  const wanted = and(eq(incidents.organizationId, organizationId), status && eq(incidents.status, status), serviceId ? affects(database, serviceId) : undefined)!;
  return `[${(await writeIncidents(database, wanted, { limit, offset })).join(",")}]`;
}

/** One incident with services and its newest updates; NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function getIncident(queries: Queries, organizationId: string, id: string): Promise<Incident> {
  const [text] = isUuid(id) ? await writeIncidents(queries, ownIncident(organizationId, id)!, { limit: 1, offset: 0 }) : [];
  if (text === undefined) throw noSuchIncident();
  return JSON.parse(text) as Incident;
}

/** All updates of an incident, newest first, by pages; NOT_FOUND as `getIncident`. */
export async function listIncidentUpdates(queries: Queries, organizationId: string, id: string, page: UpdateListQuery): Promise<IncidentUpdateList> {
  if (!isUuid(id) || (await queries.$count(incidents, ownIncident(organizationId, id))) === 0) throw noSuchIncident();
  const { rows } = await queries.execute<IncidentUpdateList & Record<string, unknown>>(updatesPage(OF_INCIDENTS, id, page));
  return rows[0]!;
}

export function noSuchIncident(): Failure {
  return new Failure("NOT_FOUND", "No such incident.");
}

export function ownIncident(organizationId: string, id: string) {
  return and(eq(incidents.organizationId, organizationId), eq(incidents.id, id));
}

function affects(queries: Queries, serviceId: string) {
  const { incidentId } = incidentServices;
  return exists(queries.select({ incidentId }).from(incidentServices).where(and(eq(incidentId, incidents.id), eq(incidentServices.serviceId, serviceId))));
}

/** Incidents as the API shows them, each as JSON text. Only those of the page have their services and updates gathered. */
async function writeIncidents(queries: Queries, wanted: SQL, { limit, offset }: { limit: number; offset: number }): Promise<string[]> {
  const { rows } = await queries.execute<{ json: string }>(sql`
    with page as materialized (
      select row_number() over (order by created_at desc, id desc) as nth, id, title, status, severity, started_at, resolved_at, created_at, updated_at
      from ${incidents} where ${wanted} order by ${incidents.createdAt} desc, ${incidents.id} desc limit ${limit} offset ${offset}
    ), affected as (
      select link.incident_id, json_agg(json_build_object('id', service.id, 'name', service.name) order by service.display_order, service.created_at, service.id) as services
      from ${incidentServices} as link join ${services} as service on service.id = link.service_id
      where link.incident_id = any(array(select id from page)) group by link.incident_id
    ), told as (${newestUpdates(OF_INCIDENTS)}
    )
    select json_build_object(
      'id', page.id, 'title', page.title, 'status', page.status, 'severity', page.severity,
      'started_at', ${isoText(sql`page.started_at`)}, 'resolved_at', ${isoText(sql`page.resolved_at`)},
      'created_at', ${isoText(sql`page.created_at`)}, 'updated_at', ${isoText(sql`page.updated_at`)},
      'services', coalesce(affected.services, '[]'), 'updates', coalesce(told.updates, '[]'), 'updates_total', coalesce(told.total, 0)
    )::text as json
    from page left join affected on affected.incident_id = page.id left join told on told.of = page.id
    order by page.nth`);
  return rows.map(({ json }) => json);
}

/** The services of some incidents, in the order in which services are listed. */
export async function affectedServices(queries: Queries, incidentIds: string[]): Promise<{ incidentId: string; id: string; name: string }[]> {
  return queries
    .select({ incidentId: incidentServices.incidentId, id: services.id, name: services.name })
    .from(incidentServices)
    .innerJoin(services, eq(services.id, incidentServices.serviceId))
    .where(inArray(incidentServices.incidentId, incidentIds))
    .orderBy(asc(services.displayOrder), asc(services.createdAt), asc(services.id));
}
