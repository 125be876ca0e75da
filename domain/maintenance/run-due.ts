import { and, asc, eq, gt, lte, or, sql } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { maintenanceWindows } from "../../schemas/tables/all.ts";
import { carryOutWindow } from "./change.ts";

const AT_ONCE = 100;

/**
 * Starts and completes windows, and reminds of those that come. Any number of these may run at a time: the window's lock lets one of them do it.
 * True when there may be more to do at once.
 */
export async function runDueWindows(database: Database, now: Date): Promise<boolean> {
  const { id, organizationId, status, startsAt, endsAt, autoStart, autoComplete, notifyBeforeMinutes, remindedOf } = maintenanceWindows;
  const soon = sql`${startsAt} <= ${now.toISOString()}::timestamptz + make_interval(mins => ${notifyBeforeMinutes})`;
  const due = await database
    .select({ id, organizationId })
    .from(maintenanceWindows)
    .where(
      or(
        and(eq(status, "scheduled"), lte(startsAt, now), eq(autoStart, true)),
        and(eq(status, "in_progress"), lte(endsAt, now), eq(autoComplete, true)),
        and(eq(status, "scheduled"), gt(startsAt, now), soon, sql`${remindedOf} is distinct from ${startsAt}`),
      ),
    )
    .orderBy(asc(startsAt))
    .limit(AT_ONCE);
  let done = 0;
  for (const window of due) if (await carryOut(database, window, now)) done++;
  return done > 0;
}

/** One that was deleted meanwhile is not due. */
async function carryOut(database: Database, window: { id: string; organizationId: string }, now: Date): Promise<boolean> {
  try {
    return await carryOutWindow(database, window, now);
  } catch (error) {
    if (error instanceof Failure && error.code === "NOT_FOUND") return false;
    throw error;
  }
}
