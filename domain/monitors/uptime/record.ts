import { and, eq, ne } from "drizzle-orm";
import { asDatabase, inTransaction, type Database, type Transaction } from "../../../platform/postgres/database.ts";
import { incidents, uptimeMonitors } from "../../../schemas/tables/all.ts";
import { systemActor } from "../../actor.ts";
import { emitEvents } from "../../events/emit.ts";
import { addIncidentUpdate } from "../../incidents/change.ts";
import { openIncidentIn } from "../../incidents/open.ts";
import { noteChecks } from "../note-check.ts";
import { weighOnServices } from "../weigh-on-services.ts";
import { decide, judgeCheck, type Decided, type Verdict } from "./decide.ts";
import type { ProbeResult } from "./probe.ts";
import { hasOpinion, type UptimeMonitorRow } from "./read.ts";

interface CheckedClaim {
  token: string;
  result: ProbeResult;
  at: Date;
}

/**
 * Writes down what a check found with all that follows from it, in one transaction. Null, and nothing written, when the check's claim
 * was taken over or the monitor was changed or deleted meanwhile.
 */
export async function recordUptimeCheck(database: Database, monitorId: string, { token, result, at }: CheckedClaim): Promise<Verdict | null> {
  return inTransaction(database, async (tx) => {
    const [row] = await tx.select().from(uptimeMonitors).where(and(eq(uptimeMonitors.id, monitorId), eq(uptimeMonitors.leaseToken, token))).for("no key update");
    if (!row) return null;
    const verdict = judgeCheck(result, row.degradedAfterMs);
    const decided = decide(row, row, verdict, at.getTime());
    const incidentId = await followIncident(tx, row, { decided, result, at });
    await tx
      .update(uptimeMonitors)
      .set({
        status: decided.status,
        contrary: decided.contrary,
        incidentId,
        lastCheckedAt: at,
        lastResponseTimeMs: result.responseTimeMs,
        lastStatusCode: result.statusCode,
        lastError: result.error,
        dueAt: new Date(decided.dueAt),
        leaseToken: null,
      })
      .where(eq(uptimeMonitors.id, row.id));
    await noteChecks(tx, [{ organizationId: row.organizationId, kind: "uptime", monitorId: row.id, checkedAt: at, result: resultRow(verdict, result) }]);
    if (decided.status !== row.status && (hasOpinion(row) || hasOpinion(decided))) await weighOnServices(tx, [row.serviceId], at);
    await tell(tx, row, { decided, result, at });
    return verdict;
  });
}

function resultRow(status: Verdict, { error, statusCode, responseTimeMs, dnsMs, connectMs, tlsMs, firstByteMs }: ProbeResult) {
  return { status, error: error ?? "", status_code: statusCode, response_time_ms: responseTimeMs, dns_ms: dnsMs, connect_ms: connectMs, tls_ms: tlsMs, first_byte_ms: firstByteMs };
}

interface Outcome {
  decided: Decided;
  result: ProbeResult;
  at: Date;
}

async function tell(tx: Transaction, { id, organizationId, name, url }: UptimeMonitorRow, { decided: { event }, result: { error }, at }: Outcome): Promise<void> {
  if (event === "down") await emitEvents(tx, [{ organizationId, type: "monitor.down", data: { id, name, url, error }, at }]);
  if (event === "up") await emitEvents(tx, [{ organizationId, type: "monitor.up", data: { id, name, url }, at }]);
}

/** Opens an incident when the monitor goes down and resolves it when it is well again. The id of the one that is open now. */
async function followIncident(tx: Transaction, row: UptimeMonitorRow, { decided, result, at }: Outcome): Promise<string | null> {
  const actor = systemActor(row.organizationId, `Uptime monitor ${row.name}`);
  if (decided.event === "down" && row.createIncident) {
    const serviceIds = row.serviceId === null ? [] : [row.serviceId];
    const opened = await openIncidentIn(tx, actor, { title: `${row.name} is down`.slice(0, 255), severity: "critical", message: result.error ?? "", serviceIds, openedBy: `uptime:${row.id}`, at });
    return opened?.id ?? row.incidentId;
  }
  if (row.incidentId === null || (decided.status !== "up" && decided.status !== "degraded")) return row.incidentId;
  const [open] = await tx.select({ id: incidents.id }).from(incidents).where(and(eq(incidents.id, row.incidentId), ne(incidents.status, "resolved")));
  if (open) await addIncidentUpdate(asDatabase(tx), actor, open.id, { status: "resolved", message: `${row.name} is up again.`, notify: true }, at);
  return null;
}
