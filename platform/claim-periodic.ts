import { and, eq, sql } from "drizzle-orm";
import { newId } from "./ids.ts";
import type { Database } from "./postgres/database.ts";
import { periodicWork } from "../schemas/tables/upkeep.ts";

interface PeriodicNeeds {
  name: string;
  /** From the start of a run to the start of the next, in ms. */
  everyMs: number;
  leaseMs: number;
}

/** A run of periodic work that is this process's alone for as long as it renews the lease. */
export interface PeriodicClaim {
  /** The database's time at the claim, or the caller's when that is earlier: a clock that runs ahead makes nothing old. */
  now: Date;
  /** Makes the lease last `leaseMs` from now on. Throws PeriodicWorkLost when another process has the work by now. */
  renew(): Promise<void>;
  /** Ends the run: the work is due again after so many ms. Changes nothing when another process has it by now. */
  release(dueInMs: number): Promise<void>;
}

/** Another process has the work by now. */
export class PeriodicWorkLost extends Error {
  constructor(work: string) {
    super(`another process took over the work "${work}"`);
    this.name = "PeriodicWorkLost";
  }
}

/**
 * Claims work that is due every `everyMs`, for all processes on one database; null when it is not due or another process does it.
 * All moments are of the database's clock. A moment later than a period from now was written before that clock was put back, so it counts as due.
 */
export async function claimPeriodic(database: Database, { name, everyMs, leaseMs }: PeriodicNeeds, now: Date): Promise<PeriodicClaim | null> {
  const token = newId();
  const inMs = (ms: number) => sql`clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`;
  const mine = and(eq(periodicWork.name, name), eq(periodicWork.leaseToken, token));
  // New work is due at once. The column's now() would be rounded to milliseconds, and be later than the clock.
  await database.insert(periodicWork).values({ name, dueAt: new Date(0) }).onConflictDoNothing();
  const [claimed] = await database
    .update(periodicWork)
    .set({ leaseToken: token, dueAt: inMs(leaseMs) })
    .where(sql`${periodicWork.name} = ${name} and (${periodicWork.dueAt} <= clock_timestamp() or ${periodicWork.dueAt} > ${inMs(Math.max(everyMs, leaseMs))})`)
    .returning({ at: sql<string>`clock_timestamp()` });
  if (!claimed) return null;
  return {
    now: new Date(Math.min(now.getTime(), new Date(claimed.at).getTime())),
    async renew() {
      const { rowCount } = await database.update(periodicWork).set({ dueAt: inMs(leaseMs) }).where(mine);
      if (rowCount === 0) throw new PeriodicWorkLost(name);
    },
    async release(dueInMs) {
      await database.update(periodicWork).set({ dueAt: inMs(dueInMs), leaseToken: null }).where(mine);
    },
  };
}
