import { eq } from "drizzle-orm";
import { isUuid } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { incidents, incidentServices } from "../../schemas/tables/all.ts";
import { lockServices } from "../services/lock.ts";
import { affectedServices, noSuchIncident, ownIncident, type IncidentRow } from "./read.ts";

/**
 * Locks an incident with the services that it affects and those that it will (`alsoServices`, of which those that
 * still exist come back as `joining`): services first, as everybody does. NOT_FOUND for ids that are unknown, malformed or of another organization.
 */
export async function lockIncident(
  tx: Transaction,
  organizationId: string,
  id: string,
  alsoServices: readonly string[] = [],
): Promise<{ incident: IncidentRow; services: { id: string; name: string }[]; joining: string[] }> {
  if (!isUuid(id)) throw noSuchIncident();
  const linked = await tx.select({ serviceId: incidentServices.serviceId }).from(incidentServices).where(eq(incidentServices.incidentId, id));
  const expected = [...linked.map(({ serviceId }) => serviceId), ...alsoServices];
  const existing = new Set((await lockServices(tx, expected)).map((service) => service.id));
  const [incident] = await tx.select().from(incidents).where(ownIncident(organizationId, id)).for("no key update");
  if (!incident) throw noSuchIncident();
  const services = (await affectedServices(tx, [id])).map(({ id, name }) => ({ id, name }));
  // Somebody may have linked further services between the two locks. Out of order, this can deadlock; then it is retried.
  const surprising = services.filter((service) => !expected.includes(service.id));
  await lockServices(tx, surprising.map((service) => service.id));
  return { incident, services, joining: alsoServices.filter((serviceId) => existing.has(serviceId)) };
}
