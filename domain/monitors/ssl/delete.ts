import { eq } from "drizzle-orm";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import { inTransaction, type Database } from "../../../platform/postgres/database.ts";
import { sslMonitors } from "../../../schemas/tables/all.ts";
import type { Actor } from "../../actor.ts";
import { recordAudit } from "../../audit/record.ts";
import { deleteCheckHistory } from "../check-history.ts";
import { weighOnServices } from "../weigh-on-services.ts";
import { lockSslMonitor } from "./lock.ts";
import { showSslMonitor } from "./read.ts";
import { weighs } from "./record.ts";

/** Deletes a monitor with its history, and withdraws what it says of its service. NOT_FOUND, UNAVAILABLE. */
export async function deleteSslMonitor({ database, clickhouse }: { database: Database; clickhouse: ClickHouse }, actor: Actor, id: string, at: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    const row = await lockSslMonitor(tx, actor.organizationId, id);
    await tx.delete(sslMonitors).where(eq(sslMonitors.id, row.id));
    // Before services are locked: it waits for ClickHouse.
    await deleteCheckHistory(tx, clickhouse, row);
    if (weighs(row)) await weighOnServices(tx, [row.serviceId], at);
    await recordAudit(tx, actor, { action: "ssl_monitor.deleted", resourceType: "ssl_monitor", resourceId: row.id, before: showSslMonitor(row), after: null });
  });
}
