import { and, eq } from "drizzle-orm";
import { inTransaction, type Database, type Transaction } from "../../../platform/postgres/database.ts";
import { sslMonitors } from "../../../schemas/tables/all.ts";
import { emitEvents } from "../../events/emit.ts";
import { nextDueAt } from "../next-due.ts";
import { noteChecks, type CheckResultRow } from "../note-check.ts";
import { weighOnServices } from "../weigh-on-services.ts";
import { decideCheck, type Decision } from "./decide.ts";
import { checkEvents } from "./monitor-events.ts";
import type { ProbeResult } from "./probe.ts";
import { certificateOf, type SslMonitorRow } from "./read.ts";

/** Records a check that a scheduler has claimed; does nothing when the claim was lost or the monitor is gone. */
export async function recordSslCheck(database: Database, id: string, { token, result, at }: { token: string; result: ProbeResult; at: Date }): Promise<void> {
  await inTransaction(database, async (tx) => {
    const [row] = await tx.select().from(sslMonitors).where(and(eq(sslMonitors.id, id), eq(sslMonitors.leaseToken, token))).for("no key update");
    if (row) await applySslCheck(tx, row, { result, at, ends: true });
  });
}

/**
 * Everything that follows from a check of a monitor that this transaction has locked: its row, the result, events, the service. `ends` the claim
 * it was made under; a check that was asked for leaves the claim of another alone.
 */
export async function applySslCheck(tx: Transaction, row: SslMonitorRow, { result, at, ends }: { result: ProbeResult; at: Date; ends: boolean }): Promise<{ row: SslMonitorRow; decision: Decision }> {
  const known = certificateOf(row);
  const decision = decideCheck({ alertDays: row.alertDays, certificate: known, told: row.told }, result, at);
  const after: SslMonitorRow = {
    ...row,
    status: decision.status,
    lastError: decision.error,
    lastCheckedAt: at,
    told: decision.told,
    ...(decision.certificate && { certificate: decision.certificate, daysUntilExpiry: decision.certificate.days_until_expiry }),
    ...((ends || row.leaseToken === null) && { leaseToken: null, dueAt: new Date(nextDueAt(row.id, decision.again, at.getTime())) }),
  };
  await tx.update(sslMonitors).set(after).where(eq(sslMonitors.id, row.id));
  await noteChecks(tx, [{ organizationId: row.organizationId, kind: "ssl", monitorId: row.id, checkedAt: at, result: resultRow(result, decision) }]);
  if (weighs(row) !== weighs(after)) await weighOnServices(tx, [row.serviceId], at);
  await emitEvents(tx, checkEvents(row, decision, at));
  return { row: after, decision };
}

/** Whether a monitor has something against its service: as `weighOnServices` sees it. */
export function weighs(row: Pick<SslMonitorRow, "enabled" | "certificate">): boolean {
  return row.enabled && certificateOf(row)?.is_valid === false;
}

function resultRow({ responseTimeMs, phases }: ProbeResult, { status, error, certificate }: Decision): CheckResultRow {
  return {
    status,
    error: error ?? "",
    response_time_ms: responseTimeMs,
    dns_ms: phases.dnsMs,
    connect_ms: phases.connectMs,
    tls_ms: phases.tlsMs,
    days_until_expiry: certificate?.days_until_expiry ?? null,
    is_valid: certificate?.is_valid ?? null,
  };
}
