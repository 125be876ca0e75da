import { claimDeliveries, type ClaimedDelivery } from "../../domain/deliveries/claim.ts";
import { deliveriesAreDue, lookForDeliveries } from "../../domain/deliveries/look.ts";
import { recordAttempt, releaseDeliveries, type Attempt } from "../../domain/deliveries/record.ts";
import { fanOut } from "../../domain/events/fan-out.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import { makeDueLooks, type DueLooks } from "../../platform/due-looks.ts";
import type { Log } from "../../platform/log.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { makeSender, msUntil, type Sender } from "../due-work/sender.ts";
import { attemptDelivery } from "./attempt.ts";
import { makeInOrder } from "./in-order.ts";
import { makeRunning } from "./running.ts";

interface DeliveriesNeeds {
  database: Database;
  outbound: Outbound;
  clock: Clock;
  config: Pick<Config, "SCHEDULER_TICK_MS" | "SHUTDOWN_LIMIT_MS" | "WEBHOOK_TIMEOUT_MS" | "WEBHOOK_RETRY_DELAYS" | "WEBHOOK_ALLOW_HTTP">;
  log: Log;
  looks?: DueLooks | undefined;
  /** LIMITS unless given. */
  limits?: typeof LIMITS;
}

/** Deliveries in hand at a time: in all, of one webhook, of all webhooks of one organization. Most of a slow one is waiting, which costs little. */
const LIMITS = { total: 2_000, perWebhook: 20, perOrganization: 500 };

/** Claimed at once. */
const CLAIM = 400;

/** The deliveries of a webhook begin one after the other, but none waits longer than this for the one before it. */
const PATIENCE_MS = 1_000;

/** A lease outlives the longest attempt by this, for its turn and for recording it. */
const LEASE_MARGIN_MS = LIMITS.perWebhook * PATIENCE_MS + 15_000;

/** For how long a delivery is claimed. */
export function deliveryLeaseMs({ WEBHOOK_TIMEOUT_MS }: Pick<Config, "WEBHOOK_TIMEOUT_MS">): number {
  return WEBHOOK_TIMEOUT_MS + LEASE_MARGIN_MS;
}

/**
 * Fans events out and makes the deliveries that are due, woken by announcements, by the next due moment and by
 * `looks`. Any number may run beside each other. While Postgres is away it keeps trying.
 */
export function makeDeliveries({ database, outbound, clock, config, log, looks = makeDueLooks({ database, clock, log, everyMs: config.SCHEDULER_TICK_MS }), limits = LIMITS }: DeliveriesNeeds): Sender {
  const running = makeRunning();
  const leaseMs = deliveryLeaseMs(config);
  const inOrder = makeInOrder(PATIENCE_MS);
  const untilDue = looks.add(deliveriesAreDue);
  const sender = makeSender({ config, log, what: "webhook deliveries", look, untilDue, finished: () => running.finished() });

  /** One round; returns how long to rest, in ms. */
  async function look(): Promise<number> {
    const now = new Date(clock.now());
    let found = await lookForDeliveries(database, now);
    if (found.areEventsNew) {
      // Events that come while others wait are not announced (migration 0009): there may be more.
      if ((await fanOut(database, now)) > 0) sender.wake();
      found = await lookForDeliveries(database, now);
    }
    if (!found.areDue) return msUntil(found.nextDueAt, clock);
    const room = Math.min(CLAIM, limits.total - running.size());
    // All places are taken: whoever leaves one rings.
    if (room <= 0) return config.SCHEDULER_TICK_MS;
    const claimed = await claimDeliveries(database, now, leaseMs, { ...limits, room, running: running.counts() });
    for (const each of claimed) running.add(each, deliver(each).catch((error: unknown) => log.error({ err: error, delivery_id: each.id }, "a webhook delivery failed unexpectedly")).finally(() => finish(each)));
    // There is more, and places too.
    if (claimed.length === CLAIM) return 0;
    return msUntil((await lookForDeliveries(database, now)).nextDueAt, clock);
  }

  /** A place became free: what waited for it may go. */
  function finish(claimed: ClaimedDelivery): void {
    running.delete(claimed);
    sender.wake();
  }

  async function deliver(claimed: ClaimedDelivery): Promise<void> {
    const attempt = await inOrder(claimed.webhookId, () => attemptDelivery(claimed, { outbound, clock, config, signal: sender.giveUp }));
    if (attempt) note(claimed, attempt, await sender.untilRecorded(() => recordAttempt(database, claimed, attempt, config.WEBHOOK_RETRY_DELAYS)));
    else await releaseDeliveries(database, [claimed], new Date(clock.now()));
  }

  function note({ id, webhookId, organizationId, attempt: number }: ClaimedDelivery, attempt: Attempt, plan: Awaited<ReturnType<typeof recordAttempt>>): void {
    log.debug({ delivery_id: id, webhook_id: webhookId, attempt: number, status_code: attempt.statusCode, error: attempt.error, plan: plan.kind }, "webhook delivery attempted");
    if (plan.kind === "disable") log.warn({ webhook_id: webhookId, organization_id: organizationId, reason: plan.reason, error: attempt.error }, "webhook disabled: its receiver failed for good");
  }

  return sender;
}
