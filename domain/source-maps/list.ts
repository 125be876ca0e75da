import { and, desc, eq } from "drizzle-orm";
import { isUuid } from "../../platform/ids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import type { SourceMapListItem, SourceMapListQuery } from "../../schemas/api/source-maps.ts";
import { releases, sourceMapFiles, sourceMaps } from "../../schemas/tables/all.ts";

/** An organization's source maps, latest upload first. A service that is unknown or foreign has none. */
export async function listSourceMaps(queries: Queries, organizationId: string, { service_id: serviceId, release, limit, offset }: SourceMapListQuery): Promise<SourceMapListItem[]> {
  if (serviceId !== undefined && !isUuid(serviceId)) return [];
  const rows = await queries
    .select({ map: sourceMaps, sizeBytes: sourceMapFiles.sizeBytes, environment: releases.environment })
    .from(sourceMaps)
    .innerJoin(sourceMapFiles, and(eq(sourceMapFiles.organizationId, sourceMaps.organizationId), eq(sourceMapFiles.hash, sourceMaps.hash)))
    .leftJoin(releases, and(eq(releases.serviceId, sourceMaps.serviceId), eq(releases.version, sourceMaps.release)))
    .where(and(eq(sourceMaps.organizationId, organizationId), serviceId === undefined ? undefined : eq(sourceMaps.serviceId, serviceId), release === undefined ? undefined : eq(sourceMaps.release, release)))
    .orderBy(desc(sourceMaps.uploadedAt), desc(sourceMaps.id))
    .limit(limit)
    .offset(offset);
  return rows.map(({ map, sizeBytes, environment }) => ({
    id: map.id,
    release_version: map.release,
    file_url: map.url,
    environment,
    service_id: map.serviceId,
    debug_id: map.debugId,
    size_bytes: sizeBytes,
    created_at: map.uploadedAt.toISOString(),
  }));
}
