import { and, asc, desc, eq, exists, inArray } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Database, Queries } from "../../platform/postgres/database.ts";
import type { Incident, IncidentListQuery } from "../../schemas/api/incidents.ts";
import { incidents, incidentServices, incidentUpdates, services } from "../../schemas/tables/all.ts";

export type IncidentRow = typeof incidents.$inferSelect;

/** Newest first, with services and updates, in three statements however many there are. */
export async function listIncidents(database: Database, organizationId: string, filter: IncidentListQuery): Promise<Incident[]> {
  const { status, service_id: serviceId, limit, offset } = filter;
  // An id that cannot exist affects no incident, just like one of another organization.
  if (serviceId !== undefined && !isUuid(serviceId)) return [];
  const rows = await database
    .select()
    .from(incidents)
    .where(and(eq(incidents.organizationId, organizationId), status && eq(incidents.status, status), serviceId ? affects(database, serviceId) : undefined))
    .orderBy(desc(incidents.createdAt), desc(incidents.id))
    .limit(limit)
    .offset(offset);
  return showIncidents(database, rows);
}

/** One incident with services and updates; NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function getIncident(queries: Queries, organizationId: string, id: string): Promise<Incident> {
  const [row] = isUuid(id) ? await queries.select().from(incidents).where(ownIncident(organizationId, id)) : [];
  if (!row) throw noSuchIncident();
  return (await showIncidents(queries, [row]))[0]!;
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

async function showIncidents(queries: Queries, rows: IncidentRow[]): Promise<Incident[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const affected = await affectedServices(queries, ids);
  const updates = await queries
    .select()
    .from(incidentUpdates)
    .where(inArray(incidentUpdates.incidentId, ids))
    .orderBy(desc(incidentUpdates.createdAt), desc(incidentUpdates.id));
  const shown = new Map(rows.map((row) => [row.id, showIncident(row)]));
  for (const { incidentId, id, name } of affected) shown.get(incidentId)!.services.push({ id, name });
  for (const { incidentId, id, status, message, createdAt } of updates) shown.get(incidentId)!.updates.push({ id, status, message, created_at: createdAt.toISOString() });
  return [...shown.values()];
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

function showIncident(row: IncidentRow): Incident {
  return {
    id: row.id,
    title: row.title,
    status: row.status,
    severity: row.severity,
    started_at: row.startedAt.toISOString(),
    resolved_at: row.resolvedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    services: [],
    updates: [],
  };
}
