import { sql } from "drizzle-orm";
import type { Queries } from "../../platform/postgres/database.ts";
import { webhookDeliveries } from "../../schemas/tables/all.ts";

const WINDOW_MS = 7 * 24 * 60 * 60_000;

/** So many of the latest deliveries are looked at: a busy webhook has millions in a week. */
const MOST = 10_000;

/**
 * Per cent of the events of the last 7 days, rounded to two places, that arrived at a webhook, at whichever attempt. Tests do not count, nor events
 * of which no attempt has ended. Null when there are none.
 */
export async function readSuccessRate(queries: Queries, webhookId: string, now: Date): Promise<number | null> {
  const { rows } = await queries.execute<{ arrived: string; attempted: string }>(sql`
    with latest as materialized (
      select event_id, status from ${webhookDeliveries}
      where webhook_id = ${webhookId} and created_at > ${new Date(now.getTime() - WINDOW_MS).toISOString()}::timestamptz
        and status in ('delivered', 'failed') and trigger <> 'test'
      order by created_at desc limit ${MOST}
    )
    select count(distinct event_id) filter (where status = 'delivered') as arrived, count(distinct event_id) as attempted from latest`);
  const [arrived, attempted] = [Number(rows[0]!.arrived), Number(rows[0]!.attempted)];
  return attempted === 0 ? null : Math.round((arrived / attempted) * 10_000) / 100;
}
