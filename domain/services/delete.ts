import { asc, eq, sql } from "drizzle-orm";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import { heartbeatMonitors, incidents, incidentServices, maintenanceWindows, maintenanceWindowServices, services } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { lockServices } from "./lock.ts";
import { findService, showService } from "./read.ts";

/** Deletes a service with its history; incidents and monitors that had it stay, without it. NOT_FOUND. */
export async function deleteService(database: Database, actor: Actor, id: string): Promise<void> {
  await inTransaction(database, async (tx) => {
    await findService(tx, actor.organizationId, id);
    // The deletion unlinks its monitors; whoever holds a monitor may be waiting for the service, never the other way round.
    await tx.select({ id: heartbeatMonitors.id }).from(heartbeatMonitors).where(eq(heartbeatMonitors.serviceId, id)).orderBy(asc(heartbeatMonitors.id)).for("no key update");
    // Whoever holds an incident may be waiting for its services, so they come first; and again, for one that was opened meanwhile.
    await markLoss(tx, id);
    await lockServices(tx, [id]);
    await markLoss(tx, id);
    const found = await findService(tx, actor.organizationId, id);
    await tx.delete(services).where(eq(services.id, id));
    await recordAudit(tx, actor, { action: "service.deleted", resourceType: "service", resourceId: id, before: showService(found), after: null });
  });
}

/** What was only about this service must not look as if it were about everything: pages show that to everybody. */
async function markLoss(tx: Transaction, serviceId: string): Promise<void> {
  await tx.execute(sql`update ${incidents} set lost_services = true
    where not lost_services and id in (select incident_id from ${incidentServices} where service_id = ${serviceId})`);
  await tx.execute(sql`update ${maintenanceWindows} set lost_services = true
    where not lost_services and id in (select maintenance_window_id from ${maintenanceWindowServices} where service_id = ${serviceId})`);
}
