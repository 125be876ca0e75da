import { sql } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { channels, notifications, organizations } from "../../schemas/tables/all.ts";
import { keptSince } from "../organizations/retention-days.ts";

const BATCH = 1_000;

/**
 * Deletes notifications that were told, or given up, more than 30 days ago, or longer ago than their organization's shorter retention, some at a time; true
 * when there may be more. Any number may do so at once.
 */
export async function forgetOldNotifications(database: Database, now: Date): Promise<boolean> {
  // Channel by channel, because that is how they are in order.
  const { rowCount } = await database.execute(sql`
    delete from ${notifications} where id in (
      select old.id from ${channels} join ${organizations} on ${organizations.id} = ${channels.organizationId} cross join lateral (
        select id from ${notifications} as notification
        where notification.channel_id = ${channels.id} and notification.created_at < ${keptSince(now)} and notification.status <> 'pending'
        order by notification.created_at limit ${BATCH} for update skip locked
      ) as old limit ${BATCH}
    )`);
  return rowCount === BATCH;
}
