import { setMaxListeners } from "node:events";
import { sql } from "drizzle-orm";
import { claimDue } from "../../platform/claim-due.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import { fairShare } from "../../platform/fair-share.ts";
import type { Log } from "../../platform/log.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { repeat, type Repeating } from "../../platform/repeat.ts";

interface Monitor {
  id: string;
  organizationId: string;
}

/** What one kind of monitor adds to claiming and recording. */
export interface MonitorRunner<Row extends Monitor, Result> {
  table: Parameters<typeof fairShare>[0]["table"] & Parameters<typeof claimDue>[1]["table"];
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
  clock: Clock;
  config: Pick<Config, "SCHEDULER_TICK_MS">;
  log: Log;
  runner: MonitorRunner<Row, Result>;
}

/** Of all places the part that one organization may take, so that one whose hosts hang keeps only its own monitors waiting. */
const ORGANIZATION_SHARE = 0.4;

/** A claim is made when so large a part of the places is free: one for each that becomes free would cost more than the checks. */
const CLAIM_SHARE = 0.25;

/** Checks the monitors of one kind that are due, some at a time. Any number of these may run beside each other; none checks what another has claimed. */
export function runDueMonitors<Row extends Monitor, Result>({ database, clock, config, log, runner }: RunDueNeeds<Row, Result>): Repeating {
  const { table, leaseMs, atOnce } = runner;
  const running = makeRunning(atOnce * (1 - CLAIM_SHARE));
  const stopping = new AbortController();
  // Every check listens to it.
  setMaxListeners(0, stopping.signal);

  async function checkOne(row: Row, token: string): Promise<void> {
    const result = await runner.check(row, stopping.signal);
    // Cut short by us, not by what is checked: whoever comes next checks it again.
    if (stopping.signal.aborted) return;
    await runner.record(database, row, { token, result, at: new Date(clock.now()) });
  }

  async function claim(): Promise<boolean> {
    await running.untilFree();
    const now = new Date(clock.now());
    const share = fairShare({ table, condition: sql`enabled`, now, perOrganization: Math.ceil(atOnce * ORGANIZATION_SHARE), running: running.byOrganization });
    const free = atOnce - running.size();
    const { ids, token } = await claimDue(database, { table, condition: sql`enabled and id in (${share})`, now, leaseMs, limit: free });
    if (ids.length === 0) return false;
    for (const row of await runner.read(database, ids)) {
      const done = checkOne(row, token).catch((error: unknown) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error, monitorId: row.id }, "a check could not be recorded; it is made again when its claim has ended"));
      running.add(row, done);
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
      await running.finished();
    },
  };
}

/** The checks that are being made, counted by organization. `full` of them are too many to claim more. */
function makeRunning(full: number) {
  const checks = new Set<Promise<void>>();
  const byOrganization = new Map<string, number>();
  let wake: (() => void) | null = null;

  return {
    byOrganization,
    size: () => checks.size,
    add({ organizationId }: Monitor, check: Promise<void>): void {
      byOrganization.set(organizationId, (byOrganization.get(organizationId) ?? 0) + 1);
      const counted = check.finally(() => {
        checks.delete(counted);
        const left = byOrganization.get(organizationId)! - 1;
        if (left === 0) byOrganization.delete(organizationId);
        else byOrganization.set(organizationId, left);
        if (checks.size <= full) wake?.();
      });
      checks.add(counted);
    },
    /** For one at a time. */
    async untilFree(): Promise<void> {
      if (checks.size > full) await new Promise<void>((resolve) => (wake = resolve));
      wake = null;
    },
    async finished(): Promise<void> {
      await Promise.all(checks);
    },
  };
}
