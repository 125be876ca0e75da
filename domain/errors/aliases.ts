import { sql } from "drizzle-orm";
import { uuids } from "../../platform/postgres/uuids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import { errorAliases } from "../../schemas/tables/all.ts";

/** Of these ids those that became part of another signature, and of which. */
export async function mergedInto(queries: Queries, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await queries.select({ id: errorAliases.id, into: errorAliases.signatureId }).from(errorAliases).where(sql`${errorAliases.id} = any(${uuids(ids)})`);
  return new Map(rows.map(({ id, into }) => [id, into]));
}

/** Under which ids besides its own ClickHouse has events of each of these signatures: [that id, the signature's]. */
export async function aliasesOf(queries: Queries, signatureIds: readonly string[]): Promise<[alias: string, signatureId: string][]> {
  if (signatureIds.length === 0) return [];
  const rows = await queries.select({ id: errorAliases.id, into: errorAliases.signatureId }).from(errorAliases).where(sql`${errorAliases.signatureId} = any(${uuids(signatureIds)})`);
  return rows.map(({ id, into }) => [id, into]);
}
