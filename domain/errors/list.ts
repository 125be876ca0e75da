import { and, count, desc, eq, inArray, type SQL } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Database } from "../../platform/postgres/database.ts";
import type { ErrorListQuery, ErrorSignature } from "../../schemas/api/errors.ts";
import { errorEnvironments, errorSignatures } from "../../schemas/tables/all.ts";
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
  const { id, lastSeen } = errorSignatures;
  const order = [desc(lastSeen), desc(id)];
  // The ids first, by the list's index alone: only the rows of the page are read.
  const page = database.select({ id }).from(errorSignatures).where(chosen).orderBy(...order).limit(filter.limit).offset(filter.offset);
  const rows = await database.select().from(errorSignatures).where(inArray(id, page)).orderBy(...order);
  const [errors, total] = await Promise.all([showSignatures(clickhouse, rows, now), countAll(database, organizationId, chosen, filter, rows.length)]);
  return { errors, total };
}

/** How many match. A page that is not full, unless it lies behind the end, is the last and tells it. */
async function countAll(database: Database, organizationId: string, chosen: SQL, { limit, offset, ...filter }: ErrorListQuery, shown: number): Promise<number> {
  if (shown < limit && (shown > 0 || offset === 0)) return offset + shown;
  const { environment, ...others } = filter;
  const onlyEnvironment = environment !== undefined && Object.values(others).every((each) => each === undefined);
  const [counted] = onlyEnvironment
    ? await database.select({ total: count() }).from(errorEnvironments).where(and(eq(errorEnvironments.organizationId, organizationId), eq(errorEnvironments.environment, environment)))
    : await database.select({ total: count() }).from(errorSignatures).where(chosen);
  return counted?.total ?? 0;
}
