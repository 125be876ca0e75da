import { sql, type SQL } from "drizzle-orm";

/** A moment as `Date.toISOString` writes it, by Postgres: "2026-01-31T12:00:00.000Z", or null. */
export function isoText(moment: SQL): SQL<string | null> {
  return sql`to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
