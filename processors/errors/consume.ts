import { unpackBriefRows, type BriefRow } from "../../domain/errors/brief-rows.ts";
import { recordCounted } from "../../domain/errors/record.ts";
import { keepSpare } from "../../platform/clickhouse/byte-sink.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Consumer } from "../../platform/event-log/port.ts";
import { handingOver, type WorkerPool } from "../../platform/worker-pool.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import type { ConsumerNeeds } from "../consume/consumer-state.ts";
import { logOfRows } from "../consume/cursor.ts";
import { startRangeConsumer, type RangeOptions } from "../consume/ranges.ts";
import type { Precedence } from "./precedence.ts";
import { makeRowsInWorker } from "./rows-in-worker.ts";
import { makeSeenEvents } from "./seen-events/seen-events.ts";
import { watchFloods } from "./watch-floods.ts";
import type { RowsResult, RowsTask } from "./worker.ts";

export type ErrorRowsPool = WorkerPool<RowsTask, RowsResult>;

export interface ErrorConsumerNeeds extends ConsumerNeeds {
  clickhouse: ClickHouse;
  pool: ErrorRowsPool;
  /** Shared by the two consumers of beacons in a process. */
  precedence?: Precedence;
  /** See `domain/errors/sample-details.ts`; without, every event keeps its details. */
  detailsPerMinute?: number;
}

type OnStep = RangeOptions<BeaconEventRow, BriefRow>["onStep"];

/** Beacons → rows in a worker → ClickHouse → signatures and events in Postgres. */
export async function startErrorConsumer(needs: ErrorConsumerNeeds, onStep?: OnStep): Promise<Consumer> {
  const { precedence } = needs;
  const floods = await watchFloods(needs);
  const consumer = await consumeBeacons(needs, { topic: "beacons", group: "errors", ...(precedence && { onBehind: precedence.note }) }, floods.perhaps, onStep);
  return {
    async stop() {
      floods.stop();
      await consumer.stop();
    },
  };
}

/** The same for those of organizations that send more than their share: in smaller ranges, and after the others'. */
export function startOverflowConsumer(needs: ErrorConsumerNeeds, onStep?: OnStep): Promise<Consumer> {
  const { precedence } = needs;
  return consumeBeacons(needs, { topic: "beacons-overflow", group: "errors-overflow", limits: { events: 5_000 }, ...(precedence && { turn: precedence.turn }) }, () => true, onStep);
}

function consumeBeacons(needs: ErrorConsumerNeeds, from: Pick<RangeOptions<BeaconEventRow, BriefRow>, "topic" | "group" | "limits" | "onBehind" | "turn">, elsewhereToo: (organizationId: string) => boolean, onStep: OnStep): Promise<Consumer> {
  const seen = makeSeenEvents({ clickhouse: needs.clickhouse, log: needs.log, now: () => needs.clock.now(), elsewhereToo });
  /** The partitions that were assigned so far; each assignment names one alone. */
  const assigned = new Set<number>();
  const inWorker = makeRowsInWorker(needs);
  /** Memory that goes back and forth between this thread and the workers. */
  const spare: Buffer[] = [];
  return startRangeConsumer<BeaconEventRow, BriefRow>(needs, {
    ...from,
    table: "beacon_events",
    rowsOf: (records, cursor) => inWorker(records, { logId: logOfRows(cursor), partition: cursor.partition }),
    async encodedOf(records, cursor) {
      const { partition } = cursor;
      const logId = logOfRows(cursor);
      const columns = await needs.clickhouse.columnsOf("beacon_events");
      const memory = spare.splice(0);
      const task = handingOver({ logId, partition, records, columns, spare: memory, ...(needs.detailsPerMinute !== undefined && { detailsPerMinute: needs.detailsPerMinute }) }, memory.map(({ buffer }) => buffer as ArrayBuffer));
      const { encoded, unreadable } = await needs.pool.run(task);
      return encoded ? { rows: unpackBriefRows(encoded.brief), insert: encoded.insert, unreadable, onInserted: () => keepSpare(spare, encoded.insert.body) } : null;
    },
    withoutSeen: (rows) => seen.withoutSeen(rows, []),
    onSetApart: (rows) => forgetRows(needs.clickhouse, rows),
    onAssigned(cursor) {
      assigned.add(cursor.partition);
      seen.assign(logOfRows(cursor), [...assigned].map((partition) => ({ partition, kept: partition !== cursor.partition })));
    },
    apply: async (transaction, rows, whole) => {
      await recordCounted(transaction, rows, whole);
    },
    ...(onStep && { onStep }),
  });
}

/** Their ids too: an event that comes back would be taken for one that was counted. ClickHouse keeps no lists among the parameters of a mutation, hence texts. */
async function forgetRows(clickhouse: ClickHouse, rows: BeaconEventRow[]): Promise<void> {
  const { log_id: log, partition } = rows[0]!;
  const params = { log, partition, places: rows.map(({ offset, index }) => `${offset}/${index}`).join(",") };
  const inLog = "log_id = {log:String} AND partition = {partition:UInt16}";
  const atPlaces = `DELETE WHERE ${inLog} AND has(splitByChar(',', {places:String}), concat(toString(offset), '/', toString(index))) SETTINGS mutations_sync = 1`;
  for (const table of ["beacon_events", "seen_event_ids"]) await clickhouse.command(`ALTER TABLE ${table} ${atPlaces}`, params);
}
