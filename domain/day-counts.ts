import { sql } from "drizzle-orm";
import type { Database, Queries } from "../platform/postgres/database.ts";
import { dayCounts } from "../schemas/tables/all.ts";

/** Something that is counted for an organization on the day (UTC) of `at`. */
export interface DayCount {
  organizationId: string;
  subject: string;
  at: Date;
}

/** Rows that one deletion takes at most. */
const BATCH = 1_000;

const DAY_MS = 86_400_000;

/** Counts one more, when fewer than `most` were counted that day. Resolves with whether there was room. */
export async function raiseDayCount(
  queries: Queries,
  { organizationId, subject, at, most }: DayCount & { most: number },
): Promise<boolean> {
  const { rowCount } = await queries.execute(sql`
    insert into ${dayCounts} as counted (organization_id, day, subject, count)
    select ${organizationId}, ${dayOf(at)}::date, ${subject}, 1 where ${most}::int > 0
    on conflict (organization_id, day, subject) do update set count = counted.count + 1
    where counted.count < ${most}::int`);
  return rowCount === 1;
}

/** How many were counted that day. */
export async function readDayCount(
  queries: Queries,
  { organizationId, subject, at }: DayCount,
): Promise<number> {
  const { rows } = await queries.execute<{ count: number }>(sql`
    select count from ${dayCounts}
    where organization_id = ${organizationId} and day = ${dayOf(at)}::date and subject = ${subject}`);
  return rows[0]?.count ?? 0;
}

/** Deletes counts of days that are over, a batch in one statement. Resolves with true when there may be more. */
export async function forgetOldDayCounts(database: Database, now: Date): Promise<boolean> {
  const { rowCount } = await database.execute(sql`
    delete from ${dayCounts} where ctid = any (array(
      select ctid from ${dayCounts} where day < ${dayOf(now)}::date - 1 limit ${BATCH} for update skip locked))`);
  return rowCount === BATCH;
}

/** Whole seconds until the next day (UTC) begins, when counts are zero again. */
export function secondsUntilTomorrow(at: Date): number {
  return Math.ceil((DAY_MS - (at.getTime() % DAY_MS)) / 1_000);
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}
