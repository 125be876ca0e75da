import { and, asc, eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import type { Service, ServiceListQuery } from "../../schemas/api/services.ts";
import { organizations, services } from "../../schemas/tables/all.ts";
import type { Thresholds } from "../../schemas/thresholds.ts";
import { effectiveThresholds } from "./effective-thresholds.ts";

interface FoundService {
  service: typeof services.$inferSelect;
  /** Its organization's default thresholds. */
  defaults: Thresholds | null;
}

/** Services of an organization, in display order. */
export async function listServices(queries: Queries, organizationId: string, { limit, offset }: ServiceListQuery): Promise<Service[]> {
  const rows = await withDefaults(queries).where(eq(services.organizationId, organizationId)).orderBy(asc(services.displayOrder), asc(services.createdAt), asc(services.id)).limit(limit).offset(offset);
  return rows.map(showService);
}

/** NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function getService(queries: Queries, organizationId: string, id: string): Promise<Service> {
  return showService(await findService(queries, organizationId, id));
}

/** As `getService`, as it is stored. */
export async function findService(queries: Queries, organizationId: string, id: string): Promise<FoundService> {
  const [found] = isUuid(id) ? await withDefaults(queries).where(and(eq(services.organizationId, organizationId), eq(services.id, id))) : [];
  if (!found) throw new Failure("NOT_FOUND", "No such service.");
  return found;
}

export function showService({ service, defaults }: FoundService): Service {
  return {
    id: service.id,
    name: service.name,
    description: service.description,
    status: service.status,
    status_source: service.statusSource,
    display_order: service.displayOrder,
    thresholds: effectiveThresholds(service.thresholds, defaults),
    created_at: service.createdAt.toISOString(),
    updated_at: service.updatedAt.toISOString(),
  };
}

function withDefaults(queries: Queries) {
  return queries
    .select({ service: services, defaults: organizations.defaultThresholds })
    .from(services)
    .innerJoin(organizations, eq(organizations.id, services.organizationId))
    .$dynamic();
}
