import { isUuid } from "../../../platform/ids.ts";
import type { Transaction } from "../../../platform/postgres/database.ts";
import { sslMonitors } from "../../../schemas/tables/all.ts";
import { noSuchSslMonitor, ownSslMonitor, type SslMonitorRow } from "./read.ts";

/** Locks a monitor of the organization until the transaction ends; services are locked after monitors. NOT_FOUND. */
export async function lockSslMonitor(tx: Transaction, organizationId: string, id: string): Promise<SslMonitorRow> {
  const [row] = isUuid(id) ? await tx.select().from(sslMonitors).where(ownSslMonitor(organizationId, id)).for("no key update") : [];
  if (!row) throw noSuchSslMonitor();
  return row;
}
