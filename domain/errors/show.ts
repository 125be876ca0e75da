import { and, eq, inArray } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Database, Queries } from "../../platform/postgres/database.ts";
import type { ErrorSignature } from "../../schemas/api/errors.ts";
import { errorSignatures, errorStacks } from "../../schemas/tables/all.ts";
import { aliasesOf, mergedInto } from "./aliases.ts";
import { askClickHouse } from "./ask-clickhouse.ts";
import { effectiveStatus } from "./effective-status.ts";

export type SignatureRow = typeof errorSignatures.$inferSelect;

/** A signature's row, for reading, also by the id of one that became part of it; NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function findSignature(queries: Queries, organizationId: string, id: string): Promise<SignatureRow> {
  const [row] = isUuid(id) ? await queries.select().from(errorSignatures).where(ownSignature(organizationId, id)) : [];
  if (row) return row;
  const into = isUuid(id) ? (await mergedInto(queries, [id])).get(id) : undefined;
  if (into === undefined) throw noSuchError();
  const [merged] = await queries.select().from(errorSignatures).where(ownSignature(organizationId, into));
  if (!merged) throw noSuchError();
  return merged;
}

function ownSignature(organizationId: string, id: string) {
  return and(eq(errorSignatures.organizationId, organizationId), eq(errorSignatures.id, id));
}

export function noSuchError(): Failure {
  return new Failure("NOT_FOUND", "No such error.");
}

/** Signatures as the API shows them at `now` (milliseconds since the epoch), with their exact numbers of sessions and their stacks from one query each. */
export async function showSignatures({ database, clickhouse }: { database: Database; clickhouse: ClickHouse }, rows: SignatureRow[], now: number): Promise<ErrorSignature[]> {
  const [sessions, stacks] = await Promise.all([sessionsOf({ database, clickhouse }, rows), stacksOf(database, rows)]);
  return rows.map((row) => showSignature(row, { stackTrace: stacks.get(row.id) ?? "", sessionsAffected: sessions.get(row.id) ?? 0 }, now));
}

async function stacksOf(database: Database, rows: SignatureRow[]): Promise<Map<string, string>> {
  if (rows.length === 0) return new Map();
  const { signatureId, stackTrace } = errorStacks;
  const found = await database.select({ signatureId, stackTrace }).from(errorStacks).where(inArray(signatureId, rows.map(({ id }) => id)));
  return new Map(found.map((stack) => [stack.signatureId, stack.stackTrace]));
}

function showSignature(row: SignatureRow, { stackTrace, sessionsAffected }: { stackTrace: string; sessionsAffected: number }, now: number): ErrorSignature {
  return {
    id: row.id,
    fingerprint: row.fingerprint,
    message: row.message,
    type: row.type,
    status: effectiveStatus(row, now),
    occurrences: row.occurrences,
    sessions_affected: sessionsAffected,
    first_seen: row.firstSeen.toISOString(),
    last_seen: row.lastSeen.toISOString(),
    release: row.release,
    environment: row.environment,
    stack_trace: stackTrace,
    service_id: row.serviceId,
    category: row.category,
    priority: row.priority,
    culprit: row.culprit,
  };
}

/** How many different sessions each signature was seen in; those that are not named have none. */
export async function sessionsOf({ database, clickhouse }: { database: Queries; clickhouse: ClickHouse }, rows: Pick<SignatureRow, "id" | "serviceId">[]): Promise<Map<string, number>> {
  if (rows.length === 0) return new Map();
  const ids = rows.map(({ id }) => id);
  const aliases = await aliasesOf(database, ids);
  const [from, to] = [aliases.map(([alias]) => alias), aliases.map(([, id]) => id)];
  const canonical = aliases.length === 0 ? "toString(signature_id)" : "transform(toString(signature_id), {from:Array(String)}, {to:Array(String)}, toString(signature_id))";
  const found = await askClickHouse<{ id: string; sessions: string }>(
    clickhouse,
    `SELECT ${canonical} AS id, toString(uniqExactMerge(sessions)) AS sessions FROM signature_slots
     WHERE service_id IN {services:Array(UUID)} AND signature_id IN {ids:Array(UUID)} GROUP BY id`,
    { services: [...new Set(rows.map(({ serviceId }) => serviceId))], ids: [...ids, ...from], ...(aliases.length > 0 && { from, to }) },
  );
  return new Map(found.map(({ id, sessions }) => [id, Number(sessions)]));
}
