import { makeBriefRowPacker, type PackedRows } from "../../domain/errors/brief-rows.ts";
import { rowsOfBody, type MapsOf } from "../../domain/errors/rows-of-body.ts";
import { makeDetailSampler } from "../../domain/errors/sample-details.ts";
import { keepSpare } from "../../platform/clickhouse/byte-sink.ts";
import { makeRowEncoder, type EncodedRows, type TableColumn } from "../../platform/clickhouse/row-binary.ts";
import { decodeFrame } from "../../platform/event-log/frame.ts";
import { handingOver } from "../../platform/worker-pool.ts";
import type { UnreadableEntry } from "../consume/dead-letter.ts";
import { rowIndexOf } from "../consume/row-places.ts";
import { makeMapsReading, type MapsOfTask } from "./maps-in-thread.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";

/** What a worker thread gets: whole frames as bytes, so that parsing and grouping never block the main thread. */
export interface RowsTask {
  logId: string;
  records: TaskRecord[];
  /** Two Int32: the record and the entry in it that the thread is at, for whoever finds the thread dead. */
  progress?: SharedArrayBuffer;
  /** Entries that are left out: they cannot be processed, or would kill the thread. */
  leave?: readonly Pick<UnreadableEntry, "partition" | "offset" | "entryIndex">[];
  /** Only the entry with this number of each record. */
  only?: number;
  /** Of `beacon_events`; without, the rows are only computed. */
  columns?: TableColumn[];
  /** Without, frames stay as printed. */
  maps?: MapsOfTask;
  /** Of rows of one signature, so many keep their details; without, all do. */
  detailsPerMinute?: number;
  /** Memory of earlier answers, to be handed over with the task: new memory would cost more than filling it. */
  spare?: Uint8Array[];
}

/** A record of the log; `value` is a view of memory that travels with the task. */
export interface TaskRecord {
  partition: number;
  offset: bigint;
  value: Uint8Array;
}

export interface RowsResult {
  rows: PackedRows;
  /** The same rows, in as many parts as inserts take; none without `columns`. */
  encoded: EncodedRows[];
  unreadable: UnreadableEntry[];
}

/** The most that one insert takes, less than ClickHouse's adapter refuses. */
const MOST_BYTES = 48 * 1024 * 1024;
const MOST_ROWS = 100_000;
/** Records of so many bytes are read at a time: their rows die young then, and cost the garbage collector little. */
const BYTES_AT_ONCE = 256 * 1024;
const details = makeDetailSampler();
/** What came back and is not in use, kept by the thread. */
const spareChunks: Buffer[] = [];

/**
 * Parses, groups and shapes the events of frames into rows of `beacon_events`. An entry that cannot be read is told apart
 * from its neighbours, which may be of other organizations. The rows come back as bytes for ClickHouse and in brief: as
 * objects, the way to the other thread would cost more than all the rest. Throws on a frame that cannot be read, and a
 * TypeError on rows that do not fit the columns.
 */
export async function rowsOfRecords(task: RowsTask): Promise<RowsResult> {
  const { columns, records, detailsPerMinute, maps, leave = [] } = task;
  if (task.spare) keepSpare(spareChunks, task.spare);
  const encoder = columns && makeRowEncoder(columns, { mostRows: MOST_ROWS, mostBytes: MOST_BYTES, spare: spareChunks });
  const packer = makeBriefRowPacker();
  const unreadable: UnreadableEntry[] = [];
  const left = new Set(leave.map(({ partition, offset, entryIndex }) => `${partition}/${offset}/${entryIndex}`));
  const readWithMaps = maps && makeMapsReading(maps);
  for (const { first, last } of runsOf(records)) {
    const read = (mapsOf?: MapsOf): Read => readRecords(task, { first, last, left, mapsOf });
    const found = await (readWithMaps ? readWithMaps(read) : read());
    if (detailsPerMinute !== undefined) details.sample(found.rows, detailsPerMinute);
    encoder?.add(found.rows);
    packer.add(found.rows);
    unreadable.push(...found.unreadable);
  }
  const encoded = encoder?.finish() ?? [];
  const memory = encoded.flatMap(({ body }) => body.map(({ buffer }) => buffer as ArrayBuffer));
  return handingOver({ rows: packer.packed(), unreadable, encoded }, memory);
}

/** Numbers of records, both included. */
interface Run {
  first: number;
  last: number;
}

/** Neighbouring records of about `BYTES_AT_ONCE` together. */
function* runsOf(records: readonly TaskRecord[]): Generator<Run> {
  let first = 0;
  let bytes = 0;
  for (const [last, { value }] of records.entries()) {
    bytes += value.byteLength;
    if (bytes < BYTES_AT_ONCE && last < records.length - 1) continue;
    yield { first, last };
    first = last + 1;
    bytes = 0;
  }
}

interface Read {
  rows: BeaconEventRow[];
  unreadable: UnreadableEntry[];
}

/** What of a task is read, and how. */
interface Reading extends Run {
  /** Entries that are left out, as `partition/offset/entryIndex`. */
  left: ReadonlySet<string>;
  mapsOf: MapsOf | undefined;
}

function readRecords({ logId, records, progress, only }: RowsTask, { first, last, left, mapsOf }: Reading): Read {
  const unreadable: UnreadableEntry[] = [];
  const at = progress && new Int32Array(progress);
  const rows = records.slice(first, last + 1).flatMap(({ partition, offset, value }, number) => {
    const { head, entries } = decodeFrame(value);
    return entries.flatMap((entry, entryIndex) => {
      if ((only !== undefined && only !== entryIndex) || (left.size > 0 && left.has(`${partition}/${offset}/${entryIndex}`))) return [];
      at?.set([first + number, entryIndex]);
      const place = { logId, partition, offset, edgeId: head.edgeId, sequence: head.sequence, entryIndex, firstIndex: rowIndexOf(entryIndex, 0) };
      try {
        return rowsOfBody({ body: entry.body, receivedAt: entry.receivedAt, organizationId: entry.organizationId, serviceId: entry.subjectId }, place, mapsOf);
      } catch (error) {
        unreadable.push({ partition, offset, entryIndex, reason: error instanceof Error ? error.message : String(error) });
        return [];
      }
    });
  });
  return { rows, unreadable };
}
