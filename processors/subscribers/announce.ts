import { sql } from "drizzle-orm";
import { announceToNext } from "../../domain/subscribers/announce.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import type { DueLooks } from "../../platform/due-looks.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import { publicUrl } from "../../platform/public-url.ts";
import type { Repeating } from "../../platform/repeat.ts";
import { runDue } from "../../platform/run-due.ts";
import { announcements } from "../../schemas/tables/all.ts";

interface AnnouncingNeeds {
  database: Database;
  clock: Clock;
  config: Pick<Config, "PUBLIC_URL" | "PORT" | "SCHEDULER_TICK_MS" | "SHUTDOWN_LIMIT_MS">;
  log: Log;
  looks?: DueLooks | undefined;
}

/** For one batch of subscribers, which takes much less; who died is taken over from after so long. */
const LEASE_MS = 60_000;
const AT_ONCE = 4;

/** Writes the mails and posts of events that subscribers are to be told of, batch by batch. Any number of these may run beside each other. */
export function makeAnnouncing({ database, clock, config, log, looks }: AnnouncingNeeds): Repeating {
  const stopping = new AbortController();
  const due = runDue<{ id: string; organizationId: string }>({
    database,
    clock,
    log,
    pauseMs: config.SCHEDULER_TICK_MS,
    looks,
    what: "announcements",
    table: announcements,
    condition: sql`true`,
    leaseMs: LEASE_MS,
    atOnce: AT_ONCE,
    read: (ids) => database.select({ id: announcements.id, organizationId: announcements.organizationId }).from(announcements).where(sql`${announcements.id} = any(${uuids(ids)})`),
    async work(row, token) {
      let more = true;
      while (more && !stopping.signal.aborted) {
        const now = clock.now();
        more = await announceToNext(database, row, { token, leaseUntil: new Date(now + LEASE_MS), publicUrl: publicUrl(config), at: new Date(now) });
      }
    },
    stopMs: config.SHUTDOWN_LIMIT_MS / 2,
  });
  return {
    start: () => due.start(),
    async stop() {
      stopping.abort();
      await due.stop();
    },
  };
}
