import { lt, sql } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { floods } from "../../schemas/tables/all.ts";
import { REMEMBERED_MS } from "./read.ts";

/** So long every processor has to hear of a flood before its beacons go elsewhere, in ms. */
const NOTICE_MS = 1_500;

/**
 * Announces that an organization's beacons go to `beacons-overflow` from a moment on, and for an hour: as long as an event id counts
 * once, so that a retry comes to where the first try went. While it lasts it is made longer.
 */
export async function announceFlood(database: Database, organizationId: string, now: number): Promise<void> {
  const until = new Date(now + REMEMBERED_MS);
  await database
    .insert(floods)
    .values({ organizationId, since: new Date(now + NOTICE_MS), until })
    .onConflictDoUpdate({ target: floods.organizationId, set: { until, since: sql`case when ${floods.until} < ${new Date(now).toISOString()}::timestamptz then excluded.since else ${floods.since} end` } });
  await database.delete(floods).where(lt(floods.until, new Date(now - REMEMBERED_MS)));
}
