import { and, asc, eq, ne, sql } from "drizzle-orm";
import { asDatabase, inTransaction, type Database, type Transaction } from "../../../platform/postgres/database.ts";
import { makeGather } from "../../../platform/postgres/gather.ts";
import { uuids } from "../../../platform/postgres/uuids.ts";
import { incidents, serviceOpinions, uptimeMonitors } from "../../../schemas/tables/all.ts";
import { systemActor } from "../../actor.ts";
import { cutWhole } from "../../cut-whole.ts";
import { emitEvents, type NewEvent } from "../../events/emit.ts";
import { storableJson } from "../../events/storable-json.ts";
import { addIncidentUpdate } from "../../incidents/change.ts";
import { openIncidentsIn, type Opening } from "../../incidents/open.ts";
import { lockServices } from "../../services/lock.ts";
import { noteChecks } from "../note-check.ts";
import { weighOnServices } from "../weigh-on-services.ts";
import { decide, judgeCheck, type Decided, type Verdict } from "./decide.ts";
import type { ProbeResult } from "./probe.ts";
import { hasOpinion } from "./read.ts";

interface CheckedClaim {
  token: string;
  result: ProbeResult;
  at: Date;
}

type Check = CheckedClaim & { monitorId: string };

const MOST_AT_ONCE = 250;

const recordGathered = makeGather({ most: MOST_AT_ONCE }, recordAll);

/**
 * Writes down what a check found with all that follows from it, in one transaction, which checks that end at about the same time share. Null,
 * and nothing written, when the check's claim was taken over or the monitor was changed or deleted meanwhile.
 */
export function recordUptimeCheck(database: Database, monitorId: string, claim: CheckedClaim): Promise<Verdict | null> {
  return recordGathered(database, { monitorId, ...claim });
}

/** The statements do not depend on the number of checks but for those that resolve an incident. */
async function recordAll(database: Database, checks: Check[]): Promise<(Verdict | null)[]> {
  return inTransaction(database, async (tx) => {
    const rows = await lockChecked(tx, checks);
    const busy = await servicesInMaintenance(tx, [...rows.values()].flatMap(({ serviceId }) => serviceId ?? []));
    const outcomes = checks.map((check): Outcome | null => {
      const row = rows.get(check.monitorId);
      if (row?.leaseToken !== check.token) return null;
      const verdict = judgeCheck(check.result, row.degradedAfterMs);
      return { ...check, row, verdict, decided: decide(row, row, { verdict, inMaintenance: row.serviceId !== null && busy.has(row.serviceId) }, check.at.getTime()), incidentId: row.incidentId };
    });
    const counted = outcomes.filter((each) => each !== null);
    const moved = counted.filter(({ row, decided }) => decided.status !== row.status);
    // All at once, in order: what resolves an incident locks its services, one after the other.
    await lockServices(tx, moved.flatMap(({ row }) => row.serviceId ?? []));
    await openIncidents(tx, moved.filter(wantsIncident));
    for (const outcome of moved.filter(isWell)) await resolveIncident(tx, outcome);
    await storeChecks(tx, counted);
    await noteChecks(tx, counted.map(({ row, verdict, result, at }) => ({ organizationId: row.organizationId, kind: "uptime", monitorId: row.id, checkedAt: at, result: resultRow(verdict, result) })));
    const weighing = moved.filter(({ row, decided }) => hasOpinion(row) || hasOpinion(decided));
    await weighOnServices(tx, weighing.map(({ row }) => row.serviceId), latest(weighing));
    await emitEvents(tx, moved.flatMap(eventsOf));
    return outcomes.map((outcome) => outcome?.verdict ?? null);
  });
}
function resultRow(status: Verdict, { error, statusCode, responseTimeMs, dnsMs, connectMs, tlsMs, firstByteMs }: ProbeResult) {
  return { status, error: error ?? "", status_code: statusCode, response_time_ms: responseTimeMs, dns_ms: dnsMs, connect_ms: connectMs, tls_ms: tlsMs, first_byte_ms: firstByteMs };
}

interface Outcome extends Check {
  row: CheckedMonitor;
  verdict: Verdict;
  decided: Decided;
  incidentId: string | null;
}

type CheckedMonitor = Awaited<ReturnType<typeof selectChecked>>[number];

/** Whether a claim still holds is seen by its token. */
async function lockChecked(tx: Transaction, checks: readonly Check[]): Promise<Map<string, CheckedMonitor>> {
  const rows = await selectChecked(tx, checks.map(({ monitorId }) => monitorId));
  return new Map(rows.map((row) => [row.id, row]));
}

function selectChecked(tx: Transaction, ids: string[]) {
  const { id, organizationId, serviceId, leaseToken, name, url, intervalSeconds, failuresToDown, successesToUp, degradedAfterMs, createIncident, incidentId, status, contrary } = uptimeMonitors;
  return tx
    .select({ id, organizationId, serviceId, leaseToken, name, url, intervalSeconds, failuresToDown, successesToUp, degradedAfterMs, createIncident, incidentId, status, contrary })
    .from(uptimeMonitors)
    .where(sql`${id} = any(${uuids(ids)})`)
    .orderBy(asc(id))
    .for("no key update");
}

/** The `maintenance` source has an opinion exactly while a window of the service is in progress. */
async function servicesInMaintenance(tx: Transaction, serviceIds: string[]): Promise<Set<string>> {
  if (serviceIds.length === 0) return new Set();
  const rows = await tx.select({ id: serviceOpinions.serviceId }).from(serviceOpinions).where(and(sql`${serviceOpinions.serviceId} = any(${uuids(serviceIds)})`, eq(serviceOpinions.source, "maintenance")));
  return new Set(rows.map(({ id }) => id));
}

async function storeChecks(tx: Transaction, outcomes: readonly Outcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  const rows = outcomes.map(({ row, decided, incidentId, result, at }) => ({
    id: row.id,
    status: decided.status,
    contrary: decided.contrary,
    incident_id: incidentId,
    at: at.toISOString(),
    response_time_ms: result.responseTimeMs,
    status_code: result.statusCode,
    error: result.error,
    due_at: new Date(decided.dueAt).toISOString(),
  }));
  await tx.execute(sql`
    update ${uptimeMonitors} as monitor
    set status = now.status, contrary = now.contrary, incident_id = now.incident_id, last_checked_at = now.at, last_response_time_ms = now.response_time_ms,
        last_status_code = now.status_code, last_error = now.error, due_at = now.due_at, lease_token = null
    from jsonb_to_recordset(${storableJson(rows)}::jsonb) as now (id uuid, status uptime_status, contrary integer, incident_id uuid, at timestamptz,
      response_time_ms integer, status_code integer, error text, due_at timestamptz)
    where monitor.id = now.id`);
}

/** Of services that several monitors move at about the same time the last moment counts. */
function latest(outcomes: readonly Outcome[]): Date {
  return new Date(Math.max(0, ...outcomes.map(({ at }) => at.getTime())));
}

function eventsOf({ row: { id, organizationId, name, url }, decided: { event }, result: { error }, at }: Outcome): NewEvent[] {
  if (event === null) return [];
  const subject = { id, name, url };
  return [event === "down" ? { organizationId, type: "monitor.down", data: { ...subject, error }, at } : { organizationId, type: "monitor.up", data: subject, at }];
}

const actorOf = ({ organizationId, name }: CheckedMonitor) =>
  systemActor(organizationId, `Uptime monitor ${name}`);

function wantsIncident({ row, decided }: Outcome): boolean {
  return decided.event === "down" && row.createIncident;
}

/** Of monitors that go down; one whose last incident is still open keeps that. */
async function openIncidents(tx: Transaction, fallen: Outcome[]): Promise<void> {
  const { incidents: opened } = await openIncidentsIn(tx, fallen.map(openingOf));
  for (const [n, outcome] of fallen.entries())
    outcome.incidentId = opened[n]?.id ?? outcome.row.incidentId;
}

function openingOf({ row, result, at }: Outcome): Opening {
  const serviceIds = row.serviceId === null ? [] : [row.serviceId];
  return {
    actor: actorOf(row),
    input: {
      title: cutWhole(`${row.name} is down`, 255),
      severity: "critical",
      message: result.error ?? "",
      serviceIds,
      openedBy: `uptime:${row.id}`,
      at,
    },
  };
}

/** Whether an incident that the monitor opened has an end. */
function isWell({ row, decided: { status } }: Outcome): boolean {
  return (
    row.incidentId !== null && status !== "down" && status !== "pending" && status !== "paused"
  );
}

/** Unless somebody has resolved or deleted it. The monitor has none afterwards. */
async function resolveIncident(tx: Transaction, outcome: Outcome): Promise<void> {
  const { row, at } = outcome;
  const [open] = await tx
    .select({ id: incidents.id })
    .from(incidents)
    .where(and(eq(incidents.id, row.incidentId!), ne(incidents.status, "resolved")));
  if (open)
    await addIncidentUpdate(
      asDatabase(tx),
      actorOf(row),
      open.id,
      { status: "resolved", message: `${row.name} is up again.`, notify: true },
      at,
    );
  outcome.incidentId = null;
}
