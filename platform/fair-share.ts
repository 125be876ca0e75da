import { sql, type SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";

type OwnedTable = PgTable & { id: PgColumn; dueAt: PgColumn; organizationId: PgColumn };

interface FairShareNeeds {
  table: OwnedTable;
  /** Which rows are work at all, beside being due. */
  condition: SQL;
  now: Date;
  /** Rows of one organization at a time, those that run already counted. */
  perOrganization: number;
  /** How many of each organization run now. */
  running: ReadonlyMap<string, number>;
}

/** So many due rows are looked at for a claim; what is beyond has its turn when these are gone. */
const WINDOW = 5_000;

/** Ids of due rows, of each organization only as many as it has places free: one that has much to do keeps only its own waiting. */
export function fairShare({ table, condition, now, perOrganization, running }: FairShareNeeds): SQL {
  return sql`
    select id from (
      select due.id, coalesce(busy.running, 0) + row_number() over (partition by due.organization_id order by due.due_at, due.id) as place
      from (
        select ${table.id} as id, ${table.dueAt} as due_at, ${table.organizationId} as organization_id from ${table} left join ${counts(running)} as full_one (id uuid, running int)
          on full_one.id = ${table.organizationId} and full_one.running >= ${perOrganization}
        where ${table.dueAt} <= ${now.toISOString()}::timestamptz and (${condition}) and full_one.id is null
        order by ${table.dueAt} limit ${WINDOW}
      ) as due left join ${counts(running)} as busy (id uuid, running int) on busy.id = due.organization_id
    ) as due where place <= ${perOrganization}`;
}

/** Counts as rows, which a query calls `(id, running)`. */
export function counts(running: ReadonlyMap<string, number>): SQL {
  return sql`jsonb_to_recordset(${JSON.stringify([...running].map(([id, count]) => ({ id, running: count })))}::jsonb)`;
}
