import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Database } from "../../platform/postgres/database.ts";
import type { ErrorExport, ErrorExportQuery, ExportedError } from "../../schemas/api/errors.ts";
import { errorSignatures } from "../../schemas/tables/all.ts";
import { chooseSignatures, LATEST_FIRST } from "./choose.ts";
import { sessionsOf } from "./show.ts";

/** The signatures that match, last seen first, at most `limit` (specification §4.13). The totals are of what is exported. */
export async function exportErrors(needs: { database: Database; clickhouse: ClickHouse }, organizationId: string, query: ErrorExportQuery, now: number): Promise<ErrorExport> {
  const errors = await readErrors(needs, organizationId, query, now);
  // Moments of this shape compare as texts.
  const first = errors.map(({ first_seen: firstSeen }) => firstSeen).sort()[0] ?? null;
  return {
    export: {
      format: "json",
      from: query.start_date?.toISOString() ?? first,
      to: query.end_date?.toISOString() ?? errors[0]?.last_seen ?? null,
      total_errors: errors.length,
      total_occurrences: errors.reduce((sum, { occurrences }) => sum + occurrences, 0),
    },
    errors,
  };
}

async function readErrors(needs: { database: Database; clickhouse: ClickHouse }, organizationId: string, { limit, ...filter }: ErrorExportQuery, now: number): Promise<ExportedError[]> {
  const chosen = await chooseSignatures(needs, organizationId, filter, now);
  if (chosen === null) return [];
  // By name: stacks and frames of thousands of signatures would fill the memory.
  const { id, serviceId, message, type, occurrences, firstSeen, lastSeen } = errorSignatures;
  const rows = await needs.database
    .select({ id, serviceId, message, type, occurrences, firstSeen, lastSeen })
    .from(errorSignatures)
    .where(chosen.where)
    .orderBy(...LATEST_FIRST)
    .limit(limit);
  const sessions = await sessionsOf(needs, rows);
  return rows.map((row) => ({
    id: row.id,
    message: row.message,
    type: row.type,
    occurrences: row.occurrences,
    sessions_affected: sessions.get(row.id) ?? 0,
    first_seen: row.firstSeen.toISOString(),
    last_seen: row.lastSeen.toISOString(),
  }));
}
