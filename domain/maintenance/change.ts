import { eq } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { AddMaintenanceUpdate, MaintenanceWindow, UpdateMaintenanceWindow } from "../../schemas/api/maintenance-windows.ts";
import { maintenanceUpdates, maintenanceWindows, maintenanceWindowServices, organizations } from "../../schemas/tables/all.ts";
import { systemActor, type Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { emitEvents } from "../events/emit.ts";
import { findServices } from "../incidents/find-services.ts";
import { requireFewUpdates } from "../incidents/require-few-updates.ts";
import { dueOf } from "./decide-due.ts";
import { decideWindowChange } from "./decide-change.ts";
import { auditedWindow, maintenanceEvent } from "./describe.ts";
import { lockWindow } from "./lock.ts";
import { nextOccurrence } from "./next-occurrence.ts";
import { getMaintenanceWindow, servicesOfWindows, type WindowRow } from "./read.ts";
import { weighOnServices } from "./weigh-on-services.ts";

interface Change extends Omit<UpdateMaintenanceWindow, "services"> {
  /** Replaces the services. */
  serviceIds?: string[];
  message?: string;
}

/**
 * Changes a window's own fields, its status and its services; what is left out stays. NOT_FOUND; CONFLICT for a status that cannot
 * follow; INVALID_REQUEST for times, a rule, or with the place of a service that is unknown or ambiguous.
 */
export async function updateMaintenanceWindow(database: Database, actor: Actor, id: string, { services, ...patch }: UpdateMaintenanceWindow, at: Date): Promise<MaintenanceWindow> {
  return inTransaction(database, async (tx) => {
    const serviceIds = services && (await findServices(tx, actor.organizationId, services));
    return changeWindow(tx, actor, id, { ...patch, ...(serviceIds && { serviceIds }) }, at);
  });
}

/** Adds an update and moves the window to its status, if it names one. Racing updates all stay. NOT_FOUND; CONFLICT; PLAN_LIMIT when it has 1,000. */
export async function addMaintenanceUpdate(database: Database, actor: Actor, id: string, update: AddMaintenanceUpdate, at: Date): Promise<MaintenanceWindow> {
  return inTransaction(database, (tx) => changeWindow(tx, actor, id, update, at));
}

/**
 * What is due of a window at `at`: a reminder, its start, or its end, each once, whoever comes first. False when nothing is (any more).
 */
export async function carryOutWindow(database: Database, { id, organizationId }: Pick<WindowRow, "id" | "organizationId">, at: Date): Promise<boolean> {
  return inTransaction(database, async (tx) => {
    const { window, services } = await lockWindow(tx, organizationId, id);
    const due = dueOf(window, at);
    if (due === null) return false;
    if (due.kind === "reminder") {
      await tx.update(maintenanceWindows).set({ remindedOf: window.startsAt }).where(eq(maintenanceWindows.id, id));
      await emitEvents(tx, [maintenanceEvent({ type: "maintenance.scheduled", window, services, message: due.message, at })]);
    } else await changeWindow(tx, systemActor(organizationId, "maintenance"), id, { status: due.status }, at);
    return true;
  });
}

async function changeWindow(tx: Transaction, actor: Actor, id: string, change: Change, at: Date): Promise<MaintenanceWindow> {
  const { window, services, joining } = await lockWindow(tx, actor.organizationId, id, change.serviceIds);
  const { next, event } = decideWindowChange(window, change, at);
  const { message } = change;
  const [changed] = await tx.update(maintenanceWindows).set(next).where(eq(maintenanceWindows.id, window.id)).returning();
  if (message !== undefined) requireFewUpdates("maintenance window", await tx.$count(maintenanceUpdates, eq(maintenanceUpdates.maintenanceWindowId, window.id)));
  if (message !== undefined) await tx.insert(maintenanceUpdates).values({ id: newId(), organizationId: actor.organizationId, maintenanceWindowId: window.id, status: next.status, message, createdAt: next.updatedAt });
  if (change.serviceIds) await replaceServices(tx, window, joining);
  const affected = change.serviceIds ? await servicesOfWindows(tx, [window.id]) : services;
  if (changed!.status === "completed" && changed!.rrule !== null) await planNext(tx, changed!, affected, at);
  // The lock lets one of two racing changes move the status, so each step is told once.
  if (event) await emitEvents(tx, [maintenanceEvent({ type: event, window: changed!, services: affected, message: message ?? "", at: next.updatedAt })]);
  await weighOnServices(tx, [...new Set([...services, ...affected].map((service) => service.id))], next.updatedAt);
  await recordAudit(tx, actor, {
    action: message === undefined ? "maintenance_window.updated" : "maintenance_window.update_added",
    resourceType: "maintenance_window",
    resourceId: window.id,
    before: auditedWindow(window, services),
    after: { ...auditedWindow(changed!, affected), ...(message !== undefined && { message }) },
  });
  return getMaintenanceWindow(tx, actor.organizationId, window.id);
}

/** A recurring window goes on as another one: what was is kept as it was. A cancelled one does not go on. */
async function planNext(tx: Transaction, window: WindowRow, affected: { id: string; name: string }[], at: Date): Promise<void> {
  const { organizationId } = window;
  const [organization] = await tx.select({ timezone: organizations.timezone }).from(organizations).where(eq(organizations.id, organizationId));
  const next = nextOccurrence({ startsAt: window.startsAt, endsAt: window.endsAt, rrule: window.rrule! }, organization!.timezone, at);
  if (!next) return;
  const { title, description, autoStart, autoComplete, notifyBeforeMinutes } = window;
  const [planned] = await tx
    .insert(maintenanceWindows)
    .values({ id: newId(), organizationId, title, description, ...next, autoStart, autoComplete, notifyBeforeMinutes, createdAt: at, updatedAt: at })
    .returning();
  if (affected.length > 0) await tx.insert(maintenanceWindowServices).values(affected.map(({ id }) => ({ organizationId, maintenanceWindowId: planned!.id, serviceId: id })));
  await emitEvents(tx, [maintenanceEvent({ type: "maintenance.scheduled", window: planned!, services: affected, message: "", at })]);
}

async function replaceServices(tx: Transaction, { id: maintenanceWindowId, organizationId }: typeof maintenanceWindows.$inferSelect, serviceIds: string[]): Promise<void> {
  await tx.delete(maintenanceWindowServices).where(eq(maintenanceWindowServices.maintenanceWindowId, maintenanceWindowId));
  // From now on it is about what was chosen, be it none.
  await tx.update(maintenanceWindows).set({ lostServices: false }).where(eq(maintenanceWindows.id, maintenanceWindowId));
  if (serviceIds.length > 0) await tx.insert(maintenanceWindowServices).values(serviceIds.map((serviceId) => ({ organizationId, maintenanceWindowId, serviceId })));
}
