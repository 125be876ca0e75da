import { and, asc, eq, inArray } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { maintenanceWindows, maintenanceWindowServices } from "../../schemas/tables/all.ts";
import { changeOpinions } from "../services/change-status.ts";

/**
 * Makes the `maintenance` opinion of each service follow from the windows as they now stand in this transaction: there is one
 * exactly while a window of the service is in progress. The caller has locked the services before it wrote windows:
 * otherwise two transactions that each complete the other's last window would both still see one.
 */
export async function weighOnServices(tx: Transaction, serviceIds: readonly string[], at: Date): Promise<void> {
  if (serviceIds.length === 0) return;
  const running = await tx
    .selectDistinctOn([maintenanceWindowServices.serviceId], { serviceId: maintenanceWindowServices.serviceId, title: maintenanceWindows.title })
    .from(maintenanceWindowServices)
    .innerJoin(maintenanceWindows, eq(maintenanceWindows.id, maintenanceWindowServices.maintenanceWindowId))
    .where(and(inArray(maintenanceWindowServices.serviceId, [...serviceIds]), eq(maintenanceWindows.status, "in_progress")))
    .orderBy(asc(maintenanceWindowServices.serviceId), asc(maintenanceWindows.startsAt), asc(maintenanceWindows.id));
  const titles = new Map(running.map(({ serviceId, title }) => [serviceId, title]));
  const changes = serviceIds.map((serviceId) => {
    const title = titles.get(serviceId);
    return title === undefined
      ? { serviceId, source: "maintenance" as const, status: null, reason: "No maintenance is in progress any more." }
      : { serviceId, source: "maintenance" as const, status: "maintenance" as const, reason: `The maintenance "${title}" is in progress.` };
  });
  await changeOpinions(tx, changes, at);
}
