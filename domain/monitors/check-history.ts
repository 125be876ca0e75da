import { and, eq, gte, sql } from "drizzle-orm";
import { ClickHouseUnavailable, type ClickHouse } from "../../platform/clickhouse/port.ts";
import { Failure } from "../../platform/failures.ts";
import type { Database, Transaction } from "../../platform/postgres/database.ts";
import { checkResults } from "../../schemas/tables/all.ts";
import type { CheckResultRow } from "./note-check.ts";

/** For so long results are kept. */
const KEPT_MS = 30 * 86_400_000;

/** More than a monitor of certificates or registrations has in that time, even if no check of it succeeds. */
const MOST = 5_000;

interface KeptCheck {
  checkedAt: Date;
  result: Pick<CheckResultRow, "status" | "error" | "days_until_expiry" | "is_valid">;
}

interface Subject {
  id: string;
  organizationId: string;
}

/** The checks of the last 30 days, newest first: those in ClickHouse, and those on their way there. UNAVAILABLE. */
export async function readCheckHistory({ database, clickhouse }: { database: Database; clickhouse: ClickHouse }, { id, organizationId }: Subject, at: Date): Promise<KeptCheck[]> {
  const from = new Date(at.getTime() - KEPT_MS);
  // In this order: what is brought over in between is then found twice, not never.
  const waiting = await database.select().from(checkResults).where(and(eq(checkResults.organizationId, organizationId), eq(checkResults.monitorId, id), gte(checkResults.checkedAt, from)));
  const stored = await orUnavailable(() =>
    clickhouse.query<KeptCheck["result"] & { id: string; checked_at: string }>(
      `SELECT id, checked_at, status, error, days_until_expiry, is_valid FROM check_results
       WHERE monitor_id = {monitor:UUID} AND organization_id = {organization:UUID} AND checked_at >= {from:DateTime64(3, 'UTC')} ORDER BY checked_at DESC LIMIT ${MOST}`,
      { monitor: id, organization: organizationId, from: from.toISOString().replace("T", " ").slice(0, 23) },
    ),
  );
  const byId = new Map<string, KeptCheck>(waiting.map(({ id: check, checkedAt, result }) => [check, { checkedAt, result: result as unknown as CheckResultRow }]));
  for (const { id: check, checked_at: checkedAt, ...result } of stored) byId.set(check, { checkedAt: new Date(`${checkedAt.replace(" ", "T")}Z`), result });
  return [...byId.values()].sort((left, right) => right.checkedAt.getTime() - left.checkedAt.getTime()).slice(0, MOST);
}

/**
 * Removes a monitor's results, in the transaction that deletes the monitor: none are brought to ClickHouse meanwhile (`store-results.ts`), and when
 * ClickHouse cannot be reached nothing is deleted at all. UNAVAILABLE.
 */
export async function deleteCheckHistory(tx: Transaction, clickhouse: ClickHouse, { id, organizationId }: Subject): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('check_results'))`);
  await tx.delete(checkResults).where(and(eq(checkResults.organizationId, organizationId), eq(checkResults.monitorId, id)));
  await orUnavailable(() => clickhouse.command("DELETE FROM check_results WHERE monitor_id = {monitor:UUID} AND organization_id = {organization:UUID}", { monitor: id, organization: organizationId }));
}

async function orUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ClickHouseUnavailable) throw new Failure("UNAVAILABLE", "The store of check results cannot be reached at the moment.", { fix: "Try again in a few seconds.", retryAfter: 5 });
    throw error;
  }
}
