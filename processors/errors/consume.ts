import { unpackBriefRows, type BriefRow } from "../../domain/errors/brief-rows.ts";
import { recordCounted } from "../../domain/errors/record.ts";
import { keepSpare } from "../../platform/clickhouse/byte-sink.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Consumer } from "../../platform/event-log/port.ts";
import { handingOver, type WorkerPool } from "../../platform/worker-pool.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import type { ConsumerNeeds } from "../consume/consumer-state.ts";
import { startRangeConsumer, type RangeOptions } from "../consume/ranges.ts";
import { makeRowsInWorker } from "./rows-in-worker.ts";
import { makeSeenEvents } from "./without-seen.ts";
import type { RowsResult, RowsTask } from "./worker.ts";

export type ErrorRowsPool = WorkerPool<RowsTask, RowsResult>;

export interface ErrorConsumerNeeds extends ConsumerNeeds {
  clickhouse: ClickHouse;
  pool: ErrorRowsPool;
}

/** Beacons → rows in a worker → ClickHouse → signatures and events in Postgres. */
export function startErrorConsumer(needs: ErrorConsumerNeeds, onStep?: RangeOptions<BeaconEventRow, BriefRow>["onStep"]): Promise<Consumer> {
  const seen = makeSeenEvents({ clickhouse: needs.clickhouse, log: needs.log, now: () => needs.clock.now() });
  const inWorker = makeRowsInWorker(needs);
  /** Memory that goes back and forth between this thread and the workers. */
  const spare: Buffer[] = [];
  return startRangeConsumer<BeaconEventRow, BriefRow>(needs, {
    topic: "beacons",
    group: "errors",
    table: "beacon_events",
    rowsOf: (records, place) => inWorker(records, place),
    async encodedOf(records, { logId, partition }) {
      const columns = await needs.clickhouse.columnsOf("beacon_events");
      const memory = spare.splice(0);
      const task = handingOver({ logId, partition, records, columns, spare: memory }, memory.map(({ buffer }) => buffer as ArrayBuffer));
      const { encoded, unreadable } = await needs.pool.run(task);
      return encoded ? { rows: unpackBriefRows(encoded.brief), insert: encoded.insert, unreadable, onInserted: () => keepSpare(spare, encoded.insert.body) } : null;
    },
    withoutSeen: (rows, range) => seen.withoutSeen(rows, range),
    onAssigned: (cursor) => seen.assign(cursor),
    apply: async (transaction, rows, whole) => {
      await recordCounted(transaction, rows, whole);
    },
    ...(onStep && { onStep }),
  });
}
