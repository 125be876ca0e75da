import { and, desc, eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import type { Release, ReleaseListQuery } from "../../schemas/api/releases.ts";
import { releases } from "../../schemas/tables/all.ts";
import { showReleases } from "./show.ts";

/** An organization's releases, newest first. A service that is unknown or foreign has none. */
export async function listReleases(queries: Queries, organizationId: string, { service_id: serviceId, limit, offset }: ReleaseListQuery): Promise<Release[]> {
  if (serviceId !== undefined && !isUuid(serviceId)) return [];
  const rows = await queries
    .select()
    .from(releases)
    .where(and(eq(releases.organizationId, organizationId), serviceId === undefined ? undefined : eq(releases.serviceId, serviceId)))
    .orderBy(desc(releases.createdAt), desc(releases.id))
    .limit(limit)
    .offset(offset);
  return showReleases(queries, rows);
}

/** NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function getRelease(queries: Queries, organizationId: string, id: string): Promise<Release> {
  const rows = isUuid(id) ? await queries.select().from(releases).where(and(eq(releases.organizationId, organizationId), eq(releases.id, id))) : [];
  const [release] = await showReleases(queries, rows);
  if (!release) throw new Failure("NOT_FOUND", "No such release.");
  return release;
}
