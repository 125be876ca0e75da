import { eq, isNotNull, sql, type SQL } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { checkResults } from "../../schemas/tables/all.ts";

const BATCH = 5_000;

/** With so many waiting an insert is worth its cost. */
const WORTH = 500;

/** A condition: whether results wait that are older than `quietMs`, that are many, or that a cut-off batch left behind. */
export function resultsAreDue(now: SQL, quietMs: number): SQL {
  const old = sql`exists (select from ${checkResults} where ${checkResults.checkedAt} <= ${now} - ${quietMs} * interval '1 ms' or ${checkResults.batch} is not null)`;
  return sql`${old} or (select count(*) = ${WORTH} from (select from ${checkResults} limit ${WORTH}) as waiting)`;
}

/**
 * Brings results from Postgres to ClickHouse: once each, wherever it is cut off. A batch is named before it is inserted, and its name is the
 * insert's token, so that whoever finds it again inserts the same rows under the same token. True when there is more.
 */
export async function storeResults({ database, clickhouse }: { database: Database; clickhouse: ClickHouse }): Promise<boolean> {
  return inTransaction(database, async (tx) => {
    // One scheduler at a time: two must not insert one batch at once.
    const { rows: [lock] } = await tx.execute<{ mine: boolean }>(sql`select pg_try_advisory_xact_lock(hashtext('check_results')) as mine`);
    if (!lock!.mine) return false;
    const [open] = await tx.select({ batch: checkResults.batch }).from(checkResults).where(isNotNull(checkResults.batch)).limit(1);
    const batch = open?.batch ?? (await nameBatch(database));
    if (batch === null) return false;
    const { rows } = await tx.execute<{ row: Record<string, unknown> }>(sql`
      select result || jsonb_build_object('id', id, 'organization_id', organization_id, 'kind', kind, 'monitor_id', monitor_id,
        'checked_at', to_char(checked_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')) as row
      from ${checkResults} where ${checkResults.batch} = ${batch} order by id`);
    if (rows.length === 0) return false;
    await clickhouse.insert("check_results", rows.map(({ row }) => row), { token: batch, queryId: batch });
    await tx.delete(checkResults).where(eq(checkResults.batch, batch));
    return rows.length === BATCH;
  });
}

/** Committed by itself, before anything is inserted under the name; null when nothing waits. */
async function nameBatch(database: Database): Promise<string | null> {
  return inTransaction(database, async (tx) => {
    const batch = newId();
    const { rowCount } = await tx.execute(sql`
      update ${checkResults} set batch = ${batch}
      where id in (select id from ${checkResults} where batch is null order by id limit ${BATCH} for update skip locked)`);
    return rowCount === 0 ? null : batch;
  });
}
