import { sql } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { CreateIncident, Incident } from "../../schemas/api/incidents.ts";
import { incidents, incidentServices, incidentUpdates } from "../../schemas/tables/all.ts";
import type { IncidentSeverity, IncidentStatus } from "../../schemas/vocabulary.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { emitEvents } from "../events/emit.ts";
import { lockServices } from "../services/lock.ts";
import { auditedIncident, incidentEvent } from "./describe.ts";
import { findServices } from "./find-services.ts";
import { getIncident, type IncidentRow } from "./read.ts";
import { weighOnServices } from "./weigh-on-services.ts";

interface NewIncident {
  title: string;
  status?: IncidentStatus;
  severity?: IncidentSeverity;
  /** Text of the first update; without it there is none. */
  message?: string;
  /** Those of other organizations or deleted meanwhile are left out. */
  serviceIds: readonly string[];
  /** The automatism that opens it, such as `metrics:<service id>`; each has at most one open incident. */
  openedBy?: string;
  at: Date;
}

/**
 * Opens an incident as a person or script asks for it, services given by name or id. INVALID_REQUEST with the
 * place of a service that is unknown or ambiguous.
 */
export async function openIncident(database: Database, actor: Actor, input: CreateIncident & { at: Date }): Promise<Incident> {
  return inTransaction(database, async (tx) => {
    const { services, ...rest } = input;
    const opened = await openIncidentIn(tx, actor, { ...rest, serviceIds: await findServices(tx, actor.organizationId, services) });
    return getIncident(tx, actor.organizationId, opened!.id);
  });
}

/**
 * Opens an incident in a transaction: incident, first update, the opinion on its services, `incident.created`
 * and the audit entry. Null, and nothing written, when the automatism `openedBy` has one open already.
 */
export async function openIncidentIn(tx: Transaction, actor: Actor, input: NewIncident): Promise<IncidentRow | null> {
  const locked = (await lockServices(tx, input.serviceIds)).filter(({ organizationId }) => organizationId === actor.organizationId);
  const incident = await insertIncident(tx, actor.organizationId, input);
  if (!incident) return null;
  const { message, at } = input;
  if (locked.length > 0) await tx.insert(incidentServices).values(locked.map(({ id, organizationId }) => ({ organizationId, incidentId: incident.id, serviceId: id })));
  if (message !== undefined) await tx.insert(incidentUpdates).values({ id: newId(), organizationId: actor.organizationId, incidentId: incident.id, status: incident.status, message, createdAt: at });
  await emitEvents(tx, [incidentEvent({ type: "incident.created", incident, services: locked, message: message ?? "", at })]);
  await weighOnServices(tx, locked.map(({ id }) => id), at);
  await recordAudit(tx, actor, {
    action: "incident.created",
    resourceType: "incident",
    resourceId: incident.id,
    before: null,
    after: { ...auditedIncident(incident, locked), ...(message !== undefined && { message }) },
  });
  return incident;
}

async function insertIncident(tx: Transaction, organizationId: string, { title, status = "investigating", severity = "minor", openedBy, at }: NewIncident): Promise<IncidentRow | null> {
  const [row] = await tx
    .insert(incidents)
    .values({
      id: newId(),
      organizationId,
      title,
      status,
      severity,
      openedBy: openedBy ?? null,
      startedAt: at,
      resolvedAt: status === "resolved" ? at : null,
      createdAt: at,
      updatedAt: at,
    })
    .onConflictDoNothing({ target: incidents.openedBy, where: sql`opened_by is not null and status <> 'resolved'` })
    .returning();
  return row ?? null;
}
