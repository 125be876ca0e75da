import { makeDeliveries } from "../processors/deliveries/deliver.ts";
import { makeLateFinder } from "../processors/heartbeats/find-late.ts";
import { makeOutbound } from "../platform/outbound/outbound.ts";
import { listenTo } from "../platform/postgres/listen.ts";
import type { House } from "./house.ts";

/** The role that does what is due: webhook deliveries, and heartbeat monitors that are late. */
export function startSchedulerRole(house: House): void {
  const { config, clock, log, database, lifecycle } = house;
  const outbound = makeOutbound({ allow: config.OUTBOUND_ALLOW, caFile: config.OUTBOUND_CA_FILE, log });
  const deliveries = makeDeliveries({ database, outbound, clock, config, log });
  const lateFinder = makeLateFinder({ database, clock, config, log, logId: house.eventLog.id, partitions: house.eventLog.partitions("heartbeats") });
  const listening = listenTo({ connectionString: house.databaseUrl, channel: "pharos_events", onNotify: () => deliveries.wake(), log });
  deliveries.start();
  lateFinder.start();
  lifecycle.add({
    name: "scheduler",
    async stop() {
      await listening.stop();
      await Promise.all([deliveries.stop(), lateFinder.stop()]);
      await outbound.close();
    },
  });
}
