import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { services } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { lockServices } from "./lock.ts";
import { findService, showService } from "./read.ts";

/** Deletes a service with its history; incidents and monitors that had it stay, without it. NOT_FOUND. */
export async function deleteService(database: Database, actor: Actor, id: string): Promise<void> {
  await inTransaction(database, async (tx) => {
    await findService(tx, actor.organizationId, id);
    await lockServices(tx, [id]);
    const found = await findService(tx, actor.organizationId, id);
    await tx.delete(services).where(eq(services.id, id));
    await recordAudit(tx, actor, { action: "service.deleted", resourceType: "service", resourceId: id, before: showService(found), after: null });
  });
}
