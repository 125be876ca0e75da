import { sql, type SQL } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Queries, type Transaction } from "../../platform/postgres/database.ts";
import type { CreateIncident, Incident } from "../../schemas/api/incidents.ts";
import { incidents, incidentServices, incidentUpdates } from "../../schemas/tables/all.ts";
import type { IncidentSeverity, IncidentStatus } from "../../schemas/vocabulary.ts";
import type { Actor } from "../actor.ts";
import { auditInsert } from "../audit/record.ts";
import { eventsInsert } from "../events/emit.ts";
import { storableJson } from "../events/storable-json.ts";
import { lockServices } from "../services/lock.ts";
import { auditedIncident, incidentEvent } from "./describe.ts";
import { findServices } from "./find-services.ts";
import type { IncidentRow } from "./read.ts";
import { weighOnServices } from "./weigh-on-services.ts";

type AffectedService = Incident["services"][number];
type IncidentUpdate = Incident["updates"][number];

interface NewIncident {
  title: string;
  status?: IncidentStatus;
  severity?: IncidentSeverity;
  /** Text of the first update; without it there is none. */
  message?: string;
  /** The automatism that opens it, such as `metrics:<service id>`; each has at most one open incident. */
  openedBy?: string;
  at: Date;
}

interface Affecting {
  /** Without repetitions. Those of other organizations or deleted meanwhile are left out. */
  serviceIds: readonly string[];
}

/**
 * Opens an incident as a person or script asks for it, services given by name or id. INVALID_REQUEST with the
 * place of a service that is unknown or ambiguous.
 */
export async function openIncident(database: Database, actor: Actor, { services, ...input }: CreateIncident & { at: Date }): Promise<Incident> {
  // One statement, which needs no transaction around it.
  if (services.length === 0) return (await writeIncident(database, actor, input, []))!;
  return inTransaction(database, async (tx) => (await openIncidentIn(tx, actor, { ...input, serviceIds: await findServices(tx, actor.organizationId, services) }))!);
}

/**
 * Opens an incident in a transaction: incident, first update, the opinion on its services, `incident.created`
 * and the audit entry. Null, and nothing written, when the automatism `openedBy` has one open already.
 */
export async function openIncidentIn(tx: Transaction, actor: Actor, { serviceIds, ...input }: NewIncident & Affecting): Promise<Incident | null> {
  const ours = new Map((await lockServices(tx, serviceIds)).filter(({ organizationId }) => organizationId === actor.organizationId).map(({ id, name }) => [id, { id, name }]));
  const affected = serviceIds.flatMap((id) => ours.get(id) ?? []);
  const opened = await writeIncident(tx, actor, input, affected);
  if (opened) await weighOnServices(tx, affected.map(({ id }) => id), input.at);
  return opened;
}

/** In one statement, whatever belongs to it; null, and nothing written, when the automatism has one open already. */
async function writeIncident(queries: Queries, actor: Actor, input: NewIncident, services: AffectedService[]): Promise<Incident | null> {
  const incident = newIncident(actor.organizationId, input);
  const update = input.message === undefined ? null : { id: newId(), status: incident.status, message: input.message, created_at: input.at.toISOString() };
  const { rows } = await queries.execute(incidentInsert(actor, incident, services, update));
  return rows.length > 0 ? showIncident(incident, services, update) : null;
}

function newIncident(organizationId: string, { title, status = "investigating", severity = "minor", openedBy, at }: NewIncident): IncidentRow {
  return { id: newId(), organizationId, title, status, severity, openedBy: openedBy ?? null, startedAt: at, resolvedAt: status === "resolved" ? at : null, createdAt: at, updatedAt: at };
}

/** Writes everything or, when there is such an incident already, nothing; returns a row when it did. */
function incidentInsert(actor: Actor, incident: IncidentRow, services: AffectedService[], update: IncidentUpdate | null): SQL {
  const { id, organizationId, title, status, severity, openedBy, startedAt, resolvedAt, createdAt } = incident;
  const row = { id, organization_id: organizationId, title, status, severity, opened_by: openedBy, started_at: startedAt, resolved_at: resolvedAt, created_at: createdAt };
  const message = update?.message;
  const isNew = sql`exists (select from opened)`;
  const created = incidentEvent({ type: "incident.created", incident, services, message: message ?? "", at: createdAt });
  const after = { ...auditedIncident(incident, services), ...(message !== undefined && { message }) };
  const parts = [
    sql`opened as (
      insert into ${incidents} (id, organization_id, title, status, severity, opened_by, started_at, resolved_at, created_at, updated_at)
      select id, organization_id, title, status, severity, opened_by, started_at, resolved_at, created_at, created_at
      from jsonb_to_record(${storableJson(row)}::jsonb)
        as row (id uuid, organization_id uuid, title text, status incident_status, severity incident_severity, opened_by text, started_at timestamptz, resolved_at timestamptz, created_at timestamptz)
      on conflict (opened_by) where opened_by is not null and status <> 'resolved' do nothing
      returning id)`,
    sql`announced as (${eventsInsert([created], isNew)})`,
    sql`audited as (${auditInsert(actor, [{ action: "incident.created", resourceType: "incident", resourceId: id, before: null, after }], isNew)})`,
  ];
  if (services.length > 0) {
    parts.push(sql`affected as (
      insert into ${incidentServices} (organization_id, incident_id, service_id)
      select ${organizationId}::uuid, opened.id, service.id from opened, unnest(${sql.param(services.map((service) => service.id))}::uuid[]) as service (id))`);
  }
  if (update) {
    parts.push(sql`told as (
      insert into ${incidentUpdates} (id, organization_id, incident_id, status, message, created_at)
      select ${update.id}::uuid, ${organizationId}::uuid, id, ${update.status}::incident_status, ${update.message}, ${update.created_at}::timestamptz from opened)`);
  }
  return sql`with ${sql.join(parts, sql`, `)} select id from opened`;
}

/** A new incident as the API shows it. */
function showIncident({ id, title, status, severity, startedAt, resolvedAt, createdAt, updatedAt }: IncidentRow, services: AffectedService[], update: IncidentUpdate | null): Incident {
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
  };
}
