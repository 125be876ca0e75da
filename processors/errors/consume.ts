import { boundNew, type BoundValues } from "../../domain/errors/bound-new.ts";
import type { BriefRow } from "../../domain/errors/brief-rows.ts";
import { creationDay, UNBOUNDED, type CreationBounds } from "../../domain/errors/creation-bounds.ts";
import { makeNotedEnvironments, type SignatureEnvironment } from "../../domain/errors/noted-environments.ts";
import { recordCounted } from "../../domain/errors/record.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Consumer } from "../../platform/event-log/port.ts";
import type { WorkerPool } from "../../platform/worker-pool.ts";
import type { BatchStep } from "../consume/batch-consumer.ts";
import { logOfRows } from "../consume/cursor-name.ts";
import type { DatabaseConsumerNeeds } from "../consume/needs.ts";
import { startRowConsumer, type RowConsumerOptions } from "../consume/row-consumer.ts";
import { makeDescribedRows } from "./described-rows.ts";
import { makeKnownSignatures } from "./known-signatures.ts";
import type { Precedence } from "./precedence.ts";
import { makeFloodReader, type ElsewhereToo } from "./flood-reader.ts";
import { makeRowsInWorker } from "./rows-in-worker.ts";
import { makeSeenEvents } from "./seen-events/seen-events.ts";
import { BEACON_SIDE_TABLES } from "./side-tables.ts";
import type { RowsResult, RowsTask } from "./worker.ts";

export type ErrorRowsPool = WorkerPool<RowsTask, RowsResult>;

export interface ErrorConsumerNeeds extends DatabaseConsumerNeeds {
  clickhouse: ClickHouse;
  pool: ErrorRowsPool;
  /** Shared by the two consumers of beacons in a process. */
  precedence?: Precedence;
  /** See `domain/errors/sample-details.ts`; without, every event keeps its details. */
  detailsPerMinute?: number;
  /** What can be made newly in a day; without, anything. */
  bounds?: CreationBounds;
}

type OnStep = (step: BatchStep) => Promise<void> | void;
type Source = Pick<RowConsumerOptions<BriefRow>, "topic" | "group" | "limits" | "onBehind" | "turn">;

/** Beacons → rows in a worker → ClickHouse → signatures and events in Postgres. */
export function startErrorConsumer(needs: ErrorConsumerNeeds, onStep?: OnStep): Promise<Consumer> {
  const { precedence } = needs;
  const source: Source = { topic: "beacons", group: "errors", ...(precedence && { onBehind: precedence.note }) };
  return consumeBeacons(needs, source, makeFloodReader(needs), onStep);
}

/** The same for those of organizations that send more than their share: in smaller batches, and after the others'. */
export function startOverflowConsumer(needs: ErrorConsumerNeeds, onStep?: OnStep): Promise<Consumer> {
  const { precedence } = needs;
  const source: Source = { topic: "beacons-overflow", group: "errors-overflow", limits: { entries: 5_000 }, ...(precedence && { turn: precedence.turn }) };
  return consumeBeacons(needs, source, async () => () => true, onStep);
}

function consumeBeacons(needs: ErrorConsumerNeeds, source: Source, readElsewhere: () => Promise<ElsewhereToo>, onStep: OnStep | undefined): Promise<Consumer> {
  const { clickhouse, clock, log, eventLog } = needs;
  const logId = logOfRows({ logId: eventLog.id, topic: source.topic });
  const seen = makeSeenEvents({ clickhouse, log, now: () => clock.now(), readElsewhere });
  const worker = makeRowsInWorker({ ...needs, logId, columns: () => clickhouse.columnsOf("beacon_events") });
  const known = makeKnownSignatures(needs.database);
  const described = makeDescribedRows({ clickhouse, known });
  const noted = makeNotedEnvironments();
  /** What the last transaction of a batch found. */
  const found = new WeakMap<readonly BriefRow[], SignatureEnvironment[]>();
  const today = () => creationDay(needs.bounds ?? UNBOUNDED, clock.now());
  return startRowConsumer<BriefRow>(needs, {
    ...source,
    table: "beacon_events",
    sortKey: "service_id, signature_id, received_at",
    briefColumns: BRIEF_COLUMNS,
    sideTables: BEACON_SIDE_TABLES,
    rowsOf: worker.computeRows,
    selectNew: seen.withoutSeen,
    async replaceIn(rows, standing) {
      const roomOf = await known.lookUp([...standing, ...rows], today());
      return roomOf ? boundNew({ ...known, rows, standing, roomOf }) : new Map<BriefRow, BoundValues>();
    },
    keepRows: described.keepRows,
    onInserted: worker.giveBack,
    async onAssigned(partitions) {
      noted.forget();
      seen.assign(logId, partitions);
      await seen.warm();
    },
    beforeCommit: ({ rows }) => described.fetchRows(rows),
    async apply(transaction, { rows }) {
      const { environments } = await recordCounted(transaction, rows, { readRows: described.readerOf(rows), today: today(), noted });
      found.set(rows, environments);
    },
    afterCommit: ({ rows }) => noted.remember(found.get(rows) ?? []),
    ...(onStep && { onStep }),
  });
}

const BRIEF_COLUMNS = [
  "log_id",
  "partition",
  "offset",
  "index",
  "organization_id",
  "service_id",
  "signature_id",
  "event_id",
  "event_id_given",
  "type",
  "received_at",
  "occurred_at",
  "release",
  "environment",
] as const satisfies readonly (keyof BriefRow)[];
