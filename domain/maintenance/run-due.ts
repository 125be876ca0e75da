import { and, asc, notInArray, sql, type SQL } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import type { Log } from "../../platform/log.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { maintenanceWindows } from "../../schemas/tables/all.ts";
import { carryOutWindow } from "./change.ts";

const AT_ONCE = 100;

/** How long a window that failed is left alone, so that it does not keep the others waiting. */
const FIRST_REST_MS = 10_000;
const LONGEST_REST_MS = 3_600_000;

interface DueWindowsNeeds {
  database: Database;
  log: Log;
}

/** When a window failed, and for how long it is left alone. */
interface Rest {
  since: number;
  ms: number;
}

/**
 * Starts and completes windows, and reminds of those that come. Any number of these may run at a time: the window's lock lets one of them do it.
 * True when there may be more to do at once. One that fails rests, for longer each time, and the others go on.
 */
export function makeDueWindows({ database, log }: DueWindowsNeeds): (now: Date) => Promise<boolean> {
  const resting = new Map<string, Rest>();

  async function tryWindow(window: { id: string; organizationId: string }, now: Date): Promise<boolean> {
    try {
      const done = await carryOut(database, window, now);
      resting.delete(window.id);
      return done;
    } catch (error) {
      const rest = restAfter(resting.get(window.id), now);
      resting.set(window.id, rest);
      // The others would fail too; but it rests, as a transaction that takes too long is ended so as well.
      if (isPostgresAway(error)) throw error;
      log.error({ err: error, id: window.id, restMs: rest.ms }, "could not carry out a maintenance window; trying it again later");
      return false;
    }
  }

  return async (now) => {
    const { id, organizationId, startsAt } = maintenanceWindows;
    forgetRested(resting, now);
    const left = [...resting].filter(([, rest]) => isResting(rest, now)).map(([failed]) => failed);
    const due = await database
      .select({ id, organizationId })
      .from(maintenanceWindows)
      .where(and(isDue(sql`${now.toISOString()}::timestamptz`), notInArray(id, left)))
      .orderBy(asc(startsAt))
      .limit(AT_ONCE);
    let done = 0;
    for (const window of due) if (await tryWindow(window, now)) done++;
    return done > 0;
  };
}

function restAfter(last: Rest | undefined, now: Date): Rest {
  const ms = last ? Math.min(2 * last.ms, LONGEST_REST_MS) : FIRST_REST_MS;
  return { since: now.getTime(), ms };
}

/** Not before it began either: then the clock was set back, and there is no saying for how long. */
function isResting({ since, ms }: Rest, now: Date): boolean {
  return since <= now.getTime() && now.getTime() < since + ms;
}

/** Those that nobody tried for long after their rest: they are not due any more, or were done by another. */
function forgetRested(resting: Map<string, Rest>, now: Date): void {
  const before = now.getTime() - 2 * LONGEST_REST_MS;
  for (const [id, { since }] of resting) if (since < before) resting.delete(id);
}

/** A condition: whether there would be any to carry out. */
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
