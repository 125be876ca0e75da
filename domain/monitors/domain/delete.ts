import { eq } from "drizzle-orm";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import { inTransaction, type Database } from "../../../platform/postgres/database.ts";
import { domainMonitors } from "../../../schemas/tables/all.ts";
import type { Actor } from "../../actor.ts";
import { recordAudit } from "../../audit/record.ts";
import { deleteCheckHistory } from "../check-history.ts";
import { weighOnServices } from "../weigh-on-services.ts";
import { lockDomainMonitor } from "./lock.ts";
import { showDomainMonitor } from "./read.ts";
import { weighs } from "./record.ts";

/** Deletes a monitor with its history, and withdraws what it says of its service. NOT_FOUND, UNAVAILABLE. */
export async function deleteDomainMonitor({ database, clickhouse }: { database: Database; clickhouse: ClickHouse }, actor: Actor, id: string, at: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    const row = await lockDomainMonitor(tx, actor.organizationId, id);
    await tx.delete(domainMonitors).where(eq(domainMonitors.id, row.id));
    if (weighs(row)) await weighOnServices(tx, [row.serviceId], at);
    await recordAudit(tx, actor, { action: "domain_monitor.deleted", resourceType: "domain_monitor", resourceId: row.id, before: showDomainMonitor(row), after: null });
    // Last: it waits for ClickHouse, and cannot be undone.
    await deleteCheckHistory(tx, clickhouse, row);
  });
}
