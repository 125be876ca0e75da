import { makeDeliveries } from "../processors/deliveries/deliver.ts";
import { makeLateFinder } from "../processors/heartbeats/find-late.ts";
import { judgePriorities } from "../domain/errors/judge-priorities.ts";
import { runDueWindows } from "../domain/maintenance/run-due.ts";
import { ClickHouseUnavailable } from "../platform/clickhouse/port.ts";
import { makeOutbound } from "../platform/outbound/outbound.ts";
import { listenTo } from "../platform/postgres/listen.ts";
import { isPostgresAway } from "../platform/postgres/database.ts";
import { repeat } from "../platform/repeat.ts";
import type { House } from "./house.ts";

/** Reads the sessions of a day. */
const PRIORITIES_MS = 120_000;

/** The role that does what is due: webhook deliveries, heartbeat monitors that are late, maintenance windows, and errors that spread. */
export function startSchedulerRole(house: House): void {
  const { config, clock, log, database, lifecycle } = house;
  const outbound = makeOutbound({ allow: config.OUTBOUND_ALLOW, caFile: config.OUTBOUND_CA_FILE, log });
  const deliveries = makeDeliveries({ database, outbound, clock, config, log });
  const lateFinder = makeLateFinder({ database, clock, config, log, logId: house.eventLog.id, partitions: house.eventLog.partitions("heartbeats") });
  const listening = listenTo({ connectionString: house.databaseUrl, channel: "pharos_events", onNotify: () => deliveries.wake(), log });
  const priorities = repeat({
    pauseMs: PRIORITIES_MS,
    work: async () => void (await judgePriorities(house, clock.now())),
    onError: (error) => log[isPostgresAway(error) || error instanceof ClickHouseUnavailable ? "debug" : "error"]({ err: error }, "could not judge how many sessions errors met; trying again"),
  });
  const maintenance = repeat({
    pauseMs: Math.min(config.SCHEDULER_TICK_MS, 1_000),
    work: () => runDueWindows(database, new Date(clock.now())),
    onError: (error) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, "could not carry out maintenance windows; trying again"),
  });
  deliveries.start();
  maintenance.start();
  lateFinder.start();
  priorities.start();
  lifecycle.add({
    name: "scheduler",
    async stop() {
      await listening.stop();
      await Promise.all([deliveries.stop(), lateFinder.stop(), priorities.stop(), maintenance.stop()]);
      await outbound.close();
    },
  });
}
