import { sql } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { webhookDeliveries } from "../../schemas/tables/all.ts";

/** Clocks of two schedulers may differ by so much. */
const CLOCK_SKEW_MS = 10_000;

/**
 * Deliveries that were planned in the future, before the clock was put back, are planned as if that were now: a retry in five minutes stays
 * one in five minutes. A claim lasts its whole lease from now on. May be repeated, by any number of processes. Returns how many.
 */
export async function pullInDeliveries(database: Database, now: Date, leaseMs: number): Promise<number> {
  const at = sql`${now.toISOString()}::timestamptz`;
  const { rowCount } = await database.execute(sql`
    update ${webhookDeliveries} as planned
    set due_at = moved.due_at, created_at = ${at}, next_retry_at = case when next_retry_at is null then null else moved.due_at end
    from (
      select id, case when lease_token is null then ${at} + (due_at - created_at) else least(due_at, ${at} + ${leaseMs}::numeric * interval '1 millisecond') end as due_at
      from ${webhookDeliveries} where status = 'pending' and created_at > ${at} + ${CLOCK_SKEW_MS}::numeric * interval '1 millisecond' for update
    ) as moved
    where planned.id = moved.id`);
  return rowCount ?? 0;
}
