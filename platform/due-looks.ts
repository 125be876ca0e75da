import { setTimeout as rest } from "node:timers/promises";
import { sql, type SQL } from "drizzle-orm";
import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";
import { isPostgresAway, type Database } from "./postgres/database.ts";

/**
 * Looks for all kinds of due work of a process in one statement. Claiming is dear, a dozen kinds are looked for each second, and nearly
 * always nothing is due.
 */
export interface DueLooks {
  /** Adds a kind of work: a condition, true when there is any at `now`, which is by the kind's own clock where it has one. */
  add(isDue: (now: SQL) => SQL, clock?: Pick<Clock, "now">): UntilDue;
}

/** Resolves when a look has found some, or with `stopping`. */
export type UntilDue = (stopping: AbortSignal) => Promise<void>;

interface LooksNeeds {
  database: Database;
  clock: Clock;
  log: Log;
  /** Between two looks, in ms. */
  everyMs: number;
}

interface Kind {
  isDue(now: SQL): SQL;
  clock: Pick<Clock, "now">;
  waiting: Set<() => void>;
}

/** Looks while anybody waits, and not otherwise. */
export function makeDueLooks({ database, clock, log, everyMs }: LooksNeeds): DueLooks {
  const kinds: Kind[] = [];
  let looking = false;

  const isAwaited = (): boolean => kinds.some(({ waiting }) => waiting.size > 0);

  async function lookWhileAwaited(): Promise<void> {
    while (isAwaited()) {
      await rest(everyMs);
      if (!isAwaited()) break;
      await look().catch((error: unknown) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, "could not look for what is due; trying again"));
    }
    looking = false;
  }

  async function look(): Promise<void> {
    // All kinds, whoever waits: one text, which stays prepared.
    const answers = kinds.map((kind) => sql`(${kind.isDue(sql`${new Date(kind.clock.now()).toISOString()}::timestamptz`)})`);
    const { rows } = await database.execute<{ due: boolean[] }>(sql`select array[${sql.join(answers, sql`, `)}]::boolean[] as due`);
    for (const [at, { waiting }] of kinds.entries()) if (rows[0]!.due[at]) for (const go of waiting) go();
  }

  return {
    add(isDue, own = clock) {
      const kind: Kind = { isDue, clock: own, waiting: new Set() };
      kinds.push(kind);
      return async (stopping) => {
        if (stopping.aborted) return;
        await new Promise<void>((resolve) => {
          const go = (): void => {
            kind.waiting.delete(go);
            stopping.removeEventListener("abort", go);
            resolve();
          };
          kind.waiting.add(go);
          stopping.addEventListener("abort", go);
          if (!looking) {
            looking = true;
            void lookWhileAwaited();
          }
        });
      };
    },
  };
}
