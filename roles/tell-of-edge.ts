import { inArray, sql } from "drizzle-orm";
import type { Clock } from "../platform/clock.ts";
import type { WritableLog } from "../platform/event-log/port.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "../platform/postgres/database.ts";
import { havePingsPassed } from "../processors/heartbeats/have-passed.ts";
import { edges } from "../schemas/tables/all.ts";

interface TellNeeds {
  database: Database;
  eventLog: WritableLog;
  clock: Clock;
  log: Log;
  edgeId: string;
  /** When the oldest ping was received that the log does not have, ms since the epoch. */
  oldestUnsentAt(): number | null;
  /** Edges before us whose frames we sent. */
  formerEdges(): string[];
}

export interface Teller {
  start(): Promise<void>;
  /** The last word: an edge that leaves pings behind stays known. */
  stop(): Promise<void>;
}

const PUBLISH_MS = 1_000;
/** An edge that has nothing to tell says so often that it lives; half a minute without is taken for its end. */
const ALIVE_EVERY_MS = 5_000;
/** Pings older than this when they come into the log may come in after their partition was called caught up. */
const LATE_MS = 2_000;

/**
 * Tells the late-finder how old the oldest ping is that is not in the log: once a second while there is one. Pings that came into the log late
 * count as unsent until they are processed: the time up to which a partition is caught up may be past theirs already.
 */
export function tellOfEdge({ database, eventLog, clock, log, edgeId, oldestUnsentAt, formerEdges }: TellNeeds): Teller {
  /** Late pings, and the log's ends once all of them are in it. */
  let late: { since: number; ends: bigint[] | null } | null = null;
  let published: { oldest: number | null; at: number } | null = null;
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  async function look(): Promise<void> {
    const unsent = oldestUnsentAt();
    if (unsent !== null && clock.now() - unsent > LATE_MS) {
      late = { since: Math.min(late?.since ?? unsent, unsent), ends: null };
    } else if (late && !late.ends) {
      late.ends = await eventLog.ends("heartbeats");
    } else if (late?.ends && (await havePingsPassed(database, eventLog.id, late.ends))) {
      late = null;
      const gone = formerEdges().filter((id) => id !== edgeId);
      if (gone.length > 0) await database.delete(edges).where(inArray(edges.id, gone));
    }
  }

  async function publish(): Promise<void> {
    const unsent = oldestUnsentAt();
    const oldest = late && unsent !== null ? Math.min(late.since, unsent) : (late?.since ?? unsent);
    const now = clock.now();
    const isNews = oldest !== null || published === null || published.oldest !== null || Math.abs(now - published.at) >= ALIVE_EVERY_MS;
    if (!isNews) return;
    const row = { oldestUnsentAt: oldest === null ? null : new Date(oldest), seenAt: new Date(now) };
    await database
      .insert(edges)
      .values({ id: edgeId, ...row })
      .onConflictDoUpdate({ target: edges.id, set: row })
      .then(() => (published = { oldest, at: now }))
      .catch((error: unknown) => log.debug({ err: error }, "could not publish the oldest unsent ping"));
  }

  async function tell(): Promise<void> {
    await look().catch((error: unknown) => log.debug({ err: error }, "could not tell whether late pings are processed"));
    if (!stopped) await publish();
    if (!stopped) timer = setTimeout(() => void tell(), PUBLISH_MS);
  }

  return {
    start: tell,
    // A look under way is not waited for: Kafka may be away.
    async stop() {
      stopped = true;
      if (timer) clearTimeout(timer);
      if (late || oldestUnsentAt() !== null) await publish();
      else await database.delete(edges).where(sql`${edges.id} = ${edgeId}`);
    },
  };
}
