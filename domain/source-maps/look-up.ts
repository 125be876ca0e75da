import { and, eq, inArray } from "drizzle-orm";
import type { Queries } from "../../platform/postgres/database.ts";
import type { LookUpSourceMap, SourceMapLookup } from "../../schemas/api/source-maps.ts";
import type { UnmappedReason } from "../../schemas/frames.ts";
import { sourceMaps } from "../../schemas/tables/all.ts";
import { findService } from "../services/read.ts";
import { readIndex, type MapKey } from "./find-maps.ts";
import { openIndex, type FlatIndex } from "./flat-index.ts";
import { keysOf, matchUrl } from "./match-url.ts";
import { originalOf } from "./original-of.ts";

/** Where a place of a script comes from, or why that is not known. NOT_FOUND for the service. */
export async function lookUpSourceMap(queries: Queries, organizationId: string, { service_id: serviceId, release, url, line, column }: LookUpSourceMap): Promise<SourceMapLookup> {
  const { service } = await findService(queries, organizationId, serviceId);
  const hash = await findHash(queries, service.id, release, url);
  if (hash === null) return unmapped("no_map_for_url");
  const index = await openMap(queries, `${organizationId} ${hash}`);
  if (index === null) return unmapped("map_invalid");
  const found = originalOf(index, line, column);
  return found === null ? unmapped("position_not_in_map") : { ...found, unmapped_reason: null };
}

function unmapped(reason: UnmappedReason): SourceMapLookup {
  return { original: null, unmapped_reason: reason, ignored: false };
}

/** Of the map that fits best. */
async function findHash(queries: Queries, serviceId: string, release: string, url: string): Promise<string | null> {
  const rows = await queries.select({ url: sourceMaps.url, hash: sourceMaps.hash }).from(sourceMaps).where(and(eq(sourceMaps.serviceId, serviceId), eq(sourceMaps.release, release), inArray(sourceMaps.url, keysOf(url))));
  return matchUrl(new Map(rows.map((row) => [row.url, row.hash])), url);
}

/** Null for one that cannot be read: of another layout, damaged, or deleted meanwhile. */
export async function openMap(queries: Queries, map: MapKey): Promise<FlatIndex | null> {
  const bytes = await readIndex(queries, map);
  try {
    return bytes && openIndex(bytes);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
