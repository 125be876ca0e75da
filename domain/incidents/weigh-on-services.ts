import { and, asc, desc, eq, ne, sql, type SQL } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import { incidents, incidentServices, serviceOpinions, services } from "../../schemas/tables/all.ts";
import { INCIDENT_SEVERITIES, type IncidentSeverity, type ServiceStatus } from "../../schemas/vocabulary.ts";
import { changeOpinions, type OpinionChange, type StatusChange } from "../services/change-status.ts";

/** What an open incident says of its services (conventions §2). */
const STATUS_BY_SEVERITY: Record<IncidentSeverity, ServiceStatus> = { minor: "degraded", major: "partial_outage", critical: "major_outage" };

/** An incident as it weighs on its services. */
interface WeighingIncident {
  title: string;
  severity: IncidentSeverity;
  /** RFC 3339 in UTC, so that texts compare as times do. */
  started_at: string;
  services: readonly { id: string }[];
}

const reasonOf = (title: string) => `The incident "${title}" is open.`;

/**
 * What open incidents say of the services that meet a condition by now: the worst status, by the
 * service's id.
 */
export async function readIncidentOpinions(
  tx: Transaction,
  isAsked: SQL,
): Promise<ReadonlyMap<string, ServiceStatus>> {
  const { rows } = await tx.execute<{ service_id: string; status: ServiceStatus }>(sql`
    select service_id, status from ${serviceOpinions}
    where source = 'incidents' and service_id in (select ${services.id} from ${services} where ${isAsked})`);
  return new Map(rows.map((row) => [row.service_id, row.status]));
}

/**
 * How incidents that are opened make the `incidents` opinions of their services worse: a change for
 * each service of which one of them is worse than all that were open. What else is open is not read:
 * that would cost the more the more is open. The services are locked, and `held` is what stood then.
 */
export function worsenOpinions(
  opened: readonly WeighingIncident[],
  held: ReadonlyMap<string, ServiceStatus>,
): OpinionChange[] {
  const worst = new Map<string, WeighingIncident>();
  for (const incident of opened) {
    for (const { id } of incident.services) {
      const before = worst.get(id);
      // Of equally bad ones the first is told of.
      const isFirst = incident.severity === before?.severity && incident.started_at < before.started_at;
      if (!before || isFirst || isWorse(incident.severity, before.severity)) worst.set(id, incident);
    }
  }
  for (const [id, { severity }] of worst) {
    const status = held.get(id);
    if (status !== undefined && !isWorse(severity, severityBehind(status))) worst.delete(id);
  }
  return [...worst].map(([id, { title, severity }]) => ({
    serviceId: id,
    source: "incidents",
    status: STATUS_BY_SEVERITY[severity],
    reason: reasonOf(title),
  }));
}

function isWorse(one: IncidentSeverity, other: IncidentSeverity): boolean {
  return INCIDENT_SEVERITIES.indexOf(one) > INCIDENT_SEVERITIES.indexOf(other);
}

function severityBehind(status: ServiceStatus): IncidentSeverity {
  return INCIDENT_SEVERITIES.find((severity) => STATUS_BY_SEVERITY[severity] === status)!;
}

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
      ? { serviceId, source: "incidents" as const, status: STATUS_BY_SEVERITY[incident.severity], reason: reasonOf(incident.title) }
      : { serviceId, source: "incidents" as const, status: null, reason: "No incident is open any more." };
  });
  return changeOpinions(tx, changes, at);
}
