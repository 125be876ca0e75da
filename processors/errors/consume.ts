import { recordOccurrences } from "../../domain/errors/record.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Consumer } from "../../platform/event-log/port.ts";
import type { WorkerPool } from "../../platform/worker-pool.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import type { ConsumerNeeds } from "../consume/consumer-state.ts";
import { startRangeConsumer, type RangeOptions } from "../consume/ranges.ts";
import { makeSeenEvents } from "./without-seen.ts";
import type { RowsResult, RowsTask } from "./worker.ts";

export type ErrorRowsPool = WorkerPool<RowsTask, RowsResult>;

export interface ErrorConsumerNeeds extends ConsumerNeeds {
  clickhouse: ClickHouse;
  pool: ErrorRowsPool;
}

/** Beacons → rows in a worker → ClickHouse → signatures and events in Postgres. */
export function startErrorConsumer(needs: ErrorConsumerNeeds, onStep?: RangeOptions<BeaconEventRow>["onStep"]): Promise<Consumer> {
  const seen = makeSeenEvents({ clickhouse: needs.clickhouse, log: needs.log, now: () => needs.clock.now() });
  return startRangeConsumer<BeaconEventRow>(needs, {
    topic: "beacons",
    group: "errors",
    table: "beacon_events",
    rowsOf: (records, { logId, partition }) => needs.pool.run({ logId, partition, records }),
    withoutSeen: (rows, range) => seen.withoutSeen(rows, range),
    onAssigned: (cursor) => seen.assign(cursor),
    apply: async (transaction, rows) => {
      await recordOccurrences(transaction, rows);
    },
    ...(onStep && { onStep }),
  });
}
