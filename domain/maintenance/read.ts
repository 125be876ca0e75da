import { and, asc, desc, eq, inArray, sql } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import type { MaintenanceUpdateList, MaintenanceWindow, MaintenanceWindowListQuery } from "../../schemas/api/maintenance-windows.ts";
import type { UpdateListQuery } from "../../schemas/api/shared.ts";
import { maintenanceWindows, maintenanceWindowServices, services } from "../../schemas/tables/all.ts";
import { newestUpdates, OF_WINDOWS, updatesPage } from "../incidents/newest-updates.ts";

export type WindowRow = typeof maintenanceWindows.$inferSelect;

/** Those that start last first, with services and their newest updates, in three statements however many there are. */
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

/** One window with services and its newest updates; NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function getMaintenanceWindow(queries: Queries, organizationId: string, id: string): Promise<MaintenanceWindow> {
  const [row] = isUuid(id) ? await queries.select().from(maintenanceWindows).where(ownWindow(organizationId, id)) : [];
  if (!row) throw noSuchWindow();
  return (await showWindows(queries, [row]))[0]!;
}

/** All updates of a window, newest first, by pages; NOT_FOUND as `getMaintenanceWindow`. */
export async function listMaintenanceUpdates(queries: Queries, organizationId: string, id: string, page: UpdateListQuery): Promise<MaintenanceUpdateList> {
  if (!isUuid(id) || (await queries.$count(maintenanceWindows, ownWindow(organizationId, id))) === 0) throw noSuchWindow();
  const { rows } = await queries.execute<MaintenanceUpdateList & Record<string, unknown>>(updatesPage(OF_WINDOWS, id, page));
  return rows[0]!;
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
  const told = await toldOf(queries, ids);
  const shown = new Map(rows.map((row) => [row.id, showWindow(row)]));
  for (const { windowId, id, name } of affected) shown.get(windowId)!.services.push({ id, name });
  for (const { of, updates, total } of told) Object.assign(shown.get(of)!, { updates, updates_total: total });
  return [...shown.values()];
}

interface Told extends Record<string, unknown> {
  /** The window's id. */
  of: string;
  updates: MaintenanceWindow["updates"];
  total: number;
}

async function toldOf(queries: Queries, ids: string[]): Promise<Told[]> {
  const page = sql`select id, nth from unnest(${sql.param(ids)}::uuid[]) with ordinality as listed (id, nth)`;
  const { rows } = await queries.execute<Told>(sql`with page as materialized (${page}) ${newestUpdates(OF_WINDOWS)}`);
  return rows;
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
    updates_total: 0,
  };
}
