import { asc, sql, type SQL } from "drizzle-orm";
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
  const { id, organizationId, startsAt } = maintenanceWindows;
  const due = await database
    .select({ id, organizationId })
    .from(maintenanceWindows)
    .where(isDue(sql`${now.toISOString()}::timestamptz`))
    .orderBy(asc(startsAt))
    .limit(AT_ONCE);
  let done = 0;
  for (const window of due) if (await carryOut(database, window, now)) done++;
  return done > 0;
}

/** A condition: whether `runDueWindows` would find any. */
export function anyWindowIsDue(now: SQL): SQL {
  return sql`exists (select from ${maintenanceWindows} where ${isDue(now)})`;
}

/** A window to start, to complete, or to remind of. */
function isDue(now: SQL): SQL {
  const { status, startsAt, endsAt, autoStart, autoComplete, notifyBeforeMinutes, remindedOf } = maintenanceWindows;
  return sql`((${status} = 'scheduled' and ${startsAt} <= ${now} and ${autoStart}) or (${status} = 'in_progress' and ${endsAt} <= ${now} and ${autoComplete})
    or (${status} = 'scheduled' and ${startsAt} > ${now} and ${startsAt} <= ${now} + make_interval(mins => ${notifyBeforeMinutes}) and ${remindedOf} is distinct from ${startsAt}))`;
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
