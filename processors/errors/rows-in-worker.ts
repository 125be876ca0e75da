import { WHOLE_RECORD } from "../../domain/dead-letters/record-dead-letters.ts";
import { unpackBriefRows, type BriefRow } from "../../domain/errors/brief-rows.ts";
import { keepSpare } from "../../platform/clickhouse/byte-sink.ts";
import type { EncodedRows, TableColumn } from "../../platform/clickhouse/row-binary.ts";
import type { Log } from "../../platform/log.ts";
import { handingOver, WorkerLost, type WorkerPool } from "../../platform/worker-pool.ts";
import type { Readings } from "../consume/batch-consumer.ts";
import type { UnreadableEntry } from "../consume/dead-letter.ts";
import { isLeftOut, type FreshSlice } from "../consume/fresh-frames.ts";
import type { ComputedRows } from "../consume/row-consumer.ts";
import type { RowsResult, RowsTask, TaskRecord } from "./worker.ts";

/** Computes rows of beacons in worker threads. */
export interface RowsInWorker {
  /** The rows of some slices; `only`, an entry's number, leaves out all others. */
  computeRows(slices: readonly FreshSlice[], only: number | null): Promise<ComputedRows<BriefRow> & Readings>;
  /** Memory of encoded rows that nobody reads any more. */
  giveBack(encoded: EncodedRows): void;
}

interface RowsInWorkerNeeds {
  pool: WorkerPool<RowsTask, RowsResult>;
  log: Log;
  /** As rows name it. */
  logId: string;
  columns(): Promise<TableColumn[]>;
  detailsPerMinute?: number;
}

/** Entries known to lose their thread are remembered up to this number: a batch that is tried again need not pay for them again. */
const REMEMBERED = 1_000;

/**
 * Computes rows in worker threads, also when an entry kills or hangs its thread: the thread notes which entry it is at,
 * so that one is tried alone in a fresh thread, and when it does it again it is named unreadable and its neighbours are
 * done without it. Rejects with WorkerLost when no entry by itself is to blame; then it is worth another try later.
 */
export function makeRowsInWorker({ pool, log, logId, columns, detailsPerMinute }: RowsInWorkerNeeds): RowsInWorker {
  const lost = new Map<string, UnreadableEntry>();
  /** Memory that goes back and forth between this thread and the workers. */
  const spare: Buffer[] = [];

  async function computeRows(slices: readonly FreshSlice[], only: number | null): Promise<ComputedRows<BriefRow> & Readings> {
    const records = recordsOf(slices);
    if (records.length === 0) return { rows: [], encoded: [], unreadable: [], count: 0 };
    const left = leftIn(slices);
    const killing = records.flatMap(({ partition, offset }) => [...lost.values()].filter((each) => each.partition === partition && each.offset === offset));
    for (;;) {
      const progress = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
      const at = new Int32Array(progress).fill(-1);
      try {
        const { rows, encoded, unreadable } = await run({ records, progress, leave: [...left, ...killing], ...(only !== null && { only }), columns: await columns() });
        return { rows: unpackBriefRows(rows), encoded, unreadable: [...unreadable, ...killing], count: rows.count };
      } catch (error) {
        if (!(error instanceof WorkerLost)) throw error;
        killing.push(await findKiller(records[at[0]!], at[1]!, error));
      }
    }
  }

  /** The records' bytes are copied once and travel with the task: cloning a view would clone the whole fetch behind it. */
  function run(task: Omit<RowsTask, "logId">): Promise<RowsResult> {
    const { records, memory } = copied(task.records);
    const mine = spare.splice(0);
    const whole = { ...task, logId, records, spare: mine, ...(detailsPerMinute !== undefined && { detailsPerMinute }) };
    return pool.run(handingOver(whole, [memory, ...mine.map(({ buffer }) => buffer as ArrayBuffer)]));
  }

  /** The entry that loses a fresh thread too; throws `error` when it does not. */
  async function findKiller(record: TaskRecord | undefined, entryIndex: number, error: WorkerLost): Promise<UnreadableEntry> {
    if (!record) throw error;
    const { partition, offset } = record;
    log.warn({ err: error.message, logId, partition, offset: String(offset), entryIndex }, "a worker thread was lost; the entry that it was at is tried alone");
    try {
      await run({ records: [record], only: entryIndex });
    } catch (alone) {
      if (!(alone instanceof WorkerLost)) throw alone;
      const killer = { partition, offset, entryIndex, reason: alone.message };
      if (lost.size >= REMEMBERED) lost.clear();
      lost.set(`${partition}/${offset}/${entryIndex}`, killer);
      return killer;
    }
    throw error;
  }

  return { computeRows, giveBack: ({ body }) => keepSpare(spare, body) };
}

function recordsOf(slices: readonly FreshSlice[]): TaskRecord[] {
  return slices.flatMap(({ partition, records, left }) => records.flatMap(({ offset, value }) => (isLeftOut(left, offset, WHOLE_RECORD) ? [] : [{ partition, offset, value }])));
}

function leftIn(slices: readonly FreshSlice[]): { partition: number; offset: bigint; entryIndex: number }[] {
  return slices.flatMap(({ partition, left }) => [...left].flatMap(([offset, entries]) => [...entries.keys()].map((entryIndex) => ({ partition, offset, entryIndex }))));
}

function copied(records: readonly TaskRecord[]): { records: TaskRecord[]; memory: ArrayBuffer } {
  const bytes = new Uint8Array(records.reduce((sum, { value }) => sum + value.byteLength, 0));
  let at = 0;
  const views = records.map(({ value, ...place }) => {
    bytes.set(value, at);
    at += value.byteLength;
    return { ...place, value: bytes.subarray(at - value.byteLength, at) };
  });
  return { records: views, memory: bytes.buffer };
}
