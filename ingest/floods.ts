import { announceFlood } from "../domain/floods/announce.ts";
import { readFloods } from "../domain/floods/read.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "../platform/postgres/database.ts";
import type { Topic } from "../schemas/vocabulary.ts";

export interface Floods {
  /** Notes a beacon of so many bytes; says which topic it goes to. */
  topicOf(organizationId: string, bytes: number): Topic;
  /** Re-reads what other edges found. */
  refresh(): Promise<void>;
  /** The same, for a timer: nothing while no beacons come, but for every REST_MS. */
  refreshForUse(): Promise<void>;
  /** Organizations whose beacons go to `beacons-overflow` now. */
  size(): number;
}

interface FloodsNeeds {
  database: Database;
  clock: Clock;
  log: Log;
  /** The part of all beacons' bytes that one organization may be, 0 to 1 … */
  share: number;
  /** … once all of them are this much a second. */
  fromBytes: number;
}

/** What was taken in is judged this often, in ms. */
const WINDOW_MS = 1_000;

/** An edge that takes in no beacons need not know more than the number of floods. */
const REST_MS = 10_000;

/** Who was more than its share of a window. With nobody beside it there is nobody to be kept from starving. */
export function floodersOf(bytes: ReadonlyMap<string, number>, { share, fromBytes }: Pick<FloodsNeeds, "share" | "fromBytes">): string[] {
  let total = 0;
  for (const each of bytes.values()) total += each;
  if (total < fromBytes || bytes.size < 2) return [];
  return [...bytes].filter(([, each]) => each > total * share).map(([organizationId]) => organizationId);
}

/**
 * One organization's flood goes to a topic of its own, for in a partition all wait for those before them. It goes there from an
 * announced moment on: processors have to know by then that ids of it may stand in either topic.
 */
export function makeFloods({ database, clock, log, ...limits }: FloodsNeeds): Floods {
  const routed = new Map<string, { since: number; until: number }>();
  const announced = new Map<string, number>();
  let bytesOf = new Map<string, number>();
  let windowEnds = 0;
  let isUsed = false;
  let readAt = -Infinity;

  function judge(now: number): void {
    for (const organizationId of floodersOf(bytesOf, limits)) {
      // While it lasts, once a minute.
      if (now - (announced.get(organizationId) ?? Number.NEGATIVE_INFINITY) < 60_000) continue;
      announced.set(organizationId, now);
      announceFlood(database, organizationId, now).then(
        () => {
          log.warn({ organization_id: organizationId }, "an organization sends more than its share of all beacons; they go to beacons-overflow");
          return refresh();
        },
        (error: unknown) => {
          announced.delete(organizationId);
          log.debug({ err: error }, "could not announce that an organization sends more than its share");
        },
      );
    }
    bytesOf = new Map();
    windowEnds = now + WINDOW_MS;
  }

  async function refresh(): Promise<void> {
    const now = clock.now();
    const found = await readFloods(database, now);
    readAt = clock.monotonic();
    routed.clear();
    for (const { organizationId, since, until } of found) if (until > now) routed.set(organizationId, { since, until });
    for (const [organizationId, at] of announced) if (now - at > 60_000) announced.delete(organizationId);
  }

  return {
    topicOf(organizationId, bytes) {
      const now = clock.now();
      isUsed = true;
      if (now >= windowEnds) judge(now);
      bytesOf.set(organizationId, (bytesOf.get(organizationId) ?? 0) + bytes);
      if (routed.size === 0) return "beacons";
      const flood = routed.get(organizationId);
      return flood && now >= flood.since && now < flood.until ? "beacons-overflow" : "beacons";
    },
    refresh,
    async refreshForUse() {
      if (!isUsed && clock.monotonic() - readAt < REST_MS) return;
      isUsed = false;
      await refresh();
    },
    size: () => routed.size,
  };
}
