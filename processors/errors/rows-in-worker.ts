import type { TableColumn } from "../../platform/clickhouse/row-binary.ts";
import type { LogRecord } from "../../platform/event-log/port.ts";
import type { Log } from "../../platform/log.ts";
import { WorkerLost, type WorkerPool } from "../../platform/worker-pool.ts";
import type { UnreadableEntry } from "../consume/dead-letter.ts";
import type { RowsResult, RowsTask } from "./worker.ts";

interface Place {
  logId: string;
  partition: number;
}

type RowsInWorker = (records: readonly LogRecord[], place: Place, columns?: TableColumn[]) => Promise<RowsResult>;

/** Entries known to lose their thread are remembered up to this number: a range that is tried again need not pay for them again. */
const REMEMBERED = 1_000;

/**
 * Rows of records by a worker thread, also when an entry kills or hangs its thread: the thread notes which entry it is at, so that
 * one is tried alone in a fresh thread, and when it does it again it is named unreadable and its neighbours are done without it.
 * Rejects with WorkerLost when no entry by itself is to blame; then it is worth another try later.
 */
export function makeRowsInWorker({ pool, log }: { pool: WorkerPool<RowsTask, RowsResult>; log: Log }): RowsInWorker {
  const reasons = new Map<string, string>();

  const rowsOf: RowsInWorker = async (records, { logId, partition }, columns) => {
    const place = { logId, partition };
    const left = knownOf(records, place);
    for (;;) {
      const progress = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
      const at = new Int32Array(progress).fill(-1);
      try {
        const result = await pool.run({ ...place, records: [...records], progress, leave: left, ...(columns && { columns }) });
        return left.length === 0 ? result : { ...result, unreadable: [...result.unreadable, ...left] };
      } catch (error) {
        if (!(error instanceof WorkerLost)) throw error;
        const record = records[at[0]!];
        const entryIndex = at[1]!;
        log.warn({ err: error.message, ...place, records: records.length, offset: record && String(record.offset), entryIndex }, "a worker thread was lost; the entry that it was at is tried alone");
        if (!record) throw error;
        const reason = await lostAlone(record, entryIndex, place);
        if (reason === null) return halves(records, place, columns, error);
        left.push({ offset: record.offset, entryIndex, reason });
        remember(keyOf(place, record.offset, entryIndex), reason);
      }
    }
  };

  function knownOf(records: readonly LogRecord[], place: Place): UnreadableEntry[] {
    if (reasons.size === 0) return [];
    const offsets = new Map(records.map(({ offset }) => [String(offset), offset]));
    return [...reasons].flatMap(([key, reason]) => {
      const [logId, partition, offset, entryIndex] = key.split(" ") as [string, string, string, string];
      return logId === place.logId && Number(partition) === place.partition && offsets.has(offset) ? [{ offset: offsets.get(offset)!, entryIndex: Number(entryIndex), reason }] : [];
    });
  }

  function remember(key: string, reason: string): void {
    if (reasons.size >= REMEMBERED) reasons.clear();
    reasons.set(key, reason);
  }

  /** Why the entry loses a fresh thread too, or null when it does not. */
  async function lostAlone(record: LogRecord, entryIndex: number, place: Place): Promise<string | null> {
    try {
      await pool.run({ ...place, records: [record], only: entryIndex });
      return null;
    } catch (error) {
      if (error instanceof WorkerLost) return error.message;
      throw error;
    }
  }

  /** No entry alone was too much; perhaps all of them together were, for this machine, just now. */
  async function halves(records: readonly LogRecord[], place: Place, columns: TableColumn[] | undefined, error: WorkerLost): Promise<RowsResult> {
    // Encoded rows cannot be put together; whoever wanted them asks for plain ones then.
    if (records.length === 1 || columns) throw error;
    const middle = Math.ceil(records.length / 2);
    const first = await rowsOf(records.slice(0, middle), place);
    const second = await rowsOf(records.slice(middle), place);
    return { rows: [...first.rows, ...second.rows], unreadable: [...first.unreadable, ...second.unreadable] };
  }

  return rowsOf;
}

function keyOf({ logId, partition }: Place, offset: bigint, entryIndex: number): string {
  return [logId, partition, offset, entryIndex].join(" ");
}
