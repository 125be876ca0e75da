import { and, eq } from "drizzle-orm";
import { inTransaction, type Database, type Transaction } from "../../../platform/postgres/database.ts";
import { domainMonitors } from "../../../schemas/tables/all.ts";
import { emitEvents, type NewEvent } from "../../events/emit.ts";
import { nextDueAt } from "../next-due.ts";
import { noteChecks } from "../note-check.ts";
import { weighOnServices } from "../weigh-on-services.ts";
import { decideLookup, type Decision } from "./decide.ts";
import type { DomainMonitorRow } from "./read.ts";
import type { Lookup } from "./registration.ts";

/** Records a look-up that a scheduler has claimed; does nothing when the claim was lost or the monitor is gone. */
export async function recordDomainCheck(database: Database, id: string, { token, result, at }: { token: string; result: Lookup; at: Date }): Promise<void> {
  await inTransaction(database, async (tx) => {
    const [row] = await tx.select().from(domainMonitors).where(and(eq(domainMonitors.id, id), eq(domainMonitors.leaseToken, token))).for("no key update");
    if (row) await applyDomainCheck(tx, row, { lookup: result, at, ends: true });
  });
}

/**
 * Everything that follows from a look-up for a monitor that this transaction has locked: its row, the result, events, the service. `ends` the claim
 * it was made under; one that was asked for leaves the claim of another alone.
 */
export async function applyDomainCheck(tx: Transaction, row: DomainMonitorRow, { lookup, at, ends }: { lookup: Lookup; at: Date; ends: boolean }): Promise<Decision> {
  const decision = decideLookup(row, lookup, at);
  const { status, error, registration, daysUntilExpiry, told, restMs, everyMs } = decision;
  const after: DomainMonitorRow = {
    ...row,
    status,
    lastError: error,
    lastCheckedAt: at,
    told,
    ...(registration && { registration: { ...registration }, daysUntilExpiry }),
    ...((ends || row.leaseToken === null) && { leaseToken: null, dueAt: new Date(nextDueAt(row.id, everyMs, at.getTime() + restMs)) }),
  };
  await tx.update(domainMonitors).set(after).where(eq(domainMonitors.id, row.id));
  await noteChecks(tx, [{ organizationId: row.organizationId, kind: "domain", monitorId: row.id, checkedAt: at, result: { status, error: error ?? "", days_until_expiry: daysUntilExpiry } }]);
  if (weighs(row) !== weighs(after)) await weighOnServices(tx, [row.serviceId], at);
  await emitEvents(tx, eventsOf(row, decision, at));
  return decision;
}

/** Whether a monitor has something against its service: as `weighOnServices` sees it. */
export function weighs({ enabled, daysUntilExpiry }: Pick<DomainMonitorRow, "enabled" | "daysUntilExpiry">): boolean {
  return enabled && daysUntilExpiry !== null && daysUntilExpiry < 0;
}

/** What a look-up has to tell (specification §6); the monitor's name is its domain, and it has no URL. */
function eventsOf({ id, organizationId, domain }: DomainMonitorRow, { tell, registration, daysUntilExpiry, error }: Decision, at: Date): NewEvent[] {
  const subject = { id, name: domain, url: null };
  const events: NewEvent[] = [];
  if (tell.down) events.push({ organizationId, type: "monitor.down", data: { ...subject, error }, at });
  if (tell.up) events.push({ organizationId, type: "monitor.up", data: subject, at });
  if (tell.expiring) events.push({ organizationId, type: "domain.expiring", data: { id, domain, days_until_expiry: daysUntilExpiry, expires_at: registration?.expiry_date ?? null, registrar: registration?.registrar ?? null }, at });
  return events;
}
