import { sampleRows, type MetricSampleRow } from "../../domain/metrics/sample-rows.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Consumer } from "../../platform/event-log/port.ts";
import { logOfRows } from "../consume/cursor-name.ts";
import { historyRows } from "../consume/history-rows.ts";
import type { DatabaseConsumerNeeds } from "../consume/needs.ts";
import { startRowConsumer } from "../consume/row-consumer.ts";

/** Pushes → samples in ClickHouse, under cursors of their own: off the path of the answer. */
export function startSampleHistory(needs: DatabaseConsumerNeeds & { clickhouse: ClickHouse }): Promise<Consumer> {
  const { clickhouse, eventLog } = needs;
  return startRowConsumer<MetricSampleRow>(needs, {
    topic: "metrics",
    group: "samples",
    table: "metric_samples",
    sortKey: "service_id, name, received_at",
    isHistory: true,
    rowsOf: historyRows({
      columns: () => clickhouse.columnsOf("metric_samples"),
      logId: logOfRows({ logId: eventLog.id, topic: "metrics" }),
      rowsOf: sampleRows,
    }),
  });
}
