import { and, eq, inArray, sql, type WithSubquery } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Database } from "../../platform/postgres/database.ts";
import type { ErrorListQuery, ErrorSignature } from "../../schemas/api/errors.ts";
import { errorEnvironments, errorSignatures } from "../../schemas/tables/all.ts";
import { chooseSignatures, LATEST_FIRST, type Chosen } from "./choose.ts";
import { showSignatures } from "./show.ts";

/** From this offset on it is asked first whether anything lies there. */
const DEEP = 10_000;

/** Signatures last seen first. `release`, `environment` and the dates match those with any event there; counts stay totals. */
export async function listErrors(
  needs: { database: Database; clickhouse: ClickHouse },
  organizationId: string,
  filter: ErrorListQuery,
  now: number,
): Promise<{ errors: ErrorSignature[]; total: number }> {
  const { database } = needs;
  const chosen = await chooseSignatures(needs, organizationId, filter, now);
  if (chosen === null) return { errors: [], total: 0 };
  if (chosen.seen) return listSeen(needs, { ...chosen, seen: chosen.seen }, filter, now);
  // Nothing lies behind the end, and to walk there takes long.
  const known = filter.offset >= DEEP ? await countAll(database, organizationId, chosen, filter, 0) : null;
  if (known !== null && filter.offset >= known) return { errors: [], total: known };
  const { id } = errorSignatures;
  // The ids first: putting a slot in order carries no whole rows.
  const page = database.select({ id }).from(errorSignatures).where(chosen.where).orderBy(...LATEST_FIRST).limit(filter.limit).offset(filter.offset);
  const rows = await database.select().from(errorSignatures).where(inArray(id, page)).orderBy(...LATEST_FIRST);
  const [errors, total] = await Promise.all([showSignatures(needs, rows, now), known ?? countAll(database, organizationId, chosen, filter, rows.length)]);
  return { errors, total };
}

/** As `listErrors`, with the page and the total from one statement: the ids that the condition names would take as long again in a second one. */
async function listSeen(needs: { database: Database; clickhouse: ClickHouse }, { where, seen, parts }: Chosen & { seen: WithSubquery }, { limit, offset }: ErrorListQuery, now: number): Promise<{ errors: ErrorSignature[]; total: number }> {
  const { database } = needs;
  const { id } = errorSignatures;
  const total = sql<number>`(${sql.join(parts.map((part) => sql`(select count(*) from ${errorSignatures} where ${part})`), sql` + `)})`.mapWith(Number);
  const page = database.select({ id }).from(errorSignatures).where(where).orderBy(...LATEST_FIRST).limit(limit).offset(offset);
  const rows = await database.with(seen).select({ row: errorSignatures, total }).from(errorSignatures).where(inArray(id, page)).orderBy(...LATEST_FIRST);
  if (rows.length > 0) return { errors: await showSignatures(needs, rows.map(({ row }) => row), now), total: rows[0]!.total };
  const [counted] = offset === 0 ? [] : await database.with(seen).select({ total }).from(sql`(select) as nothing`);
  return { errors: [], total: counted?.total ?? 0 };
}

/** How many match. A page that is not full, unless it lies behind the end, is the last and tells it. */
async function countAll(database: Database, organizationId: string, { parts }: Chosen, { limit, offset, ...filter }: ErrorListQuery, shown: number): Promise<number> {
  if (shown < limit && (shown > 0 || offset === 0)) return offset + shown;
  const { environment, ...others } = filter;
  const onlyEnvironment = environment !== undefined && Object.values(others).every((each) => each === undefined);
  if (onlyEnvironment) return database.$count(errorEnvironments, and(eq(errorEnvironments.organizationId, organizationId), eq(errorEnvironments.environment, environment)));
  const totals = await Promise.all(parts.map((part) => database.$count(errorSignatures, part)));
  return totals.reduce((sum, total) => sum + total, 0);
}
