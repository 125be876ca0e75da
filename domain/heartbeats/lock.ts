import { isUuid } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { heartbeatMonitors } from "../../schemas/tables/all.ts";
import { noSuchHeartbeatMonitor, ownHeartbeatMonitor, type HeartbeatMonitorRow } from "./read.ts";

/** Locks a monitor of the organization until the transaction ends; services are locked after monitors. NOT_FOUND. */
export async function lockHeartbeatMonitor(tx: Transaction, organizationId: string, id: string): Promise<HeartbeatMonitorRow> {
  const [row] = isUuid(id) ? await tx.select().from(heartbeatMonitors).where(ownHeartbeatMonitor(organizationId, id)).for("no key update") : [];
  if (!row) throw noSuchHeartbeatMonitor();
  return row;
}
