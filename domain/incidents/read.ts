import { and, asc, eq, exists, inArray, sql, type SQL } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Database, Queries } from "../../platform/postgres/database.ts";
import { isoText } from "../../platform/postgres/iso-text.ts";
import type { Incident, IncidentListQuery } from "../../schemas/api/incidents.ts";
import { incidents, incidentServices, incidentUpdates, services } from "../../schemas/tables/all.ts";

export type IncidentRow = typeof incidents.$inferSelect;

/**
 * The incidents, newest first, with services and updates as the JSON text of an array: Postgres writes it in one statement,
 * however many there are, and nobody has to read it again.
 */
export async function listIncidents(database: Database, organizationId: string, filter: IncidentListQuery): Promise<string> {
  const { status, service_id: serviceId, limit, offset } = filter;
  // An id that cannot exist affects no incident, just like one of another organization.
  if (serviceId !== undefined && !isUuid(serviceId)) return "[]";
  const wanted = and(eq(incidents.organizationId, organizationId), status && eq(incidents.status, status), serviceId ? affects(database, serviceId) : undefined)!;
  return `[${(await writeIncidents(database, wanted, { limit, offset })).join(",")}]`;
}

/** One incident with services and updates; NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function getIncident(queries: Queries, organizationId: string, id: string): Promise<Incident> {
  const [text] = isUuid(id) ? await writeIncidents(queries, ownIncident(organizationId, id)!, { limit: 1, offset: 0 }) : [];
  if (text === undefined) throw noSuchIncident();
  return JSON.parse(text) as Incident;
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

/** Incidents as the API shows them, each as JSON text. */
async function writeIncidents(queries: Queries, wanted: SQL, { limit, offset }: { limit: number; offset: number }): Promise<string[]> {
  const { rows } = await queries.execute<{ json: string }>(sql`
    select json_build_object(
      'id', ${incidents.id}, 'title', ${incidents.title}, 'status', ${incidents.status}, 'severity', ${incidents.severity},
      'started_at', ${isoText(incidents.startedAt)}, 'resolved_at', ${isoText(incidents.resolvedAt)},
      'created_at', ${isoText(incidents.createdAt)}, 'updated_at', ${isoText(incidents.updatedAt)},
      'services', (
        select coalesce(json_agg(json_build_object('id', ${services.id}, 'name', ${services.name}) order by ${services.displayOrder}, ${services.createdAt}, ${services.id}), '[]')
        from ${incidentServices} join ${services} on ${services.id} = ${incidentServices.serviceId} where ${incidentServices.incidentId} = ${incidents.id}),
      'updates', (
        select coalesce(json_agg(json_build_object('id', ${incidentUpdates.id}, 'status', ${incidentUpdates.status}, 'message', ${incidentUpdates.message},
          'created_at', ${isoText(incidentUpdates.createdAt)}) order by ${incidentUpdates.createdAt} desc, ${incidentUpdates.id} desc), '[]')
        from ${incidentUpdates} where ${incidentUpdates.incidentId} = ${incidents.id})
    )::text as json
    from ${incidents} where ${wanted} order by ${incidents.createdAt} desc, ${incidents.id} desc limit ${limit} offset ${offset}`);
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
