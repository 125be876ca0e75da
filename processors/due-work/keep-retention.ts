import { forgetAnsweredLetters, forgetDailyCreations, forgetDeleted } from "../../domain/retention/forget-answered.ts";
import { forgetEdges } from "../../domain/retention/forget-edges.ts";
import { forgetFences } from "../../domain/retention/forget-fences.ts";
import { forgetRows } from "../../domain/retention/forget-rows.ts";
import { forgetDeletions, readRetentionBounds } from "../../domain/retention/read-bounds.ts";
import { readRetainedTables } from "../../domain/retention/retained-tables.ts";
import { claimPeriodic, PeriodicWorkLost, type PeriodicClaim } from "../../platform/claim-periodic.ts";
import { ClickHouseUnavailable, type ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { repeat, type Repeating } from "../../platform/repeat.ts";

interface RetentionNeeds {
  database: Database;
  clickhouse: ClickHouse;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, "retention">;
  /** How often it is looked whether the work is due, in ms. */
  pauseMs?: number;
  /** How often ClickHouse is asked whether it is done, in ms. */
  pollMs?: number;
}

const NAME = "retention";

/** Twice a day, so that what was deleted just before a run, and whose last rows were too young for it, is gone within a day. */
const EVERY_MS = 12 * 60 * 60_000;

/** Longer than any statement of ours takes. */
const LEASE_MS = 5 * 60_000;
const RENEW_MS = 60_000;
const AGAIN_MS = 10 * 60_000;

/** What a step deleted. */
interface Deleted {
  rows: number;
  bytes?: number;
  partitionsDropped?: number;
  mutations?: number;
}

interface Step {
  what: string;
  run(): Promise<Deleted>;
}

/**
 * Deletes what is older than its organization's retention, what belonged to deleted services and monitors, and what the pipeline left behind. One scheduler
 * of all does it at a time, under a lease. When it is stopped, ClickHouse ends the mutation that is under way by itself; the next run, which is due at
 * once, goes on with what is left. A step that fails keeps no other from being done; all are tried again in ten minutes.
 */
export function keepRetention(needs: RetentionNeeds): Repeating {
  const { database, clock, log, pauseMs = 60_000 } = needs;
  return repeat({
    pauseMs,
    async work(stopping) {
      const claim = await claimPeriodic(database, { name: NAME, everyMs: EVERY_MS, leaseMs: LEASE_MS }, new Date(clock.now()));
      if (!claim) return;
      const began = performance.now();
      let done = false;
      try {
        done = await runSteps(needs, claim, stopping);
      } finally {
        const soon = stopping.aborted ? 0 : AGAIN_MS;
        await claim.release(done ? Math.max(AGAIN_MS, EVERY_MS - (performance.now() - began)) : soon);
      }
      if (done) needs.metrics.retention.lastRun.set(clock.now() / 1_000);
    },
    onError: (error) => log[isPassing(error) ? "debug" : "error"]({ err: error }, "could not delete what is past its retention; trying again"),
  });
}

/** True when all was done. */
async function runSteps(needs: RetentionNeeds, claim: PeriodicClaim, stopping: AbortSignal): Promise<boolean> {
  const { log, metrics } = needs;
  let failures = 0;
  for (const step of await planSteps(needs, claim, stopping)) {
    const began = performance.now();
    try {
      const deleted = await beforeAbort(stopping, step.run());
      if (deleted.rows === 0) continue;
      metrics.retention.rows.inc({ what: step.what }, deleted.rows);
      metrics.retention.bytes.inc({ what: step.what }, deleted.bytes ?? 0);
      log.info({ what: step.what, ...deleted, ms: Math.round(performance.now() - began) }, "deleted what is past its retention");
    } catch (error) {
      if (stopping.aborted) return false;
      if (error instanceof PeriodicWorkLost) throw error;
      failures++;
      log[isPassing(error) ? "debug" : "error"]({ err: error, what: step.what }, "could not delete what is past its retention; trying again");
    }
  }
  return failures === 0;
}

/** Rejects as soon as the signal is aborted: a count of ClickHouse's may take minutes, and deletes nothing after that. */
async function beforeAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  // It may end with an error when nobody waits for it any more.
  work.catch(() => undefined);
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => (stop = () => reject(signal.reason)));
  signal.addEventListener("abort", stop);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function planSteps({ database, clickhouse, pollMs }: RetentionNeeds, claim: PeriodicClaim, signal: AbortSignal): Promise<Step[]> {
  const { now } = claim;
  let renewed = performance.now();
  const onWait = async (): Promise<void> => {
    signal.throwIfAborted();
    if (performance.now() - renewed < RENEW_MS) return;
    await claim.renew();
    renewed = performance.now();
  };
  const waiting = { signal, onWait, ...(pollMs !== undefined && { pollMs }) };
  const counted = (what: string, forget: () => Promise<number>): Step => ({ what, run: async () => ({ rows: await forget() }) });
  const bounds = await readRetentionBounds(database);
  const tables = await readRetainedTables(clickhouse);
  return [
    counted("edges", () => forgetEdges(database, now, onWait)),
    counted("dead_letters", () => forgetAnsweredLetters(database, now, onWait)),
    counted("daily_creations", () => forgetDailyCreations(database, now, onWait)),
    counted("deleted", () => forgetDeleted(database, now, onWait)),
    counted("insert_fences", () => forgetFences(clickhouse, now, waiting)),
    ...tables.map((table): Step => ({ what: table.table, run: () => forgetRows(clickhouse, table, { bounds, now, ...waiting }) })),
    counted("deletions", () => forgetDeletions(database, now)),
  ];
}

function isPassing(error: unknown): boolean {
  return isPostgresAway(error) || error instanceof ClickHouseUnavailable;
}
