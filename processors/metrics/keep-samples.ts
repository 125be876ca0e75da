import { sampleRows, type MetricSampleRow } from "../../domain/metrics/sample-rows.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Consumer } from "../../platform/event-log/port.ts";
import type { ConsumerNeeds } from "../consume/consumer-state.ts";
import { placedRows } from "../consume/placed-rows.ts";
import { HISTORY_EVERY_MS, startRangeConsumer } from "../consume/ranges.ts";

/** Pushes → samples in ClickHouse, under a cursor of their own: off the path of the answer. */
export function startSampleHistory(needs: ConsumerNeeds & { clickhouse: ClickHouse }): Promise<Consumer> {
  return startRangeConsumer<MetricSampleRow>(needs, {
    topic: "metrics",
    group: "samples",
    table: "metric_samples",
    limits: { insertEveryMs: HISTORY_EVERY_MS },
    rowsOf: async (records, cursor) => placedRows(records, cursor, ({ index, ...place }, entry) => sampleRows({ ...place, firstIndex: index }, entry)),
  });
}
