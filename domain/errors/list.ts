import { count, desc } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Database } from "../../platform/postgres/database.ts";
import type { ErrorListQuery, ErrorSignature } from "../../schemas/api/errors.ts";
import { errorSignatures } from "../../schemas/tables/all.ts";
import { chooseSignatures } from "./choose.ts";
import { showSignatures } from "./show.ts";

/** Signatures last seen first. `release`, `environment` and the dates match those with any event there; counts stay totals. */
export async function listErrors(
  needs: { database: Database; clickhouse: ClickHouse },
  organizationId: string,
  filter: ErrorListQuery,
  now: number,
): Promise<{ errors: ErrorSignature[]; total: number }> {
  const { database, clickhouse } = needs;
  const chosen = await chooseSignatures(needs, organizationId, filter, now);
  if (chosen === null) return { errors: [], total: 0 };
  const [rows, [counted]] = await Promise.all([
    database.select().from(errorSignatures).where(chosen).orderBy(desc(errorSignatures.lastSeen), desc(errorSignatures.id)).limit(filter.limit).offset(filter.offset),
    database.select({ total: count() }).from(errorSignatures).where(chosen),
  ]);
  return { errors: await showSignatures(clickhouse, rows, now), total: counted?.total ?? 0 };
}
