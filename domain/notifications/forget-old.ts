import { sql } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { notifications } from "../../schemas/tables/all.ts";

const KEPT_DAYS = 30;
const BATCH = 1_000;

/** Deletes notifications that were told, or given up, more than 30 days ago, some at a time; true when there may be more. Any number may do so at once. */
export async function forgetOldNotifications(database: Database, now: Date): Promise<boolean> {
  const before = new Date(now.getTime() - KEPT_DAYS * 86_400_000);
  const { rowCount } = await database.execute(sql`
    delete from ${notifications} where id in (
      select id from ${notifications} where created_at < ${before.toISOString()}::timestamptz and status <> 'pending' order by created_at limit ${BATCH} for update skip locked
    )`);
  return rowCount === BATCH;
}
