import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { CreateMaintenanceWindow, MaintenanceWindow } from "../../schemas/api/maintenance-windows.ts";
import { maintenanceWindows, maintenanceWindowServices } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { emitEvents } from "../events/emit.ts";
import { findServices } from "../incidents/find-services.ts";
import { lockServices } from "../services/lock.ts";
import { checkTimes } from "./decide-change.ts";
import { auditedWindow, maintenanceEvent } from "./describe.ts";
import { getMaintenanceWindow } from "./read.ts";

/**
 * Plans a maintenance window; its services stay as they are until it starts. INVALID_REQUEST for its times, its rule, or with
 * the place of a service that is unknown or ambiguous.
 */
export async function createMaintenanceWindow(database: Database, actor: Actor, input: CreateMaintenanceWindow, at: Date): Promise<MaintenanceWindow> {
  const [startsAt, endsAt] = [new Date(input.starts_at), new Date(input.ends_at)];
  const rrule = checkTimes(startsAt, endsAt, input.rrule);
  const { organizationId } = actor;
  const { title, description, auto_start: autoStart, auto_complete: autoComplete, notify_before_minutes: notifyBeforeMinutes } = input;
  return inTransaction(database, async (tx) => {
    const locked = await lockServices(tx, await findServices(tx, organizationId, input.services));
    const values = { id: newId(), organizationId, title, description, startsAt, endsAt, rrule, autoStart, autoComplete, notifyBeforeMinutes, createdAt: at, updatedAt: at };
    const [window] = await tx.insert(maintenanceWindows).values(values).returning();
    if (locked.length > 0) await tx.insert(maintenanceWindowServices).values(locked.map(({ id }) => ({ organizationId, maintenanceWindowId: window!.id, serviceId: id })));
    await emitEvents(tx, [maintenanceEvent({ type: "maintenance.scheduled", window: window!, services: locked, message: "", at })]);
    await recordAudit(tx, actor, { action: "maintenance_window.created", resourceType: "maintenance_window", resourceId: window!.id, before: null, after: auditedWindow(window!, locked) });
    return getMaintenanceWindow(tx, organizationId, window!.id);
  });
}
