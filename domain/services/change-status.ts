import { and, eq, sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import { serviceOpinions, services, serviceStatusHistory } from "../../schemas/tables/all.ts";
import { OPINION_SOURCES, SERVICE_STATUSES, type OpinionSource, type ServiceStatus } from "../../schemas/vocabulary.ts";
import { emitEvents } from "../events/emit.ts";
import { storableJson } from "../events/storable-json.ts";
import { lockServices, type LockedService } from "./lock.ts";

/** What one source says of a service. */
interface Opinion {
  source: OpinionSource;
  status: ServiceStatus;
  reason: string;
}

interface DecidedStatus {
  status: ServiceStatus;
  /** Who holds the worst opinion; `manual` when nobody has one. */
  source: OpinionSource;
  /** The worst opinion's reason; null when nobody has an opinion. */
  reason: string | null;
}

export interface OpinionChange {
  serviceId: string;
  source: OpinionSource;
  /** Null and `operational` both withdraw the source's opinion. */
  status: ServiceStatus | null;
  /** A sentence for people; kept with the opinion and in the status history. */
  reason: string;
}

export interface StatusChange {
  serviceId: string;
  organizationId: string;
  name: string;
  previous: ServiceStatus;
  current: ServiceStatus;
  reason: string;
}

/** What a machine measured does not count while people are at work on the service (conventions §2). */
const SILENT_IN_MAINTENANCE: ReadonlySet<OpinionSource> = new Set(["monitors", "metrics"]);

/**
 * The status that follows from all opinions: the worst wins. Of equally bad ones the source that stands
 * first in `OPINION_SOURCES` holds it, so that the answer does not depend on the order of rows.
 */
export function decideStatus(opinions: readonly Opinion[], { maintenanceInProgress }: { maintenanceInProgress: boolean }): DecidedStatus {
  let worst: Opinion | null = null;
  for (const opinion of opinions) {
    if (opinion.status === "operational" || (maintenanceInProgress && SILENT_IN_MAINTENANCE.has(opinion.source))) continue;
    if (worst === null || rank(opinion) > rank(worst)) worst = opinion;
  }
  return worst ?? { status: "operational", source: "manual", reason: null };
}

/** Severity first, then the place of the source. */
function rank({ status, source }: Opinion): number {
  return SERVICE_STATUSES.indexOf(status) * OPINION_SOURCES.length - OPINION_SOURCES.indexOf(source);
}

/**
 * Applies what sources say of services and derives the services' statuses: the only writer of
 * `services.status`. For each service whose status changes it writes one row of history and one
 * `service.status_changed`. Of several changes of one source on one service the last counts.
 * An opinion that was overruled by hand stays so while its source says the same.
 * Services that no longer exist are skipped. The number of statements does not depend on the number
 * of services; they stay locked until the transaction ends.
 */
export async function changeOpinions(tx: Transaction, changes: readonly OpinionChange[], at: Date): Promise<StatusChange[]> {
  const locked = await lockServices(tx, changes.map(({ serviceId }) => serviceId));
  if (locked.length === 0) return [];
  const existing = new Set(locked.map(({ id }) => id));
  const effective = changes.filter(({ serviceId }) => existing.has(serviceId));
  await storeOpinions(tx, effective, at);

  const ofThese = sql`${serviceOpinions.serviceId} = any(${uuids(existing)})`;
  const opinions = await tx.select().from(serviceOpinions).where(ofThese);
  const opinionsOf = new Map(locked.map(({ id }) => [id, [] as Opinion[]]));
  for (const opinion of opinions) if (!opinion.overruled) opinionsOf.get(opinion.serviceId)!.push(opinion);
  const lastReason = new Map(effective.map(({ serviceId, reason }) => [serviceId, reason]));
  const decided = locked.map((service) => {
    const held = opinionsOf.get(service.id)!;
    // The `maintenance` source has an opinion exactly while a window of the service is in progress.
    return { service, now: decideStatus(held, { maintenanceInProgress: held.some(({ source }) => source === "maintenance") }) };
  });
  const moved = decided.filter(({ service, now }) => now.status !== service.status || now.source !== service.statusSource);
  await storeStatuses(tx, moved, at);

  const changed = moved.filter(({ service, now }) => now.status !== service.status);
  const results = changed.map(({ service, now }) => statusChange(service, now, lastReason.get(service.id)!));
  const moments = changed.map(({ service }) => later(at, service.updatedAt));
  await writeHistory(tx, changed.map(({ service, now }, n) => ({ organizationId: service.organizationId, serviceId: service.id, status: now.status, source: now.source, reason: results[n]!.reason, changedAt: moments[n]! })));
  await emitEvents(tx, results.map((change, n) => statusChangedEvent(change, moments[n]!)));
  return results;
}

/**
 * Takes the weight from what a source says of a locked service, until it says something else: no opinion at all, or
 * another status (conventions §2). The status follows with the next call of `changeOpinions` in this transaction.
 */
export async function overruleOpinion(tx: Transaction, serviceId: string, source: OpinionSource): Promise<void> {
  await tx.update(serviceOpinions).set({ overruled: true }).where(and(eq(serviceOpinions.serviceId, serviceId), eq(serviceOpinions.source, source)));
}

/** The first status of a service made in this transaction: its opinion and its first row of history. It is no change, so no event. */
export async function startStatus(tx: Transaction, { id: serviceId, organizationId }: { id: string; organizationId: string }, status: ServiceStatus, at: Date): Promise<void> {
  const reason = status === "operational" ? "The service was created." : "Set by hand when the service was created.";
  if (status !== "operational") {
    await tx.insert(serviceOpinions).values({ organizationId, serviceId, source: "manual", status, reason, updatedAt: at });
    await tx.update(services).set({ status }).where(eq(services.id, serviceId));
  }
  await writeHistory(tx, [{ organizationId, serviceId, status, source: "manual", reason, changedAt: at }]);
}

async function storeOpinions(tx: Transaction, changes: readonly OpinionChange[], at: Date): Promise<void> {
  const last = [...new Map(changes.map((change) => [`${change.serviceId} ${change.source}`, change])).values()];
  const withdrawn = last.filter(({ status }) => status === null || status === "operational");
  const held = last.filter(({ status }) => status !== null && status !== "operational");
  if (withdrawn.length > 0) {
    const pairs = withdrawn.map(({ serviceId, source }) => ({ service_id: serviceId, source }));
    await tx.execute(sql`
      delete from ${serviceOpinions} as opinion
      using jsonb_to_recordset(${storableJson(pairs)}::jsonb) as gone (service_id uuid, source opinion_source)
      where opinion.service_id = gone.service_id and opinion.source = gone.source`);
  }
  if (held.length > 0) {
    const rows = held.map(({ serviceId, source, status, reason }) => ({ service_id: serviceId, source, status, reason }));
    await tx.execute(sql`
      insert into ${serviceOpinions} as opinion (organization_id, service_id, source, status, reason, updated_at)
      select service.organization_id, service.id, held.source, held.status, held.reason, ${at.toISOString()}::timestamptz
      from jsonb_to_recordset(${storableJson(rows)}::jsonb) as held (service_id uuid, source opinion_source, status service_status, reason text)
      join ${services} as service on service.id = held.service_id
      on conflict (service_id, source) do update set status = excluded.status, reason = excluded.reason, updated_at = excluded.updated_at,
        overruled = opinion.overruled and opinion.status = excluded.status`);
  }
}

async function storeStatuses(tx: Transaction, moved: { service: LockedService; now: DecidedStatus }[], at: Date): Promise<void> {
  if (moved.length === 0) return;
  const rows = moved.map(({ service, now }) => ({ id: service.id, status: now.status, source: now.source }));
  await tx.execute(sql`
    update ${services} as service set status = new.status, status_source = new.source, updated_at = greatest(service.updated_at, ${at.toISOString()}::timestamptz)
    from jsonb_to_recordset(${storableJson(rows)}::jsonb) as new (id uuid, status service_status, source opinion_source)
    where service.id = new.id`);
}

async function writeHistory(tx: Transaction, rows: (typeof serviceStatusHistory.$inferInsert)[]): Promise<void> {
  if (rows.length === 0) return;
  const written = rows.map(({ organizationId, serviceId, status, source, reason, changedAt }) => ({
    organization_id: organizationId,
    service_id: serviceId,
    status,
    source,
    reason,
    changed_at: changedAt,
  }));
  await tx.execute(sql`
    insert into ${serviceStatusHistory}
      (organization_id, service_id, status, source, reason, changed_at)
    select organization_id, service_id, status, source, reason, changed_at
    from jsonb_to_recordset(${storableJson(written)}::jsonb)
      as row (organization_id uuid, service_id uuid, status service_status, source opinion_source,
        reason text, changed_at timestamptz)`);
}

/** `at` was read before the lock was had: a change that waited for another must not stand before it in the history. */
function later(at: Date, lastChange: Date): Date {
  return at > lastChange ? at : lastChange;
}

/** When nobody has an opinion any more, what withdrew the last one is the reason. */
function statusChange(service: LockedService, now: DecidedStatus, lastReason: string): StatusChange {
  return { serviceId: service.id, organizationId: service.organizationId, name: service.name, previous: service.status, current: now.status, reason: now.reason ?? lastReason };
}

function statusChangedEvent({ serviceId, organizationId, name, previous, current }: StatusChange, at: Date) {
  return { organizationId, type: "service.status_changed" as const, data: { id: serviceId, name, previous_status: previous, new_status: current }, at };
}
