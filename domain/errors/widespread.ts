import { sql } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { errorSignatures, organizations } from "../../schemas/tables/all.ts";
import { aliasesOf } from "./aliases.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Sessions are kept in slots of so long, by when their events were received. */
const SLOT_MS = 6 * HOUR_MS;
/** What is received now may have happened so long ago. */
const OLDEST_EVENT_MS = DAY_MS;
/** Signatures of one query to ClickHouse. */
const AT_A_TIME = 2_000;

/**
 * Its key begins with the service and the signature: it reads the granules of those that are named,
 * and no others.
 */
export const WIDESPREAD_SQL = `
  SELECT transform(toString(signature_id), {from:Array(String)}, {to:Array(String)}, toString(signature_id)) AS id FROM signature_slots
  WHERE service_id IN {services:Array(UUID)} AND signature_id IN {ids:Array(UUID)} AND slot > fromUnixTimestamp64Milli({since:Int64})
  GROUP BY id HAVING uniqExactMerge(sessions) > {sessions:UInt32}`;

interface Signature extends Record<string, unknown> {
  id: string;
  service_id: string;
}

/**
 * Ids of the signatures that more than `sessions` sessions met in the day before `now` (ms since
 * the epoch), under their own id and those that became part of them.
 */
export async function findWidespread({ database, clickhouse }: { database: Database; clickhouse: ClickHouse }, { sessions, now }: { sessions: number; now: number }): Promise<string[]> {
  const candidates = await readCandidates(database, { sessions, now });
  const found: string[] = [];
  for (let at = 0; at < candidates.length; at += AT_A_TIME) {
    const chunk = candidates.slice(at, at + AT_A_TIME);
    const ids = chunk.map(({ id }) => id);
    const aliases = await aliasesOf(database, ids);
    const [from, to] = [aliases.map(([alias]) => alias), aliases.map(([, id]) => id)];
    const services = [...new Set(chunk.map((signature) => signature.service_id))];
    // An empty list has no type that ClickHouse would take for one of texts.
    const names = aliases.length > 0 ? { from, to } : { from: [""], to: [""] };
    const rows = await clickhouse.query<{ id: string }>(WIDESPREAD_SQL, { services, ids: [...ids, ...from], ...names, since: now - DAY_MS, sessions });
    for (const { id } of rows) found.push(id);
  }
  return found;
}

/**
 * Those that were seen lately and often enough to have met so many sessions; of each organization
 * by its index, in the order of ClickHouse's key.
 */
async function readCandidates(database: Database, { sessions, now }: { sessions: number; now: number }): Promise<Signature[]> {
  const seenSince = new Date(now - DAY_MS - SLOT_MS - OLDEST_EVENT_MS).toISOString();
  const { rows } = await database.execute<Signature>(sql`
    select signature.id, signature.service_id from ${organizations} as organization
    cross join lateral (
      select id, service_id from ${errorSignatures}
      where organization_id = organization.id and last_seen_slot >= ${seenSince}::timestamptz and occurrences > ${sessions}) as signature
    order by signature.service_id, signature.id`);
  return rows;
}
