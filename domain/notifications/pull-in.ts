import { sql } from "drizzle-orm";
import { pullInDue } from "../../platform/pull-in-due.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { channels, notifications } from "../../schemas/tables/all.ts";

/** Clocks of two schedulers may differ by so much. */
const CLOCK_SKEW_MS = 10_000;

/** The longest step between two tries (`planRetry`), in ms. */
const LONGEST_STEP_MS = 2 * 3_600_000;

/**
 * Channels and what waits for them, as if what was planned or tried before the clock was put back were so now: a channel that stands still
 * until the old time comes again tells nobody of an outage. A vendor's Retry-After is forgotten, which it says once more. May be repeated.
 */
export async function pullInNotifications(database: Database, now: Date, leaseMs: number): Promise<number> {
  const at = sql`${now.toISOString()}::timestamptz`;
  const future = sql`${at} + ${CLOCK_SKEW_MS}::numeric * interval '1 millisecond'`;
  const moved = await pullInDue(database, { table: channels, condition: sql`true`, aheadMs: sql`0`, leaseMs, now });
  const { rowCount } = await database.execute(sql`
    update ${notifications}
    set due_at = least(due_at, ${at}), created_at = least(created_at, ${at}), first_attempt_at = least(first_attempt_at, ${at})
    where status = 'pending' and (created_at > ${future} or first_attempt_at > ${future} or due_at > ${future} + ${LONGEST_STEP_MS}::numeric * interval '1 millisecond')`);
  return moved + (rowCount ?? 0);
}
