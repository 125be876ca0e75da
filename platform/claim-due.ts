import { sql, type SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { newId } from "./ids.ts";
import type { Queries } from "./postgres/database.ts";

/**
 * Due work is a row with `due_at` and `lease_token`. Whoever claims it moves `due_at` to the end of the lease and
 * writes a token; the outcome is recorded `where lease_token = token`, so it counts only while the lease was not
 * taken over. A worker that died leaves a row that is simply due again when its lease has ended.
 */
type DueTable = PgTable & { id: PgColumn; dueAt: PgColumn; leaseToken: PgColumn };

interface ClaimNeeds {
  table: DueTable;
  /** Which rows are work at all, beside being due; an index on `due_at` should have it as its predicate. */
  condition: SQL;
  now: Date;
  /** Longer than the work can take, by enough to record its outcome. */
  leaseMs: number;
  limit: number;
  /** Orders rows that are due at the same moment; unless given any of them comes first. */
  tieBreak?: PgColumn;
}

export interface Claim {
  token: string;
  /** The claimed rows, those that have been due the longest first. */
  ids: string[];
}

/** Claims up to `limit` due rows. Any number of workers may claim at once: none gets another's row, none waits. */
export async function claimDue(queries: Queries, { table, condition, now, leaseMs, limit, tieBreak = table.id }: ClaimNeeds): Promise<Claim> {
  const token = newId();
  const leaseEnd = new Date(now.getTime() + leaseMs);
  // Materialised: inlined, the locking subquery could run more than once and claim more than its limit.
  const { rows } = await queries.execute<{ id: string }>(sql`
    with due as materialized (
      select ${table.id} as id, ${table.dueAt} as was_due_at, ${tieBreak} as place from ${table}
      where ${table.dueAt} <= ${now.toISOString()}::timestamptz and (${condition})
      order by ${table.dueAt}, ${tieBreak} limit ${limit} for update skip locked
    ), claimed as (
      update ${table} set lease_token = ${token}, due_at = ${leaseEnd.toISOString()}::timestamptz
      from due where ${table.id} = due.id
      returning due.id, due.was_due_at, due.place
    )
    select id from claimed order by was_due_at, place`);
  return { token, ids: rows.map(({ id }) => id) };
}
