import { and, eq, sql } from "drizzle-orm";
import { uuids } from "../../platform/postgres/uuids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import { sourceMapFiles, sourceMaps } from "../../schemas/tables/all.ts";

/** Names a map's index across organizations: "organization hash". */
export type MapKey = string;

/** The hash in a map's name. */
export function hashOf(map: MapKey): string {
  return map.slice(map.indexOf(" ") + 1);
}

/** Of these services those that have any map. */
export async function servicesWithMaps(queries: Queries, serviceIds: readonly string[]): Promise<Set<string>> {
  const rows = await queries.selectDistinct({ id: sourceMaps.serviceId }).from(sourceMaps).where(sql`${sourceMaps.serviceId} = any(${uuids(serviceIds)})`);
  return new Set(rows.map(({ id }) => id));
}

/** The maps of releases, each as [stored url of the script, map]; in the order asked for. */
export async function mapsOfReleases(queries: Queries, releases: readonly (readonly [serviceId: string, release: string])[]): Promise<[url: string, map: MapKey][][]> {
  const given = JSON.stringify(releases.map(([service, release], index) => ({ index, service, release })));
  const { rows } = await queries.execute<{ index: number; url: string; map: MapKey }>(sql`
    select given.index, map.url, map.organization_id || ' ' || map.hash as map
    from jsonb_to_recordset(${given}::jsonb) as given (index int, service uuid, release text)
    join ${sourceMaps} as map on map.service_id = given.service and map.release = given.release`);
  const found = releases.map((): [string, MapKey][] => []);
  for (const { index, url, map } of rows) found[index]!.push([url, map]);
  return found;
}

/** The maps with these debug ids, of whichever release of the service; the latest upload counts. Null where there is none; in the order asked for. */
export async function mapsOfDebugIds(queries: Queries, wanted: readonly (readonly [serviceId: string, debugId: string])[]): Promise<(MapKey | null)[]> {
  if (wanted.length === 0) return [];
  const given = JSON.stringify(wanted.map(([service, id], index) => ({ index, service, id })));
  const { rows } = await queries.execute<{ index: number; map: MapKey }>(sql`
    select given.index, latest.organization_id || ' ' || latest.hash as map
    from jsonb_to_recordset(${given}::jsonb) as given (index int, service uuid, id uuid)
    cross join lateral (
      select map.organization_id, map.hash from ${sourceMaps} as map
      where map.service_id = given.service and map.debug_id = given.id order by map.uploaded_at desc, map.id limit 1
    ) as latest`);
  const found = wanted.map((): MapKey | null => null);
  for (const { index, map } of rows) found[index] = map;
  return found;
}

/** What the indexes of maps take together. */
export async function bytesOfIndexes(queries: Queries, maps: readonly MapKey[]): Promise<number> {
  const given = JSON.stringify(maps.map((map) => ({ organization: map.slice(0, map.indexOf(" ")), hash: hashOf(map) })));
  const { rows } = await queries.execute<{ bytes: string }>(sql`
    select coalesce(sum(length(file.index)), 0) as bytes from jsonb_to_recordset(${given}::jsonb) as given (organization uuid, hash text)
    join ${sourceMapFiles} as file on file.organization_id = given.organization and file.hash = given.hash`);
  return Number(rows[0]!.bytes);
}

/** A map's index, or null when it was deleted meanwhile. */
export async function readIndex(queries: Queries, map: MapKey): Promise<Buffer | null> {
  const [organizationId, hash] = map.split(" ") as [string, string];
  const [file] = await queries.select({ index: sourceMapFiles.index }).from(sourceMapFiles).where(and(eq(sourceMapFiles.organizationId, organizationId), eq(sourceMapFiles.hash, hash)));
  return file?.index ?? null;
}
