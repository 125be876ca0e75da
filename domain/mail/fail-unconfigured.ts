import { sql } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { mails } from "../../schemas/tables/all.ts";

const AT_ONCE = 1_000;

/** Records due mails as failed, because there is no server to give them to. Returns how many. */
export async function failUnconfigured(database: Database, now: Date): Promise<number> {
  const at = sql`${now.toISOString()}::timestamptz`;
  const { rowCount } = await database.execute(sql`
    with due as materialized (select id from ${mails} where status = 'pending' and due_at <= ${at} order by due_at limit ${AT_ONCE} for update skip locked)
    update ${mails} set status = 'failed', error = 'not configured: SMTP_URL is not set', text = null, html = null, headers = null, lease_token = null, finished_at = ${at}
    from due where ${mails.id} = due.id`);
  return rowCount ?? 0;
}
