import { deadlineIsNear, FAR_MS } from "../../domain/heartbeats/deadline-near.ts";
import { flipLate } from "../../domain/heartbeats/find-late.ts";
import { watchClockSteps } from "../../platform/clock-steps.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import type { DueLooks } from "../../platform/due-looks.ts";
import type { Log } from "../../platform/log.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { repeat, type Repeating } from "../../platform/repeat.ts";
import { readProvenUpTo } from "./proven-up-to.ts";

interface LateFinderNeeds {
  database: Database;
  clock: Clock;
  config: Pick<Config, "SCHEDULER_TICK_MS">;
  log: Log;
  /** The event log that pings go through, and the number of partitions of their topic. */
  logId: string;
  partitions: number;
  /** Says whether any deadline is near; without it every look is made. */
  looks?: Pick<DueLooks, "follow">;
}

/** So long may lateness stay unknown before an operator hears of it. */
const WARN_AFTER_MS = 60_000;

/** Looks for late heartbeat monitors every SCHEDULER_TICK_MS, every FAR_MS while no deadline is near. Any number of them may run beside each other. */
export function makeLateFinder({ database, clock, config, log, logId, partitions, looks }: LateFinderNeeds): Repeating {
  /** Since when we know that pings come through; by the wall, as pings are. Null while we do not know it. */
  let listeningSince: number | null = null;
  let unknownSince = clock.monotonic();
  let warned = false;
  const clockStep = watchClockSteps(clock);
  let isNear: (() => boolean) | undefined;
  let lookedAt = -Infinity;

  async function look(stopping: AbortSignal): Promise<void> {
    isNear ??= looks?.follow(deadlineIsNear, stopping);
    if (isNear?.() === false && clock.monotonic() - lookedAt < FAR_MS) return;
    lookedAt = clock.monotonic();
    noteStep(clockStep());
    const now = new Date(clock.now());
    const provenUpTo = await readProvenUpTo(database, { logId, partitions, now });
    if (provenUpTo === null) return noteUnknown();
    listeningSince ??= now.getTime();
    unknownSince = clock.monotonic();
    warned = false;
    const flipped = await flipLate(database, { now, provenUpTo, serviceStartedAt: new Date(listeningSince) });
    if (flipped > 0) log.debug({ flipped }, "heartbeat monitors are late");
  }

  /** Deadlines were planned by another time: each monitor has its grace again, as after an outage. */
  function noteStep(ms: number): void {
    if (ms === 0) return;
    listeningSince = null;
    log.warn({ seconds: Math.round(ms / 1_000) }, "the clock was set; heartbeat monitors have their grace again");
  }

  /** Whatever interrupted the pings interrupted those of every monitor: each has its grace again afterwards. */
  function noteUnknown(): void {
    if (listeningSince !== null) unknownSince = clock.monotonic();
    listeningSince = null;
    if (warned || clock.monotonic() - unknownSince < WARN_AFTER_MS) return;
    warned = true;
    log.warn("no heartbeat monitor can be found late: either no edge is running or the heartbeats topic is not being processed");
  }

  return repeat({
    pauseMs: config.SCHEDULER_TICK_MS,
    work: look,
    onError: (error) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, "could not look for late heartbeat monitors; trying again"),
  });
}
