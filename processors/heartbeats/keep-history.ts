import { pingRow, type HeartbeatPingRow } from "../../domain/heartbeats/ping-rows.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Consumer } from "../../platform/event-log/port.ts";
import { logOfRows } from "../consume/cursor-name.ts";
import { historyRows } from "../consume/history-rows.ts";
import type { DatabaseConsumerNeeds } from "../consume/needs.ts";
import { startRowConsumer } from "../consume/row-consumer.ts";

/** Pings → ClickHouse, under cursors of their own: what is read later must not slow down what decides. */
export function startPingHistory(needs: DatabaseConsumerNeeds & { clickhouse: ClickHouse }): Promise<Consumer> {
  const { clickhouse, eventLog } = needs;
  return startRowConsumer<HeartbeatPingRow>(needs, {
    topic: "heartbeats",
    group: "ping-history",
    table: "heartbeat_pings",
    sortKey: "monitor_id, received_at",
    isHistory: true,
    rowsOf: historyRows({
      columns: () => clickhouse.columnsOf("heartbeat_pings"),
      logId: logOfRows({ logId: eventLog.id, topic: "heartbeats" }),
      rowsOf: ({ firstIndex, ...place }, entry) => {
        const row = pingRow({ ...place, index: firstIndex }, entry);
        return row === null ? [] : [row];
      },
    }),
  });
}
