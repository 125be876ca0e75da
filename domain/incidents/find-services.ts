import { asc, sql, type SQL } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import { services } from "../../schemas/tables/all.ts";

/** The order in which services are listed. */
const LISTED_ORDER = [asc(services.displayOrder), asc(services.createdAt), asc(services.id)];

/** Whether a service of one of these organizations is named by one of these names and ids. */
export function isServiceNamed(organizationIds: readonly string[], references: readonly string[]): SQL {
  const wanted = [...new Set(references.map((reference) => reference.trim()))];
  const isNamed = sql`${services.name} = any(${sql.param(wanted)}::text[])`;
  const isMeant = sql`(${isNamed} or ${services.id} = any(${uuids(wanted.filter(isUuid))}))`;
  // Arrays, so that the statement's text, which is prepared, is the same for any number of names.
  return sql`${services.organizationId} = any(${uuids(organizationIds)}) and ${isMeant}`;
}

/**
 * The ids of services that a person named, each by id or by exact name, without repetitions, in the
 * order in which services are listed. Throws as `pickServices` does.
 */
export async function findServices(
  queries: Queries,
  organizationId: string,
  references: readonly string[],
): Promise<string[]> {
  if (references.length === 0) return [];
  const rows = await queries
    .select({ id: services.id, name: services.name })
    .from(services)
    .where(isServiceNamed([organizationId], references))
    .orderBy(...LISTED_ORDER);
  return pickServices(rows, references);
}

/**
 * Of services of one organization the ids of those that are named, without repetitions, in the
 * services' order. Throws INVALID_REQUEST with the place (`/services/N`) of the first name that is
 * unknown or that several services share.
 */
export function pickServices(
  known: readonly { id: string; name: string }[],
  references: readonly string[],
): string[] {
  const wanted = references.map((reference) => reference.trim());
  const picked = new Set(wanted.map((reference, index) => pick(known, reference, `/services/${index}`)));
  return known.map(({ id }) => id).filter((id) => picked.has(id));
}

function pick(known: readonly { id: string; name: string }[], reference: string, path: string): string {
  const byId = known.find(({ id }) => id === reference.toLowerCase());
  if (byId) return byId.id;
  const byName = known.filter(({ name }) => name === reference);
  if (byName.length > 1) {
    const message = `${byName.length} services are called "${reference}".`;
    throw new Failure("INVALID_REQUEST", message, { path, fix: "Give the id of the one that is meant." });
  }
  if (!byName[0]) {
    const message = `There is no service with the name or id "${reference}".`;
    throw new Failure("INVALID_REQUEST", message, { path, fix: "GET /services lists names and ids." });
  }
  return byName[0].id;
}
