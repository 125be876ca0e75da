import { and, asc, eq, inArray, or } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import { services } from "../../schemas/tables/all.ts";

/**
 * The ids of services that a person named, each by id or by exact name, without repetitions, in the order in which
 * services are listed. Throws INVALID_REQUEST with the place (`/services/N`) of the first that is unknown or that several services share.
 */
export async function findServices(queries: Queries, organizationId: string, references: readonly string[]): Promise<string[]> {
  if (references.length === 0) return [];
  const wanted = references.map((reference) => reference.trim());
  const ids = wanted.filter(isUuid);
  const named = inArray(services.name, wanted);
  const rows = await queries
    .select({ id: services.id, name: services.name })
    .from(services)
    .where(and(eq(services.organizationId, organizationId), ids.length > 0 ? or(named, inArray(services.id, ids)) : named))
    .orderBy(asc(services.displayOrder), asc(services.createdAt), asc(services.id));
  const picked = new Set(wanted.map((reference, index) => pick(rows, reference, `/services/${index}`)));
  return rows.map(({ id }) => id).filter((id) => picked.has(id));
}

function pick(rows: { id: string; name: string }[], reference: string, path: string): string {
  const byId = rows.find(({ id }) => id === reference.toLowerCase());
  if (byId) return byId.id;
  const byName = rows.filter(({ name }) => name === reference);
  if (byName.length > 1) throw new Failure("INVALID_REQUEST", `${byName.length} services are called "${reference}".`, { path, fix: "Give the id of the one that is meant." });
  if (!byName[0]) throw new Failure("INVALID_REQUEST", `There is no service with the name or id "${reference}".`, { path, fix: "GET /services lists names and ids." });
  return byName[0].id;
}
