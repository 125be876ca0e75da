import { eq } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { AddIncidentUpdate, Incident, UpdateIncident } from "../../schemas/api/incidents.ts";
import { incidents, incidentServices, incidentUpdates } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { changedFields, recordAudit } from "../audit/record.ts";
import { emitEvents } from "../events/emit.ts";
import { decideIncidentChange } from "./decide-change.ts";
import { auditedIncident, incidentEvent } from "./describe.ts";
import { findServices } from "./find-services.ts";
import { lockIncident } from "./lock.ts";
import { affectedServices, getIncident, type IncidentRow } from "./read.ts";
import { requireFewUpdates } from "./require-few-updates.ts";
import { weighOnServices } from "./weigh-on-services.ts";

interface Change extends Omit<UpdateIncident, "services"> {
  /** Replaces the affected services. */
  serviceIds?: string[];
  message?: string;
  notify: boolean;
  at: Date;
}

/**
 * Changes an incident's own fields and its services; what is left out stays. NOT_FOUND; INVALID_REQUEST with the
 * place of a service that is unknown or ambiguous.
 */
export async function updateIncident(database: Database, actor: Actor, id: string, { services, ...patch }: UpdateIncident, at: Date): Promise<Incident> {
  return inTransaction(database, async (tx) => {
    const serviceIds = services && (await findServices(tx, actor.organizationId, services));
    return changeIncident(tx, actor, id, { ...patch, serviceIds, notify: true, at });
  });
}

/** Adds an update and moves the incident to its status, if it names one. Racing updates all stay. NOT_FOUND; PLAN_LIMIT when it has 1,000. */
export async function addIncidentUpdate(database: Database, actor: Actor, id: string, update: AddIncidentUpdate, at: Date): Promise<Incident> {
  return inTransaction(database, (tx) => changeIncident(tx, actor, id, { ...update, at }));
}

async function changeIncident(tx: Transaction, actor: Actor, id: string, change: Change): Promise<Incident> {
  const { incident, services, joining } = await lockIncident(tx, actor.organizationId, id, change.serviceIds);
  const { next, event } = decideIncidentChange(incident, change, change.at);
  const [changed] = await tx.update(incidents).set(next).where(eq(incidents.id, id)).returning();
  if (change.message !== undefined) {
    requireFewUpdates("incident", await tx.$count(incidentUpdates, eq(incidentUpdates.incidentId, id)));
    await tx.insert(incidentUpdates).values({ id: newId(), organizationId: actor.organizationId, incidentId: id, status: next.status, message: change.message, createdAt: next.updatedAt });
  }
  if (change.serviceIds) await replaceServices(tx, incident, joining);
  const affected = change.serviceIds ? await affectedServices(tx, [id]) : services;
  await tell(tx, actor, { before: { incident, services }, after: { incident: changed!, services: affected }, change, event });
  await weighOnServices(tx, [...new Set([...services, ...affected].map((service) => service.id))], next.updatedAt);
  return getIncident(tx, actor.organizationId, id);
}

async function replaceServices(tx: Transaction, { id: incidentId, organizationId }: IncidentRow, serviceIds: string[]): Promise<void> {
  await tx.delete(incidentServices).where(eq(incidentServices.incidentId, incidentId));
  // From now on it is about what was chosen, be it none.
  await tx.update(incidents).set({ lostServices: false }).where(eq(incidents.id, incidentId));
  if (serviceIds.length > 0) await tx.insert(incidentServices).values(serviceIds.map((serviceId) => ({ organizationId, incidentId, serviceId })));
}

interface Snapshot {
  incident: IncidentRow;
  services: { id: string; name: string }[];
}

/** The event, when there is something to tell of and to anybody, and the audit entry, always. */
async function tell(
  tx: Transaction,
  actor: Actor,
  { before, after, change, event }: { before: Snapshot; after: Snapshot; change: Change; event: "incident.updated" | "incident.resolved" },
): Promise<void> {
  const { message, notify } = change;
  const states = {
    before: auditedIncident(before.incident, before.services),
    after: { ...auditedIncident(after.incident, after.services), ...(message !== undefined && { message }) },
  };
  if (notify && changedFields(states.before, states.after).length > 0) {
    await emitEvents(tx, [incidentEvent({ type: event, ...after, message: message ?? "", previous: before.incident.status, at: after.incident.updatedAt })]);
  }
  await recordAudit(tx, actor, { action: message === undefined ? "incident.updated" : "incident.update_added", resourceType: "incident", resourceId: after.incident.id, ...states });
}
