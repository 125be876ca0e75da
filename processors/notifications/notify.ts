import { claimChannels, type ClaimedChannel } from "../../domain/notifications/claim.ts";
import { lookForNotifications, notificationsAreDue } from "../../domain/notifications/look.ts";
import { abandonClaimed, recordAttempt, releaseChannel, type Attempt } from "../../domain/notifications/record.ts";
import type { PayloadSettings } from "../../domain/notifications/payloads/payload.ts";
import type { WaitingNotification } from "../../domain/notifications/waiting.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import { makeDueLooks, type DueLooks } from "../../platform/due-looks.ts";
import type { Log } from "../../platform/log.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { makeSender, msUntil, type Sender } from "../due-work/sender.ts";
import { attemptSending, nextFor } from "./attempt.ts";

interface NotificationsNeeds {
  database: Database;
  outbound: Outbound;
  clock: Clock;
  config: PayloadSettings & Pick<Config, "SCHEDULER_TICK_MS" | "SHUTDOWN_LIMIT_MS" | "SMS_PER_DAY" | "WEBHOOK_TIMEOUT_MS" | "PUBLIC_URL">;
  log: Log;
  looks?: DueLooks | undefined;
}

/** Channels that are told something at a time: in all, of one type, of one organization. */
const LIMITS = { total: 200, perType: 60, perOrganization: 20 };

/** So many channels are claimed at once: all that they are to be told is read with them. */
const CLAIMED = 40;

/** A lease outlives the longest attempt by this, for recording it. */
const LEASE_MARGIN_MS = 15_000;

/**
 * Tells channels what they are to be told, each one thing after the other at its vendor's pace, woken by announcements, by the next due
 * moment and by `looks`. Any number may run beside each other. While Postgres is away it keeps trying.
 */
export function makeNotifications({ database, outbound, clock, config, log, looks = makeDueLooks({ database, clock, log, everyMs: config.SCHEDULER_TICK_MS }) }: NotificationsNeeds): Sender {
  const running = new Map<ClaimedChannel, Promise<void>>();
  const leaseMs = config.WEBHOOK_TIMEOUT_MS + LEASE_MARGIN_MS;
  const publicUrl = config.PUBLIC_URL?.replace(/\/+$/, "") ?? null;
  const untilDue = looks.add(notificationsAreDue);
  const sender = makeSender({ config, log, what: "notifications", look, untilDue, finished: async () => void (await Promise.all(running.values())) });

  /** One round; returns how long to rest, in ms. */
  async function look(): Promise<number> {
    const now = new Date(clock.now());
    const found = await lookForNotifications(database, now);
    if (!found.areDue) return msUntil(found.nextDueAt, clock);
    const room = Math.min(LIMITS.total - running.size, CLAIMED);
    const claimed = room > 0 ? await claimChannels(database, now, leaseMs, { ...LIMITS, room, running: counts() }, publicUrl) : [];
    for (const each of claimed) {
      const told = tell(each)
        .catch((error: unknown) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error, channel_id: each.id }, "a channel could not be told; it is tried again when its claim has ended"))
        .finally(() => {
          running.delete(each);
          sender.wake();
        });
      running.set(each, told);
    }
    if (claimed.length > 0 && claimed.length === room) return 0;
    return msUntil((await lookForNotifications(database, now)).nextDueAt, clock);
  }

  async function tell(claimed: ClaimedChannel): Promise<void> {
    const sending = nextFor(claimed);
    const now = new Date(clock.now());
    if (!sending) return claimed.enabled ? releaseChannel(database, claimed, now) : abandonClaimed(database, claimed, now);
    const attempted = await attemptSending(claimed, sending, { database, outbound, clock, config, signal: sender.giveUp });
    if (attempted) await record(claimed, attempted.told, attempted.attempt);
    else await releaseChannel(database, claimed, new Date(clock.now()));
  }

  async function record(claimed: ClaimedChannel, told: readonly WaitingNotification[], attempt: Attempt): Promise<void> {
    const { kind } = await sender.untilRecorded(() => recordAttempt(database, claimed, told, attempt));
    log.debug({ channel_id: claimed.id, type: claimed.type, notifications: told.length, status_code: attempt.statusCode, outcome: attempt.outcome, recorded: kind }, "channel told");
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

  return sender;
}
