import { sql } from "drizzle-orm";
import { pullInDue } from "../../platform/pull-in-due.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { announcements, mails, subscriberPosts } from "../../schemas/tables/all.ts";
import { DELAYS } from "./plan-send.ts";

/** What is to be sent, and announced to subscribers, and was planned before the clock was put back: the last delay begins anew. May be repeated. */
export async function pullInMails(database: Database, now: Date, leaseMs: number): Promise<number> {
  const aheadMs = sql`coalesce((${sql.param([...DELAYS])}::numeric[])[attempts], 0)`;
  let moved = await pullInDue(database, { table: announcements, condition: sql`true`, aheadMs: sql`0`, leaseMs, now });
  for (const table of [mails, subscriberPosts]) moved += await pullInDue(database, { table, condition: sql`status = 'pending'`, aheadMs, leaseMs, now });
  return moved;
}
