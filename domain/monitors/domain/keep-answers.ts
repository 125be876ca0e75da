import { LRUCache } from "lru-cache";
import type { Clock } from "../../../platform/clock.ts";
import type { LookUp } from "./look-up.ts";
import type { Lookup } from "./registration.ts";

/** An hour less than a day, as `decideLookup` plans the next look-up. */
const KEPT_MS = 23 * 3_600_000;
const MOST = 10_000;

/** Looks each domain up once a day at most, for any number of monitors; what was found is given again meanwhile. What failed is not kept. */
export function keepAnswers(lookUp: LookUp, clock: Clock): LookUp {
  const kept = new LRUCache<string, { at: number; answer: Promise<Lookup> }>({ max: MOST });

  return async (domain, method, signal) => {
    const key = `${method} ${domain}`;
    const last = kept.get(key);
    const age = clock.now() - (last?.at ?? 0);
    // A clock that was set back makes no answer last longer.
    if (last && age >= 0 && age < KEPT_MS) return last.answer;
    const answer = lookUp(domain, method, signal);
    kept.set(key, { at: clock.now(), answer });
    if ((await answer).kind !== "found" && kept.peek(key)?.answer === answer) kept.delete(key);
    return answer;
  };
}
