import { HISTORY_TIMES } from "../processors/consume/batch-pace.ts";
import { deliveryLeaseMs, makeDeliveries } from "../processors/deliveries/deliver.ts";
import { forgetOld } from "../processors/due-work/forget-old.ts";
import { followClock } from "../processors/due-work/follow-clock.ts";
import { keepDomains } from "../processors/due-work/keep-domains.ts";
import { keepRetention } from "../processors/due-work/keep-retention.ts";
import { makeNotifications } from "../processors/notifications/notify.ts";
import { makeLateFinder } from "../processors/heartbeats/find-late.ts";
import { makeMailSender } from "../processors/mail/send.ts";
import { domainRunner } from "../processors/monitors/run-domain.ts";
import { runDueMonitors, type MonitorRunner } from "../processors/monitors/run-due.ts";
import { sslRunner } from "../processors/monitors/run-ssl.ts";
import { uptimeRunner } from "../processors/monitors/run-uptime.ts";
import { runDueWorkflows } from "../processors/workflows/run-due.ts";
import { watchLateness } from "../processors/monitors/watch-lateness.ts";
import { makeAnnouncing } from "../processors/subscribers/announce.ts";
import { makePosting } from "../processors/subscribers/post.ts";
import { judgePriorities } from "../domain/errors/judge-priorities.ts";
import { anyWindowIsDue, makeDueWindows } from "../domain/maintenance/run-due.ts";
import { resultsAreDue, storeResults } from "../domain/monitors/store-results.ts";
import { makeUptimeProbe } from "../domain/monitors/uptime/probe.ts";
import { standStillOverSteps } from "../platform/clock-steps.ts";
import { ClickHouseUnavailable } from "../platform/clickhouse/port.ts";
import { makeOutbound } from "../platform/outbound/outbound.ts";
import { listenTo } from "../platform/postgres/listen.ts";
import { isPostgresAway } from "../platform/postgres/database.ts";
import { makeTxtResolver } from "../platform/resolve-txt.ts";
import { repeat } from "../platform/repeat.ts";
import type { House } from "./house.ts";

/** Reads the sessions of a day. */
const PRIORITIES_MS = 120_000;

/** After a failure to bring results of checks to ClickHouse. */
const RESULTS_MS = 1_000;

/** The role that does what is due: webhook deliveries, notifications of channels, mail, subscribers of pages, checks of monitors, heartbeat monitors that are late, maintenance windows, workflows, errors that spread, and what is past its retention. */
export function startSchedulerRole(house: House): void {
  const { config, clock, log, database, lifecycle, metrics, looks } = house;
  const outbound = makeOutbound({ config });
  const deliveries = makeDeliveries({ database, outbound, clock, config, log, looks });
  const notifications = makeNotifications({ database, outbound, clock, config, log, looks });
  const lateFinder = makeLateFinder({ database, clock, config, log, looks, logId: house.eventLog.id, partitions: house.eventLog.partitions("heartbeats") });
  const wake = (): void => {
    deliveries.wake();
    notifications.wake();
  };
  const listening = listenTo({ connectionString: house.databaseUrl, channel: "pharos_events", onNotify: wake, log });
  const priorities = repeat({
    pauseMs: PRIORITIES_MS,
    work: async () => void (await judgePriorities(house, clock.now())),
    onError: (error) => log[isPostgresAway(error) || error instanceof ClickHouseUnavailable ? "debug" : "error"]({ err: error }, "could not judge how many sessions errors met; trying again"),
  });
  const carryOutWindows = makeDueWindows({ database, log });
  const maintenance = repeat({
    pauseMs: Math.min(config.SCHEDULER_TICK_MS, 1_000),
    untilDue: looks.add(anyWindowIsDue),
    work: () => carryOutWindows(new Date(clock.now())),
    onError: (error) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, "could not carry out maintenance windows; trying again"),
  });
  const results = repeat({
    pauseMs: RESULTS_MS,
    untilDue: looks.add((now) => resultsAreDue(now, HISTORY_TIMES * config.QUIET_BATCH_MS)),
    work: () => storeResults(house),
    onError: (error) => log[isPostgresAway(error) || error instanceof ClickHouseUnavailable ? "debug" : "error"]({ err: error }, "could not store results of checks; trying again"),
  });
  // Two schedulers that see the clock jump forward must not take each other's checks for abandoned.
  const runMonitors = <Row extends { id: string; organizationId: string }, Result>(runner: MonitorRunner<Row, Result>) => runDueMonitors({ database, clock: standStillOverSteps(clock, runner.leaseMs), wall: clock, config, log, looks, runner });
  const monitors = [runMonitors(uptimeRunner(makeUptimeProbe(config))), runMonitors(sslRunner(config)), runMonitors(domainRunner({ config, clock, log }))];
  const following = followClock({ database, clock, log, deliveryLeaseMs: deliveryLeaseMs(config) });
  const workflows = runDueWorkflows({ database, outbound, clock, config, log, looks });
  const subscriptions = [makeAnnouncing({ database, clock, config, log, looks }), makePosting({ database, outbound, clock, config, log, looks }), makeMailSender({ database, clock, config, log, looks })];
  const lateness = watchLateness({ database, clock, log });
  metrics.observe("pharos_monitors_late_seconds", "Seconds since the longest overdue check of a monitor was due; 0 when none is overdue.", () => lateness.seconds());
  const domains = config.CUSTOM_DOMAIN_PROOF === "dns" ? [keepDomains({ database, resolveTxt: makeTxtResolver(config), clock, log })] : [];
  const repeating = [following, deliveries, notifications, forgetOld({ database, clock, log }), keepRetention(house), lateFinder, maintenance, priorities, results, lateness, workflows, ...monitors, ...domains, ...subscriptions];
  for (const each of repeating) each.start();
  lifecycle.add({
    name: "scheduler",
    async stop() {
      await listening.stop();
      await Promise.all(repeating.map((each) => each.stop()));
      await outbound.close();
    },
  });
}
