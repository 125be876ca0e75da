import { asc, eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { heartbeatMonitors, services } from "../../schemas/tables/all.ts";
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
    await lockServices(tx, [id]);
    const found = await findService(tx, actor.organizationId, id);
    await tx.delete(services).where(eq(services.id, id));
    await recordAudit(tx, actor, { action: "service.deleted", resourceType: "service", resourceId: id, before: showService(found), after: null });
  });
}
