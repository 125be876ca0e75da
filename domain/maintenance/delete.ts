import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { maintenanceWindows } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { auditedWindow } from "./describe.ts";
import { lockWindow } from "./lock.ts";
import { weighOnServices } from "./weigh-on-services.ts";

/** Deletes a window with its updates; services that it held in maintenance are free of it. NOT_FOUND. */
export async function deleteMaintenanceWindow(database: Database, actor: Actor, id: string, at: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    const { window, services } = await lockWindow(tx, actor.organizationId, id);
    await tx.delete(maintenanceWindows).where(eq(maintenanceWindows.id, window.id));
    await weighOnServices(tx, services.map((service) => service.id), at);
    await recordAudit(tx, actor, { action: "maintenance_window.deleted", resourceType: "maintenance_window", resourceId: window.id, before: auditedWindow(window, services), after: null });
  });
}
