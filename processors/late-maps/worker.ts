import { groupAgain, type Group } from "../../domain/errors/group-again.ts";
import type { UnmappedRow } from "../../domain/errors/read-unmapped.ts";
import { makeMapsReading, type MapsOfTask } from "../errors/maps-in-thread.ts";

export interface GroupsTask {
  rows: UnmappedRow[];
  maps?: MapsOfTask;
}

/** What each of the errors is grouped as with the maps of now, in the same order. */
export function groupsOfRows({ rows, maps }: GroupsTask): Promise<Group[]> | Group[] {
  if (!maps) return rows.map((row) => groupAgain(row, null));
  return makeMapsReading(maps)((mapsOf) => rows.map((row) => groupAgain(row, mapsOf(row.service_id, row.release, row.debug_ids === "" ? null : (JSON.parse(row.debug_ids) as Record<string, string>)))));
}
