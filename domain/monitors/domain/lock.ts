import { isUuid } from "../../../platform/ids.ts";
import type { Transaction } from "../../../platform/postgres/database.ts";
import { domainMonitors } from "../../../schemas/tables/all.ts";
import { noSuchDomainMonitor, ownDomainMonitor, type DomainMonitorRow } from "./read.ts";

/** Locks a monitor of the organization until the transaction ends; services are locked after monitors. NOT_FOUND. */
export async function lockDomainMonitor(tx: Transaction, organizationId: string, id: string): Promise<DomainMonitorRow> {
  const [row] = isUuid(id) ? await tx.select().from(domainMonitors).where(ownDomainMonitor(organizationId, id)).for("no key update") : [];
  if (!row) throw noSuchDomainMonitor();
  return row;
}
