import { asc, eq, inArray, isNotNull, isNull, sql } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { checkResults } from "../../schemas/tables/all.ts";

const BATCH = 5_000;

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
    const rows = await tx.select().from(checkResults).where(eq(checkResults.batch, batch)).orderBy(asc(checkResults.id));
    if (rows.length === 0) return false;
    await clickhouse.insert(
      "check_results",
      rows.map(({ id, organizationId, kind, monitorId, checkedAt, result }) => ({ id, organization_id: organizationId, kind, monitor_id: monitorId, checked_at: checkedAt.toISOString().replace("T", " ").slice(0, 23), ...result })),
      { token: batch, queryId: batch },
    );
    await tx.delete(checkResults).where(eq(checkResults.batch, batch));
    return rows.length === BATCH;
  });
}

/** Committed by itself, before anything is inserted under the name; null when nothing waits. */
async function nameBatch(database: Database): Promise<string | null> {
  return inTransaction(database, async (tx) => {
    const waiting = await tx.select({ id: checkResults.id }).from(checkResults).where(isNull(checkResults.batch)).orderBy(asc(checkResults.id)).limit(BATCH).for("update", { skipLocked: true });
    if (waiting.length === 0) return null;
    const batch = newId();
    await tx.update(checkResults).set({ batch }).where(inArray(checkResults.id, waiting.map(({ id }) => id)));
    return batch;
  });
}
