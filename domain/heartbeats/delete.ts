import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { heartbeatMonitors } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { lockHeartbeatMonitor } from "./lock.ts";
import { showHeartbeatMonitor } from "./read.ts";
import { weighOnServices } from "../monitors/weigh-on-services.ts";

/** Deletes a monitor and withdraws what it says of its service. NOT_FOUND. */
export async function deleteHeartbeatMonitor(database: Database, actor: Actor, id: string, at: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    const row = await lockHeartbeatMonitor(tx, actor.organizationId, id);
    // The row stays, so that edges hear of the deletion.
    await tx.update(heartbeatMonitors).set({ deletedAt: at }).where(eq(heartbeatMonitors.id, row.id));
    if (row.status === "down") await weighOnServices(tx, [row.serviceId], at);
    await recordAudit(tx, actor, { action: "heartbeat_monitor.deleted", resourceType: "heartbeat_monitor", resourceId: row.id, before: showHeartbeatMonitor(row), after: null });
  });
}
