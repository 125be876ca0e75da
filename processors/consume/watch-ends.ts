import type { SQL } from "drizzle-orm";
import type { Clock } from "../../platform/clock.ts";
import type { DueLooks } from "../../platform/due-looks.ts";
import type { EventLog } from "../../platform/event-log/port.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { isPostgresAway } from "../../platform/postgres/database.ts";
import type { ConsumerName } from "./cursor-name.ts";
import type { CursorStore } from "./cursor-store.ts";

/** An edge publishes its oldest unsent frame every second; what is younger than this may still be on its way. */
const ON_THE_WAY_MS = 3_000;

/** So many looks apart the lease is verified: a partition without news would not hear otherwise that PostgreSQL was restored. */
const VERIFY_EVERY = 10;

/** So that the consumers of a process verify one after the other, and not on a connection each. */
let watches = 0;

/** The moment up to which a partition is certainly processed once the entries received at `receivedAt` are. */
export function provenAfter(receivedAt: number): Date {
  return new Date(Math.max(0, receivedAt - ON_THE_WAY_MS));
}

interface WatchNeeds {
  eventLog: Pick<EventLog, "ends">;
  cursors: CursorStore;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  looks?: Pick<DueLooks, "follow">;
}

/** What it is good for that a topic is known to be processed up to a moment. */
export interface Proof {
  /** A condition: whether somebody needs it fresh. */
  isNear(now: SQL): SQL;
  /** While nobody does it is written down so far apart, in ms. */
  farMs: number;
}

interface Watched {
  /** The lease and the cursors that it holds; null while there is none. */
  held(): { lease: string; next: ReadonlyMap<number, bigint> } | null;
  /** How many events a record holds, as of late. */
  eventsPerRecord(): number;
  /** Makes sure that PostgreSQL still says so. */
  verifyLease(): Promise<void>;
  /** Also writes down up to when the topic is processed: an idle pipeline proves that a heartbeat is late by it. */
  proves: Proof | null;
}

/** Every second compares the cursors with the log's ends: how far behind they are, and whether they have caught up. */
export function watchEnds(needs: WatchNeeds, { group, topic }: ConsumerName, watched: Watched): { stop(): void } {
  const { eventLog, cursors, clock, log, metrics, looks: dueLooks } = needs;
  const { proves } = watched;
  const stopping = new AbortController();
  const isNear = proves && dueLooks?.follow(proves.isNear, stopping.signal);
  let provedAt = -Infinity;
  let busy = false;
  let looks = watches++;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    look()
      .catch((error: unknown) => log[isPostgresAway(error) ? "debug" : "warn"]({ err: error }, "could not tell how far the log is processed"))
      .finally(() => (busy = false));
  }, 1_000);

  async function look(): Promise<void> {
    const asked = clock.now();
    const ends = await eventLog.ends(topic);
    if (looks++ % VERIFY_EVERY === 0) await watched.verifyLease();
    const held = watched.held();
    if (!held) return;
    let behind = 0;
    const caughtUp = new Map<number, bigint>();
    for (const [partition, next] of held.next) {
      const missing = (ends[partition] ?? next) - next;
      if (missing > 0n) behind += Number(missing);
      else caughtUp.set(partition, next);
    }
    metrics.pipelineLag.set({ topic, group }, Math.round(behind * watched.eventsPerRecord()));
    if (!proves || (isNear?.() === false && clock.monotonic() - provedAt < proves.farMs)) return;
    await cursors.noteCaughtUp(held.lease, caughtUp, provenAfter(asked));
    provedAt = clock.monotonic();
  }

  return {
    stop() {
      clearInterval(timer);
      stopping.abort();
    },
  };
}
