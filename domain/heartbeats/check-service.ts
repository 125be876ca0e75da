import { and, eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { services } from "../../schemas/tables/all.ts";

/** NOT_FOUND unless the service to link is the organization's own; null links none. */
export async function checkService(tx: Transaction, organizationId: string, serviceId: string | null): Promise<void> {
  if (serviceId === null) return;
  const [found] = isUuid(serviceId)
    ? await tx.select({ id: services.id }).from(services).where(and(eq(services.organizationId, organizationId), eq(services.id, serviceId))).for("key share")
    : [];
  if (!found) throw new Failure("NOT_FOUND", "No such service.", { path: "/service_id", fix: "GET /api/v1/services lists the ids." });
}
