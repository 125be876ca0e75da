import { sql, type SQL } from "drizzle-orm";
import { heartbeatMonitors } from "../../schemas/tables/all.ts";

/** While no deadline is near, proofs and looks for late monitors are so far apart, in ms. */
export const FAR_MS = 5_000;

/** Several times FAR_MS, so that they are a second apart again long before the deadline. */
const NEAR = sql`interval '20 seconds'`;

/**
 * A condition: whether a heartbeat monitor's deadline has passed or comes soon, so that what proves it late must be fresh.
 * A monitor that is made late by a change is seen with the next look.
 */
export function deadlineIsNear(now: SQL): SQL {
  const soon = sql`${now} + ${NEAR}`;
  return sql`exists (select from ${heartbeatMonitors} where status in ('up', 'grace') and deleted_at is null and next_expected_at < ${soon}
      and (status = 'up' or next_expected_at + make_interval(secs => grace_seconds) < ${soon}))
    or exists (select from ${heartbeatMonitors} where status in ('new', 'up', 'grace', 'down') and deleted_at is null
      and last_start_at < ${soon} and last_start_at + make_interval(secs => max_runtime_seconds) < ${soon})`;
}
