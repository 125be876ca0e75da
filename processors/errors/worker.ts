import { packBriefRows, type PackedRows } from "../../domain/errors/brief-rows.ts";
import { rowsOfBody, type MapsOf } from "../../domain/errors/rows-of-body.ts";
import { makeDetailSampler } from "../../domain/errors/sample-details.ts";
import { keepSpare } from "../../platform/clickhouse/byte-sink.ts";
import { encodeRows, type EncodedRows, type TableColumn } from "../../platform/clickhouse/row-binary.ts";
import { decodeFrame } from "../../platform/event-log/frame.ts";
import { handingOver } from "../../platform/worker-pool.ts";
import type { UnreadableEntry } from "../consume/dead-letter.ts";
import { readWithMaps, type MapsOfTask } from "./maps-in-thread.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";

/** What a worker thread gets: whole frames as bytes, so that parsing and grouping never block the main thread. */
export interface RowsTask {
  logId: string;
  partition: number;
  records: { offset: bigint; value: Uint8Array }[];
  /** Two Int32: the record and the entry in it that the thread is at, for whoever finds the thread dead. */
  progress?: SharedArrayBuffer;
  /** Entries that are left out: they would kill the thread. */
  leave?: UnreadableEntry[];
  /** Only the entry with this number of each record. */
  only?: number;
  /** Of `beacon_events`, when the rows are wanted encoded. */
  columns?: TableColumn[];
  /** Without, frames stay as printed. */
  maps?: MapsOfTask;
  /** Of encoded rows of one signature, so many keep their details; without, all do. */
  detailsPerMinute?: number;
  /** Memory of earlier answers, to be handed over with the task: new memory would cost more than filling it. */
  spare?: Uint8Array[];
}

export interface RowsResult {
  /** Empty when they are encoded. */
  rows: BeaconEventRow[];
  unreadable: UnreadableEntry[];
  encoded?: { brief: PackedRows; insert: EncodedRows };
}

/** More rows take several inserts. */
const MOST_ENCODED = 50_000;
const MOST_BYTES = 64 * 1024 * 1024;
const details = makeDetailSampler();
/** What came back and is not in use, kept by the thread. */
const spareChunks: Buffer[] = [];

/**
 * Parses, groups and shapes the events of frames into rows of `beacon_events`. An entry that cannot be read is told apart
 * from its neighbours, which may be of other organizations. With `columns`, the rows come back as bytes for ClickHouse and in brief:
 * as objects, the way to the other thread would cost more than all the rest. Throws on a frame that cannot be read.
 */
export async function rowsOfRecords(task: RowsTask): Promise<RowsResult> {
  if (task.spare) keepSpare(spareChunks, task.spare);
  const { rows, unreadable } = await (task.maps ? readWithMaps(task.maps, (mapsOf) => readRecords(task, mapsOf)) : readRecords(task));
  if (task.columns && task.detailsPerMinute !== undefined) details.sample(rows, task.detailsPerMinute);
  const insert = task.columns && rows.length > 0 && rows.length <= MOST_ENCODED ? encoded(task.columns, rows) : null;
  return insert === null ? { rows, unreadable } : handingOver({ rows: [], unreadable, encoded: { brief: packBriefRows(rows), insert } }, insert.body.map(({ buffer }) => buffer as ArrayBuffer));
}

/** Null when the rows do not fit the columns: whoever inserts them whole finds out why. */
function encoded(columns: TableColumn[], rows: BeaconEventRow[]): EncodedRows | null {
  try {
    return encodeRows(columns, rows, { limit: MOST_BYTES, spare: spareChunks });
  } catch {
    return null;
  }
}

interface Read {
  rows: BeaconEventRow[];
  unreadable: UnreadableEntry[];
}

function readRecords({ logId, partition, records, progress, leave, only }: RowsTask, mapsOf?: MapsOf): Read {
  const unreadable: UnreadableEntry[] = [];
  const left = new Set(leave?.map(({ offset, entryIndex }) => `${offset}/${entryIndex}`));
  const at = progress && new Int32Array(progress);
  const rows = records.flatMap(({ offset, value }, recordIndex) => {
    const { head, entries } = decodeFrame(value);
    let firstIndex = 0;
    return entries.flatMap((entry, entryIndex) => {
      if ((only !== undefined && only !== entryIndex) || (left.size > 0 && left.has(`${offset}/${entryIndex}`))) return [];
      at?.set([recordIndex, entryIndex]);
      const place = { logId, partition, offset, edgeId: head.edgeId, sequence: head.sequence, entryIndex, firstIndex };
      try {
        const rowsOfEntry = rowsOfBody({ body: entry.body, receivedAt: entry.receivedAt, organizationId: entry.organizationId, serviceId: entry.subjectId }, place, mapsOf);
        firstIndex += rowsOfEntry.length;
        return rowsOfEntry;
      } catch (error) {
        unreadable.push({ offset, entryIndex, reason: error instanceof Error ? error.message : String(error) });
        return [];
      }
    });
  });
  return { rows, unreadable };
}
