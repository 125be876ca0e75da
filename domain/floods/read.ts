import { gt } from "drizzle-orm";
import type { Queries } from "../../platform/postgres/database.ts";
import { floods } from "../../schemas/tables/all.ts";

/** An event id counts once within this time (conventions §8). */
export const REMEMBERED_MS = 60 * 60_000;

export interface Flood {
  organizationId: string;
  /** From when to when its beacons go to `beacons-overflow`, ms since the epoch. */
  since: number;
  until: number;
}

/** Organizations of which an event may stand, or come in again, in either of the two topics. */
export async function readFloods(queries: Queries, now: number): Promise<Flood[]> {
  const rows = await queries.select().from(floods).where(gt(floods.until, new Date(now - REMEMBERED_MS)));
  return rows.map(({ organizationId, since, until }) => ({ organizationId, since: since.getTime(), until: until.getTime() }));
}
