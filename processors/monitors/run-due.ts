import { setMaxListeners } from "node:events";
import { sql } from "drizzle-orm";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import type { DueLooks } from "../../platform/due-looks.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import type { Repeating } from "../../platform/repeat.ts";
import { runDue } from "../../platform/run-due.ts";

interface Monitor {
  id: string;
  organizationId: string;
}

/** What one kind of monitor adds to claiming and recording. */
export interface MonitorRunner<Row extends Monitor, Result> {
  table: Parameters<typeof runDue>[0]["table"];
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

interface RunDueNeeds<Row extends Monitor, Result> {
  database: Database;
  /** May stand still over a step (`standStillOverSteps`). */
  clock: Clock;
  /** The one that does not: leases last by it. `clock` unless given. */
  wall?: Clock;
  config: Pick<Config, "SCHEDULER_TICK_MS">;
  log: Log;
  looks?: DueLooks | undefined;
  runner: MonitorRunner<Row, Result>;
}

/** Checks the monitors of one kind that are due, some at a time. Any number of these may run beside each other; none checks what another has claimed. */
export function runDueMonitors<Row extends Monitor, Result>({ database, clock, wall = clock, config, log, looks, runner }: RunDueNeeds<Row, Result>): Repeating {
  const { table, leaseMs, atOnce } = runner;
  const stopping = new AbortController();
  // Every check listens to it.
  setMaxListeners(0, stopping.signal);

  async function work(row: Row, token: string): Promise<void> {
    const result = await runner.check(row, stopping.signal);
    // Cut short by us, not by what is checked: whoever comes next checks it again.
    if (stopping.signal.aborted) return;
    await runner.record(database, row, { token, result, at: new Date(clock.now()) });
  }

  const checks = runDue({ database, clock, wall, log, pauseMs: config.SCHEDULER_TICK_MS, looks, what: "checks of monitors", table, condition: sql`enabled`, leaseMs, atOnce, read: (ids) => runner.read(database, ids), work });
  return {
    start: () => checks.start(),
    async stop() {
      stopping.abort();
      await checks.stop();
    },
  };
}
