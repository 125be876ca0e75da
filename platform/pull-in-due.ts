import { sql, type SQL } from "drizzle-orm";
import type { claimDue } from "./claim-due.ts";
import type { Queries } from "./postgres/database.ts";

/** Clocks of two schedulers may differ by so much. */
const CLOCK_SKEW_MS = 10_000;

interface PullInNeeds {
  table: Parameters<typeof claimDue>[1]["table"];
  /** Which rows are work at all. */
  condition: SQL;
  /** The longest that a row which nobody holds is planned ahead, in ms. */
  aheadMs: SQL;
  leaseMs: number;
  now: Date;
}

/**
 * Due work that is planned for later than any can be was planned before the clock was put back: it is due as late as it can be from now on. May
 * be repeated, by any number of processes. Returns how many rows.
 */
export async function pullInDue(queries: Queries, { table, condition, aheadMs, leaseMs, now }: PullInNeeds): Promise<number> {
  const longest = sql`(case when lease_token is null then ${aheadMs} else ${leaseMs}::numeric end)`;
  const inMs = (ms: SQL) => sql`${now.toISOString()}::timestamptz + ${ms} * interval '1 millisecond'`;
  const { rowCount } = await queries.execute(sql`
    update ${table} set due_at = ${inMs(longest)}
    where (${condition}) and due_at > ${inMs(sql`(${longest} + ${CLOCK_SKEW_MS}::numeric)`)}`);
  return rowCount ?? 0;
}
