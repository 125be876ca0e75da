import { and, asc, desc, eq, ne, sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import { incidents, incidentServices } from "../../schemas/tables/all.ts";
import type { IncidentSeverity, ServiceStatus } from "../../schemas/vocabulary.ts";
import { changeOpinions, type StatusChange } from "../services/change-status.ts";

/** What an open incident says of its services (conventions §2). */
const STATUS_BY_SEVERITY: Record<IncidentSeverity, ServiceStatus> = { minor: "degraded", major: "partial_outage", critical: "major_outage" };

/**
 * Makes the `incidents` opinion of each service that of its worst open incident. The caller has locked the
 * services before it wrote incidents: otherwise two transactions that each close the other's last open
 * incident would both still see one. Returns the changes of status that follow.
 */
export async function weighOnServices(
  tx: Transaction,
  serviceIds: readonly string[],
  at: Date,
): Promise<StatusChange[]> {
  if (serviceIds.length === 0) return [];
  const ofThese = sql`${incidentServices.serviceId} = any(${uuids(serviceIds)})`;
  const worst = await tx
    .selectDistinctOn([incidentServices.serviceId], { serviceId: incidentServices.serviceId, severity: incidents.severity, title: incidents.title })
    .from(incidentServices)
    .innerJoin(incidents, eq(incidents.id, incidentServices.incidentId))
    .where(and(ofThese, ne(incidents.status, "resolved")))
    .orderBy(asc(incidentServices.serviceId), desc(incidents.severity), asc(incidents.startedAt), asc(incidents.id));
  const found = new Map(worst.map((incident) => [incident.serviceId, incident]));
  const changes = serviceIds.map((serviceId) => {
    const incident = found.get(serviceId);
    return incident
      ? { serviceId, source: "incidents" as const, status: STATUS_BY_SEVERITY[incident.severity], reason: `The incident "${incident.title}" is open.` }
      : { serviceId, source: "incidents" as const, status: null, reason: "No incident is open any more." };
  });
  return changeOpinions(tx, changes, at);
}
