import { pullInDeliveries } from "../../domain/deliveries/pull-in.ts";
import { pullInMails } from "../../domain/mail/pull-in.ts";
import { pullInMonitors } from "../../domain/monitors/pull-in.ts";
import { pullInNotifications } from "../../domain/notifications/pull-in.ts";
import { pullInRuns } from "../../domain/workflows/runs/pull-in.ts";
import { watchClockSteps } from "../../platform/clock-steps.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { repeat, type Repeating } from "../../platform/repeat.ts";

interface FollowNeeds {
  database: Database;
  clock: Clock;
  log: Log;
  /** For how long a delivery is claimed, in ms. */
  deliveryLeaseMs: number;
  pauseMs?: number;
}

/** Longer than any lease of mails, of runs of workflows and of channels. */
const LONGEST_LEASE_MS = 300_000;

/** Work that is due in an hour by a clock that is then put back by an hour would be due in two: it is planned anew, then and at the start. */
export function followClock({ database, clock, log, deliveryLeaseMs, pauseMs = 1_000 }: FollowNeeds): Repeating {
  const clockStep = watchClockSteps(clock);
  // It may have been put back while nobody was there to see it.
  let isPutBack = true;

  async function look(): Promise<void> {
    const step = clockStep();
    if (step !== 0) log.warn({ seconds: Math.round(step / 1_000) }, "the clock was set");
    isPutBack ||= step < 0;
    if (!isPutBack) return;
    const now = new Date(clock.now());
    const monitors = await pullInMonitors(database, now);
    const deliveries = await pullInDeliveries(database, now, deliveryLeaseMs);
    const notifications = await pullInNotifications(database, now, LONGEST_LEASE_MS);
    const mails = await pullInMails(database, now, LONGEST_LEASE_MS);
    const runs = await pullInRuns(database, now, LONGEST_LEASE_MS);
    isPutBack = false;
    if (monitors + deliveries + notifications + mails + runs > 0) log.warn({ monitors, deliveries, notifications, mails, runs }, "what was planned by a clock that has since been put back is planned anew");
  }

  return repeat({
    pauseMs,
    work: look,
    onError: (error) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, "could not plan anew what was planned before the clock was put back; trying again"),
  });
}
