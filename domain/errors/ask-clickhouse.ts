import { ClickHouseUnavailable, type ClickHouse } from "../../platform/clickhouse/port.ts";
import { Failure } from "../../platform/failures.ts";

/** A query of ClickHouse for a person who waits: UNAVAILABLE when it cannot be reached, nothing halfway. */
export async function askClickHouse<Row>(clickhouse: ClickHouse, sql: string, params: Record<string, unknown>): Promise<Row[]> {
  try {
    return await clickhouse.query<Row>(sql, params);
  } catch (error) {
    if (error instanceof ClickHouseUnavailable) throw new Failure("UNAVAILABLE", "The store of error events cannot be reached at the moment.", { fix: "Try again in a few seconds.", retryAfter: 5 });
    throw error;
  }
}

/** `YYYY-MM-DD HH:MM:SS.mmm` in UTC, as ClickHouse shows moments → ISO 8601. */
export function isoMoment(clickhouse: string): string {
  return `${clickhouse.replace(" ", "T")}Z`;
}
