import { setMaxListeners } from "node:events";
import { sql } from "drizzle-orm";
import { claimRuns, type ClaimedRun } from "../../domain/workflows/runs/read-claimed.ts";
import { releaseRun, RunLost } from "../../domain/workflows/runs/record.ts";
import { startScheduled } from "../../domain/workflows/runs/start.ts";
import { takeStep } from "../../domain/workflows/runs/take-step.ts";
import { standStillOverSteps } from "../../platform/clock-steps.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import { makeDueLooks, type DueLooks } from "../../platform/due-looks.ts";
import type { Log } from "../../platform/log.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { repeat, type Repeating } from "../../platform/repeat.ts";
import { workflowRuns, workflows } from "../../schemas/tables/all.ts";

interface RunDueNeeds {
  database: Database;
  outbound: Outbound;
  clock: Clock;
  config: Pick<Config, "SCHEDULER_TICK_MS" | "WEBHOOK_ALLOW_HTTP">;
  log: Log;
  looks?: DueLooks | undefined;
  /** LEASE_MS unless given. */
  leaseMs?: number;
}

/** The longest step, half a minute, and a quarter of one to record it. */
const LEASE_MS = 45_000;

/** Runs at a time in this process: twice what the largest plan allows one organization. Most wait for an answer. */
const AT_ONCE = 200;

/** Starts the workflows whose time has come and carries out the runs that are due, some at a time. Any number of these may run beside each other. */
export function runDueWorkflows({ database, outbound, clock, config, log, looks = makeDueLooks({ database, clock, log, everyMs: Math.min(config.SCHEDULER_TICK_MS, 1_000) }), leaseMs = LEASE_MS }: RunDueNeeds): Repeating {
  const running = new Map<ClaimedRun, Promise<void>>();
  const stopping = new AbortController();
  // Every request listens to it.
  setMaxListeners(0, stopping.signal);
  // When the clock is set forward no claim has ended by that: a request that is being made is not made twice.
  const claimClock = standStillOverSteps(clock, leaseMs);
  const needs = { database, outbound, clock, config, log, signal: stopping.signal, leaseMs };

  /** Step after step, until it waits, ends, or we stop. */
  async function carryOn(claimed: ClaimedRun): Promise<void> {
    let run = claimed;
    for (;;) {
      if (stopping.signal.aborted) return releaseRun(database, run, new Date(clock.now()));
      const taken = await takeStep(run, needs);
      if (taken.kind === "over") return;
      if (taken.kind === "on") run = taken.run;
    }
  }

  function note(error: unknown, { id, workflowId }: ClaimedRun): void {
    log[error instanceof RunLost || isPostgresAway(error) ? "debug" : "error"]({ err: error, run_id: id, workflow_id: workflowId }, "a run of a workflow was left; it goes on when its claim has ended, if it is still there");
  }

  async function look(): Promise<boolean> {
    const now = new Date(claimClock.now());
    const more = await startScheduled(database, now);
    const room = AT_ONCE - running.size;
    if (room <= 0) return false;
    // Until its lease has ended by the clock as it is now, which the others may see already.
    const claimed = await claimRuns(database, now, { leaseMs: leaseMs + clock.now() - now.getTime(), room });
    for (const run of claimed) running.set(run, carryOn(run).catch((error: unknown) => note(error, run)).finally(() => running.delete(run)));
    return more || claimed.length > 0;
  }

  const looking = repeat({
    pauseMs: Math.min(config.SCHEDULER_TICK_MS, 1_000),
    untilDue: looks.add(
      (now) => sql`exists (select from ${workflows} where enabled and ${workflows.nextRunAt} <= ${now})
        or exists (select from ${workflowRuns} where finished_at is null and ${workflowRuns.dueAt} <= ${now})`,
    ),
    work: look,
    onError: (error) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, "could not look for workflows that are due; trying again"),
  });
  return {
    start: () => looking.start(),
    async stop() {
      stopping.abort();
      await looking.stop();
      await Promise.all(running.values());
    },
  };
}
