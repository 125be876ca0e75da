import { sql } from "drizzle-orm";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { repeat, type Repeating } from "../../platform/repeat.ts";
import { domainMonitors, sslMonitors, uptimeMonitors } from "../../schemas/tables/all.ts";

interface LatenessNeeds {
  database: Database;
  clock: Clock;
  log: Log;
}

const LOOK_MS = 10_000;

interface Lateness extends Repeating {
  /** Since the longest overdue check of any monitor was due, as last seen; 0 when none is overdue. */
  seconds(): number;
}

/** Watches whether checks are made when they are due. A check in progress is not overdue before its claim has ended. */
export function watchLateness({ database, clock, log }: LatenessNeeds): Lateness {
  let seconds = 0;
  const looks = repeat({
    pauseMs: LOOK_MS,
    work: async () => {
      seconds = await readLateness(database, clock.now());
    },
    onError: (error) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, "could not look how late checks of monitors are; trying again"),
  });
  return { ...looks, seconds: () => seconds };
}

export async function readLateness(database: Database, now: number): Promise<number> {
  const oldest = sql.join([uptimeMonitors, sslMonitors, domainMonitors].map((table) => sql`(select min(due_at) from ${table} where enabled)`), sql`, `);
  const { rows } = await database.execute<{ ms: string | null }>(sql`select extract(epoch from least(${oldest})) * 1000 as ms`);
  const ms = rows[0]?.ms ?? null;
  return ms === null ? 0 : Math.max(0, (now - Number(ms)) / 1_000);
}
