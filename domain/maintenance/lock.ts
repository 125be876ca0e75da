import { eq } from "drizzle-orm";
import { isUuid } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { maintenanceWindows, maintenanceWindowServices } from "../../schemas/tables/all.ts";
import { lockServices } from "../services/lock.ts";
import { noSuchWindow, ownWindow, servicesOfWindows, type WindowRow } from "./read.ts";

/**
 * Locks a maintenance window with its services and those that it will have (`alsoServices`, of which those that still exist come
 * back as `joining`): services first, as everybody does. NOT_FOUND for ids that are unknown, malformed or of another organization.
 */
export async function lockWindow(
  tx: Transaction,
  organizationId: string,
  id: string,
  alsoServices: readonly string[] = [],
): Promise<{ window: WindowRow; services: { id: string; name: string }[]; joining: string[] }> {
  // Whose it is comes first: another organization's services are not locked even for a moment.
  const [known] = isUuid(id) ? await tx.select({ id: maintenanceWindows.id }).from(maintenanceWindows).where(ownWindow(organizationId, id)) : [];
  if (!known) throw noSuchWindow();
  const linked = await tx.select({ serviceId: maintenanceWindowServices.serviceId }).from(maintenanceWindowServices).where(eq(maintenanceWindowServices.maintenanceWindowId, known.id));
  const expected = [...linked.map(({ serviceId }) => serviceId), ...alsoServices];
  const existing = new Set((await lockServices(tx, expected)).map((service) => service.id));
  const [window] = await tx.select().from(maintenanceWindows).where(ownWindow(organizationId, known.id)).for("no key update");
  if (!window) throw noSuchWindow();
  const services = (await servicesOfWindows(tx, [window.id])).map(({ id, name }) => ({ id, name }));
  // Somebody may have linked further services between the two locks. Out of order, this can deadlock; then it is retried.
  const surprising = services.filter((service) => !expected.includes(service.id));
  await lockServices(tx, surprising.map((service) => service.id));
  return { window, services, joining: alsoServices.filter((serviceId) => existing.has(serviceId)) };
}
