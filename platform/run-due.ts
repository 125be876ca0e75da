import { sql } from "drizzle-orm";
import { claimDue } from "./claim-due.ts";
import type { Clock } from "./clock.ts";
import { makeDueLooks, type DueLooks } from "./due-looks.ts";
import { fairShare } from "./fair-share.ts";
import type { Log } from "./log.ts";
import { isPostgresAway, type Database } from "./postgres/database.ts";
import { repeat, type Repeating } from "./repeat.ts";

interface Owned {
  id: string;
  organizationId: string;
}

interface RunDueNeeds<Row extends Owned> {
  database: Database;
  /** May stand still over a step (`standStillOverSteps`). */
  clock: Clock;
  /** The one that does not: leases last by it. `clock` unless given. */
  wall?: Clock;
  log: Log;
  /** Between two looks that found nothing, in ms. */
  pauseMs: number;
  /** Shared by all kinds of work of a process, so that their looks are one statement; of this kind alone unless given. */
  looks?: DueLooks | undefined;
  /** Names the work in the log: "mails". */
  what: string;
  table: Parameters<typeof fairShare>[0]["table"] & Parameters<typeof claimDue>[1]["table"];
  /** Which rows are work at all, beside being due. */
  condition: Parameters<typeof claimDue>[1]["condition"];
  /** Longer than the work can take, by enough to record its outcome. */
  leaseMs: number;
  /** Rows at a time in this process; one organization takes a part of them. */
  atOnce: number;
  /** The claimed rows, as the work needs them. */
  read(ids: string[]): Promise<Row[]>;
  /** Does it and records it, where the row still has the token. */
  work(row: Row, token: string): Promise<void>;
  /** How long a stop waits for what runs, in ms; the rest is due again when its lease ends. Until all has ended unless given. */
  stopMs?: number;
}

/** Of all places the part that one organization may take while its work is slow. */
const ORGANIZATION_SHARE = 0.5;

/** A claim is made when so large a part of the places is free: one for each that becomes free would cost more than the work. */
const CLAIM_SHARE = 0.25;

/** Does rows of work that are due, some at a time, fair between organizations. Any number of these may run beside each other; none does what another has claimed. */
export function runDue<Row extends Owned>({ database, clock, wall = clock, log, pauseMs, looks = makeDueLooks({ database, clock, log, everyMs: pauseMs }), what, table, condition, leaseMs, atOnce, read, work, stopMs }: RunDueNeeds<Row>): Repeating {
  const running = new Map<Promise<void>, string>();
  const places = makePlaces();
  const perOrganization = Math.ceil(atOnce * ORGANIZATION_SHARE);

  function counts(): Map<string, number> {
    const counted = new Map<string, number>();
    for (const organizationId of running.values()) counted.set(organizationId, (counted.get(organizationId) ?? 0) + 1);
    return counted;
  }

  /** Due work of such an organization is left for later. */
  function isAnyAtShare(): boolean {
    return [...counts().values()].some((count) => count >= perOrganization);
  }

  function begin(row: Row, token: string): void {
    const done = work(row, token)
      .catch((error: unknown) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error, id: row.id }, `what came of one of the ${what} could not be recorded; it is done again when its claim has ended`))
      .finally(() => {
        running.delete(done);
        places.leave();
      });
    running.set(done, row.organizationId);
  }

  async function claim(stopping: AbortSignal): Promise<boolean> {
    places.lookAnew();
    const busy = running.size > 0;
    const free = atOnce - running.size;
    if (free < Math.max(1, atOnce * CLAIM_SHARE)) {
      await places.untilFree(stopping, pauseMs);
      return true;
    }
    const now = new Date(clock.now());
    const share = fairShare({ table, condition, now, perOrganization, running: counts() });
    const { ids, token } = await claimDue(database, { table, condition: sql`${condition} and ${table.id} = any (array(${share}))`, now, leaseMs: leaseMs + wall.now() - now.getTime(), limit: free });
    if (ids.length > 0) for (const row of await read(ids)) begin(row, token);
    // All that was due is claimed. Another claim for each that is done would find nothing, and costs more than most of the work.
    if (ids.length < free && !isAnyAtShare()) return false;
    // An organization that has its share goes on as soon as one of its own is done.
    if (ids.length === 0 && busy) await places.untilFree(stopping, pauseMs);
    return ids.length > 0 || busy;
  }

  const claims = repeat({
    pauseMs,
    untilDue: looks.add((now) => sql`exists (select from ${table} where ${table.dueAt} <= ${now} and (${condition}))`, clock),
    work: claim,
    onError: (error) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, `could not look for ${what}; trying again`),
  });
  return {
    start: () => claims.start(),
    async stop() {
      await claims.stop();
      const ended = Promise.all(running.keys());
      await (stopMs === undefined ? ended : Promise.race([ended, new Promise((resolve) => setTimeout(resolve, stopMs).unref())]));
    },
  };
}

/** Tells when a place became free since the last look. */
function makePlaces() {
  let left = false;
  let wake = (): void => undefined;
  return {
    lookAnew(): void {
      left = false;
    },
    leave(): void {
      left = true;
      wake();
    },
    /** At most `milliseconds`, and no longer than until `stopping`. */
    async untilFree(stopping: AbortSignal, milliseconds: number): Promise<void> {
      if (left || stopping.aborted) return;
      await new Promise<void>((resolve) => {
        const go = (): void => {
          clearTimeout(timer);
          stopping.removeEventListener("abort", go);
          resolve();
        };
        const timer = setTimeout(go, milliseconds);
        stopping.addEventListener("abort", go);
        wake = go;
      });
    },
  };
}
