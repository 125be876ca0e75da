import { sql } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import { errorSignatures } from "../../schemas/tables/all.ts";
import { findWidespread } from "./widespread.ts";

/** More than so many sessions within 24 hours raise an error's priority by a step. */
const WIDESPREAD_SESSIONS = 100;

/**
 * Raises the priority of errors that met many sessions in the last 24 hours (in slots of six hours, by when events were received), and takes that back from
 * those that no longer do. `now` in milliseconds since the epoch. Returns how many changed. May run anywhere, any number at a time.
 */
export async function judgePriorities({ database, clickhouse }: { database: Database; clickhouse: ClickHouse }, now: number): Promise<number> {
  const ids = uuids(await findWidespread({ database, clickhouse }, { sessions: WIDESPREAD_SESSIONS, now }));
  const raised = await database.execute(sql`
    update ${errorSignatures} set widespread = true, priority = case priority when 'low' then 'medium' when 'medium' then 'high' else 'critical' end::priority
    where id = any(${ids}) and not widespread`);
  const lowered = await database.execute(sql`
    update ${errorSignatures} set widespread = false, priority = case priority when 'critical' then 'high' when 'high' then 'medium' else 'low' end::priority
    where widespread and id <> all(${ids})`);
  return (raised.rowCount ?? 0) + (lowered.rowCount ?? 0);
}
