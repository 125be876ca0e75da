import { forgetOldDeliveries } from "../../domain/deliveries/forget-old.ts";
import { forgetOldNotifications } from "../../domain/notifications/forget-old.ts";
import { forgetTexts } from "../../domain/notifications/take-text.ts";
import { forgetOldTries } from "../../domain/status-pages/password-tries.ts";
import { forgetOldDayCounts } from "../../domain/day-counts.ts";
import { forgetOldRuns, forgetSurplusRuns } from "../../domain/workflows/runs/record.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { repeat, type Repeating } from "../../platform/repeat.ts";

const EVERY_MS = 10 * 60_000;

/** Each deletes a bounded number of rows and says whether there may be more; any number may do so at once. */
const FORGETFUL: readonly ((database: Database, now: Date) => Promise<boolean>)[] = [
  forgetOldDeliveries,
  forgetOldNotifications,
  forgetOldRuns,
  forgetSurplusRuns,
  forgetTexts,
  forgetOldTries,
  forgetOldDayCounts,
];

/** Deletes what is kept for 30 days at most, or shorter, and what is more than is kept. One kind that cannot be deleted does not keep the others. */
export function forgetOld({ database, clock, log }: { database: Database; clock: Clock; log: Log }): Repeating {
  return repeat({
    pauseMs: EVERY_MS,
    work: async () => {
      const now = new Date(clock.now());
      let more = false;
      for (const forget of FORGETFUL) more = (await forget(database, now).catch(told)) || more;
      return more;
    },
    onError: told,
  });

  function told(error: unknown): false {
    log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, "could not delete what is old; trying again");
    return false;
  }
}
