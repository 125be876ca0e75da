import { and, asc, desc, eq, inArray } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import type { MaintenanceWindow, MaintenanceWindowListQuery } from "../../schemas/api/maintenance-windows.ts";
import { maintenanceUpdates, maintenanceWindows, maintenanceWindowServices, services } from "../../schemas/tables/all.ts";

export type WindowRow = typeof maintenanceWindows.$inferSelect;

/** Those that start last first, with services and updates, in three statements however many there are. */
export async function listMaintenanceWindows(queries: Queries, organizationId: string, { status, limit, offset }: MaintenanceWindowListQuery): Promise<MaintenanceWindow[]> {
  const rows = await queries
    .select()
    .from(maintenanceWindows)
    .where(and(eq(maintenanceWindows.organizationId, organizationId), status && eq(maintenanceWindows.status, status)))
    .orderBy(desc(maintenanceWindows.startsAt), desc(maintenanceWindows.id))
    .limit(limit)
    .offset(offset);
  return showWindows(queries, rows);
}

/** One window with services and updates; NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function getMaintenanceWindow(queries: Queries, organizationId: string, id: string): Promise<MaintenanceWindow> {
  const [row] = isUuid(id) ? await queries.select().from(maintenanceWindows).where(ownWindow(organizationId, id)) : [];
  if (!row) throw noSuchWindow();
  return (await showWindows(queries, [row]))[0]!;
}

export function noSuchWindow(): Failure {
  return new Failure("NOT_FOUND", "No such maintenance window.");
}

export function ownWindow(organizationId: string, id: string) {
  return and(eq(maintenanceWindows.organizationId, organizationId), eq(maintenanceWindows.id, id));
}

/** The services of some windows, in the order in which services are listed. */
export async function servicesOfWindows(queries: Queries, windowIds: string[]): Promise<{ windowId: string; id: string; name: string }[]> {
  return queries
    .select({ windowId: maintenanceWindowServices.maintenanceWindowId, id: services.id, name: services.name })
    .from(maintenanceWindowServices)
    .innerJoin(services, eq(services.id, maintenanceWindowServices.serviceId))
    .where(inArray(maintenanceWindowServices.maintenanceWindowId, windowIds))
    .orderBy(asc(services.displayOrder), asc(services.createdAt), asc(services.id));
}

async function showWindows(queries: Queries, rows: WindowRow[]): Promise<MaintenanceWindow[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const affected = await servicesOfWindows(queries, ids);
  const updates = await queries
    .select()
    .from(maintenanceUpdates)
    .where(inArray(maintenanceUpdates.maintenanceWindowId, ids))
    .orderBy(desc(maintenanceUpdates.createdAt), desc(maintenanceUpdates.id));
  const shown = new Map(rows.map((row) => [row.id, showWindow(row)]));
  for (const { windowId, id, name } of affected) shown.get(windowId)!.services.push({ id, name });
  for (const { maintenanceWindowId, id, status, message, createdAt } of updates) {
    shown.get(maintenanceWindowId)!.updates.push({ id, status, message, created_at: createdAt.toISOString() });
  }
  return [...shown.values()];
}

function showWindow(row: WindowRow): MaintenanceWindow {
  return {
    id: row.id,
    title: row.title,
    description: row.description,
    status: row.status,
    starts_at: row.startsAt.toISOString(),
    ends_at: row.endsAt.toISOString(),
    rrule: row.rrule,
    services: [],
    auto_start: row.autoStart,
    auto_complete: row.autoComplete,
    notify_before_minutes: row.notifyBeforeMinutes,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    updates: [],
  };
}
