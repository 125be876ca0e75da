import { setMaxListeners } from "node:events";
import { setTimeout as rest } from "node:timers/promises";
import { claimChannels, type ClaimedChannel } from "../../domain/notifications/claim.ts";
import { abandonClaimed, nextDueAt, recordAttempt, releaseChannel, type Attempt } from "../../domain/notifications/record.ts";
import type { PayloadSettings } from "../../domain/notifications/payloads/payload.ts";
import type { WaitingNotification } from "../../domain/notifications/waiting.ts";
import { makeBell } from "../../platform/bell.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import type { Log } from "../../platform/log.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { attemptSending, nextFor } from "./attempt.ts";

interface NotificationsNeeds {
  database: Database;
  outbound: Outbound;
  clock: Clock;
  config: PayloadSettings & Pick<Config, "SCHEDULER_TICK_MS" | "SHUTDOWN_LIMIT_MS" | "WEBHOOK_TIMEOUT_MS" | "PUBLIC_URL">;
  log: Log;
}

export interface Notifications {
  start(): void;
  /** Looks for work at once, as when a notification was announced. */
  wake(): void;
  /** Claims no more, lets running attempts finish for half of SHUTDOWN_LIMIT_MS and gives the others back. */
  stop(): Promise<void>;
}

/** Channels that are told something at a time: in all, of one type, of one organization. */
const LIMITS = { total: 200, perType: 60, perOrganization: 20 };

/** So many channels are claimed at once: all that they are to be told is read with them. */
const CLAIMED = 40;

/** A lease outlives the longest attempt by this, for recording it. */
const LEASE_MARGIN_MS = 15_000;

/** What happens within so many ms is claimed together. */
const GATHER_MS = 50;

/** The longest pause between tries while Postgres is away, in ms. */
const LONGEST_PAUSE_MS = 5_000;

/**
 * Tells channels what they are to be told, each one thing after the other at its vendor's pace, woken by announcements, by the next due
 * moment and at least every SCHEDULER_TICK_MS. Any number may run beside each other. While Postgres is away it keeps trying.
 */
export function makeNotifications({ database, outbound, clock, config, log }: NotificationsNeeds): Notifications {
  const running = new Map<ClaimedChannel, Promise<void>>();
  /** No more is claimed; later, what still runs is given up. */
  const stopping = new AbortController();
  const giveUp = new AbortController();
  // Every attempt listens to it.
  setMaxListeners(0, giveUp.signal);
  const leaseMs = config.WEBHOOK_TIMEOUT_MS + LEASE_MARGIN_MS;
  const publicUrl = config.PUBLIC_URL?.replace(/\/+$/, "") ?? null;
  const bell = makeBell();
  let looping: Promise<void> = Promise.resolve();

  async function loop(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        const restMs = await look();
        const looked = performance.now();
        failures = 0;
        await bell.wait(restMs);
        await pause(looked + GATHER_MS - performance.now(), stopping.signal);
      } catch (error) {
        log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, "could not look for notifications; trying again");
        failures++;
        // Not the bell: what rings it would turn the pause into a busy loop.
        await pause(config.SCHEDULER_TICK_MS * failures, stopping.signal);
      }
    }
  }

  /** One round; returns how long to rest, in ms. */
  async function look(): Promise<number> {
    const now = new Date(clock.now());
    const room = Math.min(LIMITS.total - running.size, CLAIMED);
    const claimed = room > 0 ? await claimChannels(database, now, leaseMs, { ...LIMITS, room, running: counts() }, publicUrl) : [];
    for (const each of claimed) {
      const told = tell(each)
        .catch((error: unknown) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error, channel_id: each.id }, "a channel could not be told; it is tried again when its claim has ended"))
        .finally(() => {
          running.delete(each);
          bell.ring();
        });
      running.set(each, told);
    }
    if (claimed.length > 0 && claimed.length === room) return 0;
    const next = await nextDueAt(database, now);
    return Math.min(config.SCHEDULER_TICK_MS, next === null ? Number.POSITIVE_INFINITY : Math.max(next.getTime() - clock.now(), 0));
  }

  async function tell(claimed: ClaimedChannel): Promise<void> {
    const sending = nextFor(claimed);
    const now = new Date(clock.now());
    if (!sending) return claimed.enabled ? releaseChannel(database, claimed, now) : abandonClaimed(database, claimed, now);
    const attempted = await attemptSending(claimed, sending, { outbound, clock, config, signal: giveUp.signal });
    if (attempted) await record(claimed, attempted.told, attempted.attempt);
    else await releaseChannel(database, claimed, new Date(clock.now()));
  }

  /** Until it is recorded: what a vendor answered must not be lost because Postgres is away for a while. */
  async function record(claimed: ClaimedChannel, told: readonly WaitingNotification[], attempt: Attempt): Promise<void> {
    for (let failures = 0; ; failures++) {
      try {
        const { kind } = await recordAttempt(database, claimed, told, attempt);
        return log.debug({ channel_id: claimed.id, type: claimed.type, notifications: told.length, status_code: attempt.statusCode, outcome: attempt.outcome, recorded: kind }, "channel told");
      } catch (error) {
        if (giveUp.signal.aborted || (!isPostgresAway(error) && failures >= 3)) throw error;
        log.debug({ err: error, channel_id: claimed.id }, "could not record what a channel was told; trying again");
        await pause(250 * (failures + 1), giveUp.signal);
      }
    }
  }

  function counts() {
    const types = new Map<string, number>();
    const organizations = new Map<string, number>();
    for (const { type, organizationId } of running.keys()) {
      types.set(type, (types.get(type) ?? 0) + 1);
      organizations.set(organizationId, (organizations.get(organizationId) ?? 0) + 1);
    }
    return { types, organizations };
  }

  return {
    start() {
      looping = loop();
    },
    wake: bell.ring,
    async stop() {
      stopping.abort();
      bell.ring();
      const limit = setTimeout(() => giveUp.abort(), config.SHUTDOWN_LIMIT_MS / 2);
      await looping;
      await Promise.all(running.values());
      clearTimeout(limit);
    },
  };
}

/** At most LONGEST_PAUSE_MS, and no longer than until `signal`. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds > 0) await rest(Math.min(milliseconds, LONGEST_PAUSE_MS), undefined, { signal }).catch(() => undefined);
}
