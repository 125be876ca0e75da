import { LRUCache } from "lru-cache";
import type { Clock } from "../../platform/clock.ts";
import { clientNetwork } from "../../platform/client-address.ts";
import type { Config } from "../../platform/config.ts";
import type { Database } from "../../platform/postgres/database.ts";
import type { StatusPageRow } from "./columns.ts";
import { afterWrong, forgetWrongTries, noteWrongTry, readWrongTries, secondsToWait, type WrongTries } from "./password-tries.ts";
import { takeTurnsByKey } from "./take-turns.ts";
import { tooManyTries, type TryPassword } from "./try-password.ts";

/** What this process knows of clients that were wrong; what it forgets stands in the database. */
const MOST_KNOWN = 100_000;

/** One try of a client at a time, so that many at once are not all judged before the first is counted. */
const TURNS = { atOnce: 1, waiting: 10 };

/** `later`: the client has to wait so many whole seconds; nothing was tried. */
export type Guarded = { kind: "right" } | { kind: "wrong" } | { kind: "later"; seconds: number };

interface GuardNeeds {
  database: Database;
  clock: Clock;
  config: Pick<Config, "RATE_LIMIT_PAGE_PASSWORD">;
  tryPassword: TryPassword;
}

/**
 * Tries a page's password for a client, who is slowed down when it is wrong too often; nobody else is. Wrong tries are counted over all
 * processes, by page and by the client's network. A right password writes nothing unless there were wrong ones. UNAVAILABLE when too many are
 * being tried; throws what Postgres threw when it is away: then nothing is tried.
 */
export function makeGuardedTry({ database, clock, config, tryPassword }: GuardNeeds): (page: Pick<StatusPageRow, "id" | "visibility" | "passwordHash">, address: string, password: string) => Promise<Guarded> {
  const free = config.RATE_LIMIT_PAGE_PASSWORD;
  const known = new LRUCache<string, WrongTries>({ max: MOST_KNOWN });
  const inTurn = takeTurnsByKey(TURNS, tooManyTries);

  return async (page, address, password) => {
    if (free === 0) return { kind: (await tryPassword(page, password)) ? "right" : "wrong" };
    const client = clientNetwork(address, 64);
    const key = `${page.id} ${client}`;
    const wait = () => secondsToWait(known.get(key) ?? null, { free, now: clock.now() });
    // Who is known to wait costs neither a hash nor a query.
    if (wait() > 0) return { kind: "later", seconds: wait() };
    return inTurn(key, async () => {
      const tries = worse(await readWrongTries(database, page.id, client), known.get(key) ?? null);
      if (tries) known.set(key, tries);
      if (wait() > 0) return { kind: "later", seconds: wait() };
      if (await tryPassword(page, password)) {
        known.delete(key);
        if (tries) await forgetWrongTries(database, page.id, client);
        return { kind: "right" };
      }
      // Counted here first: it has to count also when it cannot be written.
      known.set(key, afterWrong(tries, clock.now()));
      const noted = await noteWrongTry(database, page.id, { client, now: clock.now() });
      if (noted) known.set(key, worse(noted, known.get(key) ?? null)!);
      return { kind: "wrong" };
    });
  };
}

function worse(one: WrongTries | null, other: WrongTries | null): WrongTries | null {
  if (one === null || other === null) return one ?? other;
  return other.wrong > one.wrong ? other : one;
}
