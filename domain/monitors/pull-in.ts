import { sql } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { domainMonitors, sslMonitors, uptimeMonitors } from "../../schemas/tables/all.ts";
import { LOOK_UP_LIMIT_MS } from "./domain/look-up.ts";
import { PROBE_TIMEOUT_MS } from "./ssl/probe.ts";
import { UPTIME_LEASE_MS } from "./uptime/lease.ts";

const HOUR_MS = 3_600_000;
const RECORD_MS = 15_000;

/** Clocks of two schedulers may differ by so much. */
const CLOCK_SKEW_MS = 10_000;

/** The longest time that a check of each kind is planned ahead, and claimed for. */
const KINDS = [
  { table: uptimeMonitors, aheadMs: sql`interval_seconds * 1000.0`, leaseMs: UPTIME_LEASE_MS },
  { table: sslMonitors, aheadMs: sql`${6 * HOUR_MS}::numeric`, leaseMs: PROBE_TIMEOUT_MS + RECORD_MS },
  { table: domainMonitors, aheadMs: sql`${48 * HOUR_MS}::numeric`, leaseMs: LOOK_UP_LIMIT_MS + RECORD_MS },
];

/**
 * Plans anew what is planned for later than any check can be: its moment was found before the clock was put back. Such checks are
 * spread over their interval, so that they do not come all at once; a claim lasts its whole lease from now on. May be repeated, by
 * any number of processes. Returns how many monitors were planned anew.
 */
export async function pullInMonitors(database: Database, now: Date): Promise<number> {
  let pulledIn = 0;
  for (const { table, aheadMs, leaseMs } of KINDS) {
    const longest = sql`(case when lease_token is null then ${aheadMs} else ${leaseMs}::numeric end)`;
    const inMs = (ms: unknown) => sql`${now.toISOString()}::timestamptz + ${ms} * interval '1 millisecond'`;
    const { rowCount } = await database.execute(sql`
      update ${table} set due_at = ${inMs(sql`(case when lease_token is null then random()::numeric else 1 end * ${longest})`)}
      where enabled and due_at > ${inMs(sql`(${longest} + ${CLOCK_SKEW_MS}::numeric)`)}`);
    pulledIn += rowCount ?? 0;
  }
  return pulledIn;
}
