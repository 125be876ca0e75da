import type { Queries } from "../../platform/postgres/database.ts";
import type { StoredFrame, UnmappedReason } from "../../schemas/frames.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import { bytesOfIndexes, hashOf, mapsOfDebugIds, mapsOfReleases, type MapKey } from "../source-maps/find-maps.ts";
import type { FlatIndex } from "../source-maps/flat-index.ts";
import { openMap } from "../source-maps/look-up.ts";
import { matchUrl } from "../source-maps/match-url.ts";
import { storedOriginal } from "../source-maps/original-of.ts";
import { framesOf } from "./left-out.ts";
import { factsOf } from "./stack-facts.ts";
import { symbolicate, type ScriptMaps } from "./symbolicate.ts";

type ShownRow = Pick<BeaconEventRow, "frames" | "stack" | "message" | "release" | "debug_ids">;

/** Rows of more scripts than this, or with larger indexes, are shown with the frames that they were stored with. */
const MOST_MAPS = 10;
const MOST_BYTES = 64 * 1024 * 1024;
const LACKING: ReadonlySet<UnmappedReason> = new Set(["no_release", "no_map_for_url", "map_invalid"] as const);

/**
 * The frames of a service's events, row by row. What is stored never changes, so those that lacked a map when they came are put back to their
 * originals here, with the maps of now.
 */
export async function framesWithMaps(queries: Queries, serviceId: string, rows: readonly ShownRow[]): Promise<StoredFrame[][]> {
  const stored = rows.map(framesOf);
  const lacking = new Map<ShownRow, string[]>();
  for (const [index, row] of rows.entries()) {
    const files = stored[index]!.flatMap(({ file, unmapped_reason: reason }) => (file !== null && reason !== null && LACKING.has(reason) ? [file] : []));
    if (row.stack !== "" && files.length > 0) lacking.set(row, files);
  }
  if (lacking.size === 0) return stored;
  const mapsOf = await findMaps(queries, serviceId, lacking);
  return rows.map((row, index) => {
    const maps = lacking.has(row) ? mapsOf(row) : null;
    const shown = maps && symbolicate(factsOf(row.stack, row.message), maps, row.release).shown;
    return shown ? (JSON.parse(shown) as StoredFrame[]) : stored[index]!;
  });
}

/** Opens what the scripts of frames that lack an original have by now; nothing where that is nothing, or too much. */
async function findMaps(queries: Queries, serviceId: string, lacking: ReadonlyMap<ShownRow, string[]>): Promise<(row: ShownRow) => ScriptMaps | null> {
  const rows = [...lacking.keys()];
  const releases = [...new Set(rows.map(({ release }) => release).filter(Boolean))];
  const debugIds = [...new Set(rows.flatMap((row) => Object.values(debugIdsOf(row))))];
  const [ofReleases, ofIds] = await Promise.all([mapsOfReleases(queries, releases.map((release) => [serviceId, release])), mapsOfDebugIds(queries, debugIds.map((id) => [serviceId, id]))]);
  const byUrl = new Map(releases.map((release, index) => [release, new Map(ofReleases[index])]));
  const byId = new Map(debugIds.map((id, index) => [id, ofIds[index]!]));
  const mapOf = (row: ShownRow, url: string): MapKey | null => {
    const urls = byUrl.get(row.release);
    return byId.get(debugIdsOf(row)[url] ?? "") ?? (urls ? matchUrl(urls, url) : null);
  };

  const news = [...lacking].some(([row, files]) => files.some((file) => mapOf(row, file) !== null));
  if (!news) return () => null;
  const wanted = new Set(rows.flatMap((row) => factsOf(row.stack, row.message).frames.flatMap(({ file }) => (file === null ? [] : (mapOf(row, file) ?? [])))));
  if (wanted.size > MOST_MAPS || (await bytesOfIndexes(queries, [...wanted])) > MOST_BYTES) return () => null;
  const opened = new Map<MapKey, FlatIndex | null>();
  for (const map of wanted) opened.set(map, await openMap(queries, map));
  return (row) => ({
    mapOf: (url) => mapOf(row, url),
    find(map, place) {
      const index = opened.get(map);
      return index ? storedOriginal(index, hashOf(map), place) : "map_invalid";
    },
    known: new WeakMap(),
  });
}

function debugIdsOf({ debug_ids: debugIds }: ShownRow): Record<string, string> {
  return debugIds === "" ? {} : (JSON.parse(debugIds) as Record<string, string>);
}
