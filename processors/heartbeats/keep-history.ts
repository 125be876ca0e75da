import { pingRow, type HeartbeatPingRow } from "../../domain/heartbeats/ping-rows.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Consumer } from "../../platform/event-log/port.ts";
import type { ConsumerNeeds } from "../consume/consumer-state.ts";
import { placedRows } from "../consume/placed-rows.ts";
import { HISTORY_EVERY_MS, startRangeConsumer } from "../consume/ranges.ts";

/** Pings → ClickHouse, under a cursor of its own: what is read later must not slow down what decides. */
export function startPingHistory(needs: ConsumerNeeds & { clickhouse: ClickHouse }): Promise<Consumer> {
  return startRangeConsumer<HeartbeatPingRow>(needs, {
    topic: "heartbeats",
    group: "ping-history",
    table: "heartbeat_pings",
    limits: { insertEveryMs: HISTORY_EVERY_MS },
    rowsOf: async (records, cursor) =>
      placedRows(records, cursor, (place, entry) => {
        const row = pingRow(place, entry);
        return row === null ? [] : [row];
      }),
  });
}
