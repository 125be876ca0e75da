import { eq } from "drizzle-orm";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import { inTransaction, type Database } from "../../../platform/postgres/database.ts";
import { uptimeMonitors } from "../../../schemas/tables/all.ts";
import type { Actor } from "../../actor.ts";
import { recordAudit } from "../../audit/record.ts";
import { deleteCheckHistory } from "../check-history.ts";
import { weighOnServices } from "../weigh-on-services.ts";
import { hasOpinion, lockUptimeMonitor, showUptimeMonitor } from "./read.ts";

interface DeleteNeeds {
  database: Database;
  clickhouse: ClickHouse;
}

/** Deletes a monitor with its results and withdraws what it says of its service; an incident that it opened is left to people. NOT_FOUND, UNAVAILABLE. */
export async function deleteUptimeMonitor({ database, clickhouse }: DeleteNeeds, actor: Actor, id: string, at: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    const row = await lockUptimeMonitor(tx, actor.organizationId, id);
    await tx.delete(uptimeMonitors).where(eq(uptimeMonitors.id, row.id));
    if (hasOpinion(row)) await weighOnServices(tx, [row.serviceId], at);
    await recordAudit(tx, actor, { action: "uptime_monitor.deleted", resourceType: "uptime_monitor", resourceId: row.id, before: showUptimeMonitor(row), after: null });
    await deleteCheckHistory(tx, clickhouse, row);
  });
}
