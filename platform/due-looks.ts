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
  /** Follows a condition until `stopping`. Returns what says whether it held at the last look: true too while that is not known. */
  follow(isDue: (now: SQL) => SQL, stopping: AbortSignal): () => boolean;
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
  followers: number;
  /** What the last look said; null when it failed or none was made. */
  last: boolean | null;
}

/** Looks while anybody waits, and not otherwise. */
export function makeDueLooks({ database, clock, log, everyMs }: LooksNeeds): DueLooks {
  const kinds: Kind[] = [];
  let looking = false;

  const isAwaited = (): boolean => kinds.some(({ waiting, followers }) => waiting.size + followers > 0);

  async function lookWhileAwaited(): Promise<void> {
    while (isAwaited()) {
      await rest(everyMs);
      if (!isAwaited()) break;
      await look().catch((error: unknown) => {
        for (const kind of kinds) kind.last = null;
        log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, "could not look for what is due; trying again");
      });
    }
    looking = false;
  }

  function beginLooking(): void {
    if (looking) return;
    looking = true;
    void lookWhileAwaited();
  }

  /** Whoever asks for the same by the same clock shares it. */
  function kindOf(isDue: Kind["isDue"], own: Kind["clock"]): Kind {
    const before = kinds.find((kind) => kind.isDue === isDue && kind.clock === own);
    if (before) return before;
    const kind: Kind = { isDue, clock: own, waiting: new Set(), followers: 0, last: null };
    kinds.push(kind);
    return kind;
  }

  async function look(): Promise<void> {
    // All kinds, whoever waits: one text, which stays prepared.
    const answers = kinds.map((kind) => sql`(${kind.isDue(sql`${new Date(kind.clock.now()).toISOString()}::timestamptz`)})`);
    const { rows } = await database.execute<{ due: boolean[] }>(sql`select array[${sql.join(answers, sql`, `)}]::boolean[] as due`);
    const { due } = rows[0]!;
    for (const [at, isDue] of due.entries()) {
      const kind = kinds[at]!;
      kind.last = isDue;
      if (isDue) for (const go of kind.waiting) go();
    }
  }

  return {
    add(isDue, own = clock) {
      const kind = kindOf(isDue, own);
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
          beginLooking();
        });
      };
    },
    follow(isDue, stopping) {
      const kind = kindOf(isDue, clock);
      kind.followers++;
      stopping.addEventListener("abort", () => kind.followers--, { once: true });
      beginLooking();
      return () => kind.last ?? true;
    },
  };
}
