import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Consumer, LogRecord, RecordBatch } from "../../platform/event-log/port.ts";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Transaction } from "../../platform/postgres/database.ts";
import type { Topic } from "../../schemas/vocabulary.ts";
import { holdCursors, provenAfter, watchEnds, type ConsumerNeeds } from "./consumer-state.ts";
import { moveCursor, openRange, OwnershipLost, type CursorName, type OwnedCursor } from "./cursor.ts";
import { sendEntriesToDeadLetter, sendToDeadLetter, type UnreadableEntry } from "./dead-letter.ts";
import { freshFrames } from "./fresh-frames.ts";
import { retrying } from "./retrying.ts";

/** Every row of a table that is filled from the log knows where it stood there; 64-bit numbers travel as text. */
export interface PlacedRow {
  log_id: string;
  partition: number;
  offset: string;
  index: number;
}

export interface RangeOptions<Row extends PlacedRow> {
  topic: Topic;
  group: string;
  /** Where the rows go, and the columns that a replay needs back from it. */
  table: string;
  limits?: Partial<RangeLimits>;
  /**
   * Rows of frames. The same frames must give the same rows with the same places. Entries that cannot be read are named and their
   * neighbours kept; a throw marks a record as unreadable once it happens to it alone.
   */
  rowsOf(records: LogRecord[], place: CursorName): Promise<{ rows: Row[]; unreadable: UnreadableEntry[] }>;
  /** Drops rows of events that stand in ClickHouse already outside [first, last] (a sender's retry in a new request). */
  withoutSeen?(rows: Row[], range: { cursor: CursorName; first: bigint; last: bigint }): Promise<Row[]>;
  /** The effect in Postgres, derived from the rows which ClickHouse holds for the range. */
  apply?(transaction: Transaction, rows: Row[]): Promise<void>;
  onAssigned?(cursor: CursorName): void;
  /** For tests that stop the process between two steps. */
  onStep?(step: RangeStep): Promise<void> | void;
}

export type RangeStep = "opened" | "computed" | "inserted" | "committed";

export interface RangeLimits {
  /** A range closes at this many events … */
  events: number;
  /** … or this many bytes, or when the log has no more at hand. */
  bytes: number;
  /** Inserts of a partition are at least so far apart, in ms: few large inserts cost ClickHouse less than many small ones. */
  insertEveryMs: number;
}

const LIMITS: RangeLimits = { events: 20_000, bytes: 4 * 1024 * 1024, insertEveryMs: 150 };

/** One statement takes at most so many rows: they have to stay one block, or the token would not cover them together. */
const ROWS_OF_INSERT = 50_000;

interface Range {
  records: LogRecord[];
  first: bigint;
  last: bigint;
  token: string;
  /** Opened by an owner before us, and perhaps inserted: what ClickHouse holds has to be asked first. */
  opened: boolean;
}

/**
 * Consumes a topic into a ClickHouse table and Postgres, exactly once.
 *
 * 1. Postgres: the cursor says which range is about to be inserted, and its token.
 * 2. ClickHouse: one INSERT with that token.
 * 3. Postgres: one transaction with the effect, the frames' numbers, and the cursor.
 *
 * Whoever finds a range open (a death or a failure between 1 and 3) asks ClickHouse which of its rows stand, inserts
 * them again under the range's token, then what is still missing, and derives the effect from what stands.
 */
export async function startRangeConsumer<Row extends PlacedRow>(needs: ConsumerNeeds & { clickhouse: ClickHouse }, options: RangeOptions<Row>): Promise<Consumer> {
  const { eventLog, database, clickhouse, clock, log } = needs;
  const { topic, group, table } = options;
  const limits = { ...LIMITS, ...options.limits };
  const held = holdCursors(needs, topic, group);
  /** Records of a range that an owner before us opened, until all of them have come. */
  const replaying = new Map<number, LogRecord[]>();
  const lastInsert = new Map<number, number>();

  async function onRecords(batch: RecordBatch): Promise<bigint> {
    const cursor = await held.forBatch(batch);
    let records = batch.records;
    if (cursor.openRange) {
      const { last, token } = cursor.openRange;
      const known = replaying.get(batch.partition) ?? [];
      known.push(...records.filter(({ offset }) => offset <= last && offset > (known.at(-1)?.offset ?? -1n)));
      replaying.set(batch.partition, known);
      if (known.at(-1)!.offset < last) return records.at(-1)!.offset + 1n;
      await process(cursor, batch, { records: known, first: cursor.nextOffset, last, token, opened: true });
      replaying.delete(batch.partition);
      records = records.filter(({ offset }) => offset > last);
    }
    for (const chunk of chunks(records, limits)) {
      await waitForTurn(batch);
      await process(cursor, batch, { records: chunk, first: cursor.nextOffset, last: chunk.at(-1)!.offset, token: newId(), opened: false });
    }
    return cursor.nextOffset;
  }

  async function waitForTurn({ partition, keepAlive }: RecordBatch): Promise<void> {
    const wait = (lastInsert.get(partition) ?? -Infinity) + limits.insertEveryMs - clock.monotonic();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    await keepAlive();
    lastInsert.set(partition, clock.monotonic());
  }

  async function process(cursor: OwnedCursor, batch: RecordBatch, range: Range): Promise<void> {
    const { fresh, sequences, broken } = freshFrames(range.records, cursor.sequences);
    const caughtUpTo = provenAfter(clock.now());
    let opened = range.opened;
    let perhapsInserted = range.opened;
    await retrying(`${group} on ${topic}/${cursor.partition}`, batch, log, async () => {
      if (!opened) {
        await openRange(database, cursor, range.last, range.token);
        opened = true;
        await options.onStep?.("opened");
      }
      const replay = perhapsInserted;
      perhapsInserted = true;
      await bringAcross(cursor, batch, range, { fresh, broken, sequences, caughtUpTo }, replay);
    });
    cursor.nextOffset = range.last + 1n;
    cursor.openRange = null;
    for (const [edgeId, last] of sequences) cursor.sequences.set(edgeId, last);
  }

  async function bringAcross(
    cursor: OwnedCursor,
    batch: RecordBatch,
    range: Range,
    content: { fresh: LogRecord[]; broken: { record: LogRecord; reason: string }[]; sequences: Map<string, bigint>; caughtUpTo: Date },
    replay: boolean,
  ): Promise<void> {
    const { rows: computed, unreadable, entries } = await readableRows(content.fresh, cursor);
    await sendEntriesToDeadLetter(needs, cursor, content.fresh, entries);
    for (const { record, reason } of [...content.broken, ...unreadable]) await sendToDeadLetter(needs, cursor, record, reason);
    const news = options.withoutSeen ? await options.withoutSeen(computed, { cursor, first: range.first, last: range.last }) : computed;
    const standing = replay ? await readStanding(cursor, range) : [];
    const stand = new Set(standing.map(placeOf));
    const rows = stand.size === 0 ? news : [...standing, ...news.filter((row) => !stand.has(placeOf(row)))].sort(byPlace);
    await options.onStep?.("computed");
    if (!batch.owned()) throw new OwnershipLost(cursor);
    await insertInParts(range.token, rows, range.token);
    if (replay) await insertMissing(cursor, range, rows);
    await options.onStep?.("inserted");
    held.noteRecords(range.records.length, rows.length);
    await inTransaction(database, async (transaction) => {
      await options.apply?.(transaction, rows);
      await moveCursor(transaction, cursor, { nextOffset: range.last + 1n, sequences: content.sequences, caughtUpTo: content.caughtUpTo });
    });
    await options.onStep?.("committed");
  }

  /**
   * After a replayed insert. Its token was used before, so it changed nothing where the first one had come through and completed
   * what the first one had left out: a month's part, a view. Rows that the first one did not have need a token of their own.
   */
  async function insertMissing(cursor: CursorName, range: Range, rows: Row[]): Promise<void> {
    const stand = new Set((await readStanding(cursor, range)).map(placeOf));
    await insertInParts(newId(), rows.filter((row) => !stand.has(placeOf(row))), range.token);
  }

  /** One statement as a rule; a range whose events have very many rows each takes several, cut at the same places whenever it is repeated. */
  async function insertInParts(token: string, rows: Row[], queryId: string): Promise<void> {
    for (let at = 0; at < rows.length; at += ROWS_OF_INSERT) {
      await clickhouse.insert(table, rows.slice(at, at + ROWS_OF_INSERT), { token: at === 0 ? token : `${token}/${at}`, queryId });
    }
  }

  /** What ClickHouse holds of a range, after making sure that no insert of it is still running. */
  async function readStanding(cursor: CursorName, range: Range): Promise<Row[]> {
    await clickhouse.killQuery(range.token);
    return clickhouse.query<Row>(
      `SELECT * FROM ${table} WHERE log_id = {log:String} AND partition = {partition:UInt16} AND offset BETWEEN {first:UInt64} AND {last:UInt64} ORDER BY offset, index`,
      { log: cursor.logId, partition: cursor.partition, first: String(range.first), last: String(range.last) },
    );
  }

  /** All rows; when the records fail together, one by one, and those that fail alone, twice, are set apart. */
  async function readableRows(records: LogRecord[], place: CursorName): Promise<{ rows: Row[]; entries: UnreadableEntry[]; unreadable: { record: LogRecord; reason: string }[] }> {
    if (records.length === 0) return { rows: [], entries: [], unreadable: [] };
    try {
      const { rows, unreadable } = await options.rowsOf(records, place);
      return { rows, entries: unreadable, unreadable: [] };
    } catch (error) {
      log.warn({ err: error, group, topic, partition: place.partition, records: records.length }, "records failed together; each is tried alone");
    }
    const rows: Row[] = [];
    const entries: UnreadableEntry[] = [];
    const unreadable: { record: LogRecord; reason: string }[] = [];
    for (const record of records) {
      try {
        const alone = await options.rowsOf([record], place).catch(() => options.rowsOf([record], place));
        rows.push(...alone.rows);
        entries.push(...alone.unreadable);
      } catch (error) {
        unreadable.push({ record, reason: error instanceof Error ? error.message : String(error) });
      }
    }
    return { rows, entries, unreadable };
  }

  const watch = watchEnds(needs, { topic, group, proves: false }, held);
  const consumer = await eventLog.consume({
    topic,
    group,
    maxBytes: 2 * limits.bytes,
    onRecords: held.retaking(onRecords),
    async startAt(partition) {
      const offset = await held.take(partition);
      replaying.delete(partition);
      options.onAssigned?.({ group, logId: eventLog.id, topic, partition });
      return offset;
    },
    onRevoked(partition) {
      held.drop(partition);
      replaying.delete(partition);
    },
  });
  return {
    async stop() {
      watch.stop();
      await consumer.stop();
    },
  };
}

function placeOf(row: PlacedRow): string {
  return `${row.offset}/${row.index}`;
}

function byPlace(one: PlacedRow, other: PlacedRow): number {
  return Number(BigInt(one.offset) - BigInt(other.offset)) || one.index - other.index;
}

/** Cuts records into ranges. A record is never split; its events are counted from its head without reading it. */
function chunks(records: LogRecord[], limits: RangeLimits): LogRecord[][] {
  const ranges: LogRecord[][] = [];
  let open: LogRecord[] = [];
  let events = 0;
  let bytes = 0;
  for (const record of records) {
    const entries = record.value.byteLength >= 8 ? record.value.readUInt32LE(4) : 1;
    if (open.length > 0 && (events + entries > limits.events || bytes + record.value.byteLength > limits.bytes)) {
      ranges.push(open);
      open = [];
      events = 0;
      bytes = 0;
    }
    open.push(record);
    events += entries;
    bytes += record.value.byteLength;
  }
  if (open.length > 0) ranges.push(open);
  return ranges;
}
