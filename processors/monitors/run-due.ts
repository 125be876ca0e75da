import { sql } from "drizzle-orm";
import { claimDue } from "../../platform/claim-due.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import type { Log } from "../../platform/log.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { repeat, type Repeating } from "../../platform/repeat.ts";

/** What one kind of monitor adds to claiming and recording. */
export interface MonitorRunner<Row extends { id: string }, Result> {
  table: Parameters<typeof claimDue>[1]["table"];
  /** Longer than a check can take, with a quarter of a minute to record it. */
  leaseMs: number;
  /** Checks at a time in this process. */
  atOnce: number;
  read(database: Database, ids: string[]): Promise<Row[]>;
  /** Never rejects: what goes wrong is the result. */
  check(row: Row, signal: AbortSignal): Promise<Result>;
  /** In one transaction, and only while the row still has the token: then the check counts, else another scheduler's does. */
  record(database: Database, row: Row, claim: { token: string; result: Result; at: Date }): Promise<void>;
}

interface RunDueNeeds<Row extends { id: string }, Result> {
  database: Database;
  clock: Clock;
  config: Pick<Config, "SCHEDULER_TICK_MS">;
  log: Log;
  runner: MonitorRunner<Row, Result>;
}

/** Checks the monitors of one kind that are due, some at a time. Any number of these may run beside each other; none checks what another has claimed. */
export function runDueMonitors<Row extends { id: string }, Result>({ database, clock, config, log, runner }: RunDueNeeds<Row, Result>): Repeating {
  const { table, leaseMs, atOnce } = runner;
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  async function checkOne(row: Row, token: string): Promise<void> {
    const result = await runner.check(row, stopping.signal);
    // Cut short by us, not by what is checked: whoever comes next checks it again.
    if (stopping.signal.aborted) return;
    await runner.record(database, row, { token, result, at: new Date(clock.now()) });
  }

  async function claim(): Promise<boolean> {
    const free = atOnce - running.size;
    if (free <= 0) {
      await Promise.race(running);
      return true;
    }
    const { ids, token } = await claimDue(database, { table, condition: sql`enabled`, now: new Date(clock.now()), leaseMs, limit: free });
    if (ids.length === 0) return false;
    for (const row of await runner.read(database, ids)) {
      const done: Promise<void> = checkOne(row, token)
        .catch((error: unknown) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error, monitorId: row.id }, "a check could not be recorded; it is made again when its claim has ended"))
        .finally(() => running.delete(done));
      running.add(done);
    }
    return ids.length === free;
  }

  const claims = repeat({
    pauseMs: config.SCHEDULER_TICK_MS,
    work: claim,
    onError: (error) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, "could not look for monitors that are due; trying again"),
  });
  return {
    start: () => claims.start(),
    async stop() {
      stopping.abort();
      await claims.stop();
      await Promise.all(running);
    },
  };
}
