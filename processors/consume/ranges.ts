import { recordDeadLetters, type NewDeadLetter } from "../../domain/dead-letters/record-dead-letters.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { EncodedRows } from "../../platform/clickhouse/row-binary.ts";
import type { Consumer, LogRecord, RecordBatch } from "../../platform/event-log/port.ts";
import { newId } from "../../platform/ids.ts";
import { makePlaces } from "../../platform/places.ts";
import { inTransaction, type Transaction } from "../../platform/postgres/database.ts";
import { WorkerLost } from "../../platform/worker-pool.ts";
import type { Topic } from "../../schemas/vocabulary.ts";
import { holdCursors, provenAfter, watchEnds, type ConsumerNeeds } from "./consumer-state.ts";
import { logOfRows, moveCursor, openRange, OwnershipLost, type CursorName, type OwnedCursor } from "./cursor.ts";
import { letterOfRecord, lettersOfEntries, tellOfLetters, type UnreadableEntry } from "./dead-letter.ts";
import { findCulprits, isOfContent } from "./find-culprits.ts";
import { freshFrames, type FreshFrames } from "./fresh-frames.ts";
import { chunks, isBriefOf, partsOf, placeOf, together, wholeOf, type PlacedRow } from "./range-rows.ts";
import { retrying, TriedAgain } from "./retrying.ts";

/** Rows of some frames that are ready to be sent: `rows` says of each, in the same order, what the other steps need to know. */
export interface EncodedRange<Brief extends PlacedRow> {
  rows: Brief[];
  insert: EncodedRows;
  unreadable: UnreadableEntry[];
  /** The insert has come through: its memory is free again. */
  onInserted(): void;
}

export interface RangeOptions<Row extends Brief, Brief extends PlacedRow = Row> {
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
  /** The same rows, encoded elsewhere; null or a throw when they cannot be, and then `rowsOf` is asked. */
  encodedOf?(records: LogRecord[], place: CursorName): Promise<EncodedRange<Brief> | null>;
  /** Drops rows of events that stand in ClickHouse already outside [first, last] (a sender's retry in a new request). */
  withoutSeen?(rows: Brief[], range: { cursor: CursorName; first: bigint; last: bigint }): Promise<Brief[]>;
  /** The effect in Postgres, derived from the rows which ClickHouse holds for the range. `whole` gives the same rows with all columns. */
  apply?(transaction: Transaction, rows: Brief[], whole: () => Promise<Row[]>): Promise<void>;
  /** Rows that were inserted are taken out again, with what was derived from them: their entry went to the dead letters, from where it can come back. */
  onSetApart?(rows: Row[], cursor: CursorName): Promise<void>;
  onAssigned?(cursor: CursorName): void;
  /** Hears, before and after records are processed, whether the log has more of a partition. */
  onBehind?(partition: number, behind: boolean): void;
  /** Waited for before each range. */
  turn?(): Promise<void>;
  /** For tests that stop the process between two steps. */
  onStep?(step: RangeStep): Promise<void> | void;
}

export type RangeStep = "opened" | "computed" | "inserted" | "committed";

export interface RangeLimits {
  /** A range closes at this many events … */
  events: number;
  /** … or this many bytes, or when the log has no more at hand. */
  bytes: number;
  /** Inserts of a partition begin at least so far apart, in ms: few large inserts cost ClickHouse less than many small ones. */
  insertEveryMs: number;
}

const LIMITS: RangeLimits = { events: 20_000, bytes: 4 * 1024 * 1024, insertEveryMs: 200 };

/** For rows that only charts and lists of the past are made of: `insertEveryMs` of their consumers. */
export const HISTORY_EVERY_MS = 1_000;

/** Inserting takes at most a third of a partition's time: where it takes long, there is much to do, and larger ranges cost less. */
const APART_INSERTS = 3;

/** So many partitions of a process are brought across at a time; meanwhile the others' ranges grow, and cost less an event. */
const AT_ONCE = 2;

/** So often a range is tried before one of its entries is taken to be at fault: some seconds. */
const BLAMED_AFTER = 5;

/** What an insert takes is less than twice as much (`platform/clickhouse/client.ts`). */
const BYTES_OF_INSERT = 32 * 1024 * 1024;
/** One statement takes at most so many rows: they have to stay one block, or the token would not cover them together. */
const ROWS_OF_INSERT = 50_000;

interface Range<Brief extends PlacedRow> {
  records: LogRecord[];
  first: bigint;
  last: bigint;
  token: string;
  /** Opened by an owner before us, and perhaps inserted: what ClickHouse holds has to be asked first. */
  opened: boolean;
  content: Content<Brief>;
  /** Places of rows whose effect Postgres refuses. */
  apart: Set<string>;
  /** Their letters. */
  lettersApart: NewDeadLetter[];
}

/** What a range holds that was not counted before. */
interface Content<Brief extends PlacedRow> extends FreshFrames {
  /** Made while the range before was being committed; for a first try alone. Never rejects. */
  ready: Promise<EncodedRange<Brief> | null>;
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
export async function startRangeConsumer<Row extends Brief, Brief extends PlacedRow = Row>(needs: ConsumerNeeds & { clickhouse: ClickHouse }, options: RangeOptions<Row, Brief>): Promise<Consumer> {
  const { eventLog, database, clickhouse, clock, log } = needs;
  const { topic, group, table } = options;
  const limits = { ...LIMITS, ...options.limits };
  const held = holdCursors(needs, topic, group);
  /** Records of a range that an owner before us opened, until all of them have come. */
  const replaying = new Map<number, LogRecord[]>();
  const places = makePlaces(AT_ONCE);
  const lastInsert = new Map<number, { at: number; took: number }>();

  async function onRecords(batch: RecordBatch): Promise<bigint> {
    const cursor = await held.forBatch(batch);
    let records = batch.records;
    if (cursor.openRange) {
      const { last, token } = cursor.openRange;
      const known = replaying.get(batch.partition) ?? [];
      known.push(...records.filter(({ offset }) => offset <= last && offset > (known.at(-1)?.offset ?? -1n)));
      replaying.set(batch.partition, known);
      if (known.at(-1)!.offset < last) return records.at(-1)!.offset + 1n;
      await process(cursor, batch, { records: known, first: cursor.nextOffset, last, token, opened: true, content: contentOf(known, cursor, cursor.sequences), apart: new Set(), lettersApart: [] });
      replaying.delete(batch.partition);
      records = records.filter(({ offset }) => offset > last);
    }
    options.onBehind?.(batch.partition, true);
    await processChunks(cursor, batch, chunks(records, limits));
    options.onBehind?.(batch.partition, cursor.nextOffset < batch.end);
    return cursor.nextOffset;
  }

  /** The rows of each chunk are made while the one before is on its way into the stores; what is written, and in which order, stays the same. */
  async function processChunks(cursor: OwnedCursor, batch: RecordBatch, ranges: LogRecord[][]): Promise<void> {
    let counted = cursor.sequences;
    const prepare = (at: number): Content<Brief> | null => {
      if (at >= ranges.length) return null;
      const content = contentOf(ranges[at]!, cursor, counted);
      counted = new Map([...counted, ...content.sequences]);
      return content;
    };
    let next = prepare(0);
    for (let at = 0; next !== null; at++) {
      const content = next;
      next = prepare(at + 1);
      const records = ranges[at]!;
      if (at > 0) await waitForTurn(batch.partition);
      await batch.keepAlive();
      await process(cursor, batch, { records, first: cursor.nextOffset, last: records.at(-1)!.offset, token: newId(), opened: false, content, apart: new Set(), lettersApart: [] });
    }
  }

  function contentOf(records: LogRecord[], cursor: OwnedCursor, counted: ReadonlyMap<string, bigint>): Content<Brief> {
    const content = freshFrames(records, counted, group);
    // Whatever is wrong with them comes out when they are read one by one.
    const ready = content.fresh.length === 0 || !options.encodedOf ? Promise.resolve(null) : options.encodedOf(content.fresh, cursor).catch(() => null);
    return { ...content, ready };
  }

  async function waitForTurn(partition: number): Promise<void> {
    const last = lastInsert.get(partition);
    const wait = last ? last.at + Math.max(limits.insertEveryMs, APART_INSERTS * last.took) - clock.monotonic() : 0;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    await options.turn?.();
  }

  async function process(cursor: OwnedCursor, batch: RecordBatch, range: Range<Brief>): Promise<void> {
    const caughtUpTo = provenAfter(clock.now());
    let opened = range.opened;
    let perhapsInserted = range.opened;
    await retrying(`${group} on ${topic}/${cursor.partition}`, batch, log, async (attempt) => {
      if (!opened) {
        await openRange(database, cursor, range.last, range.token);
        opened = true;
        await options.onStep?.("opened");
      }
      const replay = perhapsInserted;
      perhapsInserted = true;
      try {
        await bringAcross(cursor, batch, range, caughtUpTo, replay);
      } catch (error) {
        if (attempt >= BLAMED_AFTER && isOfContent(error)) await setApart(cursor, range);
        throw error;
      }
    });
    cursor.nextOffset = range.last + 1n;
    cursor.openRange = null;
    for (const [edgeId, last] of range.content.sequences) cursor.sequences.set(edgeId, last);
  }

  /** Nothing else would ever go on behind an entry whose effect is refused. */
  async function setApart(cursor: OwnedCursor, range: Range<Brief>): Promise<void> {
    const { fresh } = range.content;
    const culprits = await findCulprits<Row>({ database, records: fresh, rowsOf: (records) => options.rowsOf(records, cursor), apply: async (transaction, rows) => options.apply?.(transaction, rows, async () => rows) });
    const rows = culprits.flatMap((culprit) => culprit.rows);
    if (rows.length > 0) await options.onSetApart?.(rows, cursor);
    const known = new Set(range.lettersApart.map(({ offset, entry }) => `${offset}/${entry}`));
    range.lettersApart.push(...lettersOfEntries(cursor, fresh, culprits).filter(({ offset, entry }) => !known.has(`${offset}/${entry}`)));
    for (const row of rows) range.apart.add(placeOf(row));
  }

  async function bringAcross(cursor: OwnedCursor, batch: RecordBatch, range: Range<Brief>, caughtUpTo: Date, replay: boolean): Promise<void> {
    const { fresh, broken, sequences } = range.content;
    const quick = replay ? null : await range.content.ready;
    const read = quick ? null : await readableRows(fresh, cursor);
    const letters = [
      ...range.lettersApart,
      ...lettersOfEntries(cursor, fresh, quick?.unreadable ?? read!.entries),
      ...[...broken, ...(read?.unreadable ?? [])].map(({ record, reason }) => letterOfRecord(cursor, record, reason)),
    ];
    if (read) read.rows = withoutApart(read.rows, range);
    const computed: Brief[] = quick?.rows ?? read!.rows;
    const news = options.withoutSeen ? await options.withoutSeen(computed, { cursor, first: range.first, last: range.last }) : computed;
    const wholeNews = async (): Promise<Row[]> => wholeOf(news, computed, read?.rows ?? (await readableRows(fresh, cursor)).rows);
    /** Rows made once more can differ (a source map came in between); what stands in ClickHouse is what counts. */
    const wholeInserted = async (): Promise<Row[]> => {
      const again = await wholeNews();
      return again.length === news.length && again.every((row, at) => isBriefOf(news[at]!, row)) ? again : readStanding(cursor, range);
    };
    const insert = quick && news.length === computed.length ? quick.insert : null;
    const standing = replay ? withoutApart(await readStanding(cursor, range), range) : [];
    const rows = insert ? null : together(standing, await wholeNews());
    await options.onStep?.("computed");
    if (!batch.owned()) throw new OwnershipLost(cursor);
    const at = clock.monotonic();
    if (insert) {
      await clickhouse.insertEncoded(table, insert, { token: range.token, queryId: range.token });
      quick!.onInserted();
    } else await insertInParts(range.token, rows!, range.token);
    lastInsert.set(cursor.partition, { at, took: clock.monotonic() - at });
    if (replay) await insertMissing(cursor, range, rows!);
    await options.onStep?.("inserted");
    held.noteRecords(range.records.length, (rows ?? news).length);
    await inTransaction(database, async (transaction) => {
      await options.apply?.(transaction, rows ?? news, async () => rows ?? wholeInserted());
      await moveCursor(transaction, cursor, { nextOffset: range.last + 1n, sequences, caughtUpTo });
      await recordDeadLetters(transaction, letters);
    });
    tellOfLetters(needs, letters);
    await options.onStep?.("committed");
  }

  /**
   * After a replayed insert. Its token was used before, so it changed nothing where the first one had come through and completed
   * what the first one had left out: a month's part, a view. Rows that the first one did not have need a token of their own.
   */
  async function insertMissing(cursor: CursorName, range: Range<Brief>, rows: Row[]): Promise<void> {
    const stand = new Set((await readStanding(cursor, range)).map(placeOf));
    await insertInParts(newId(), rows.filter((row) => !stand.has(placeOf(row))), range.token);
  }

  /** One statement as a rule; a range whose events have very many rows each takes several, cut at the same places whenever it is repeated. */
  async function insertInParts(token: string, rows: Row[], queryId: string): Promise<void> {
    let at = 0;
    for (const part of partsOf(rows, { rows: ROWS_OF_INSERT, bytes: BYTES_OF_INSERT })) {
      await clickhouse.insert(table, part, { token: at === 0 ? token : `${token}/${at}`, queryId });
      at += part.length;
    }
  }

  /** What ClickHouse holds of a range, after making sure that no insert of it is still running. */
  async function readStanding(cursor: CursorName, range: Range<Brief>): Promise<Row[]> {
    await clickhouse.killQuery(range.token);
    return clickhouse.query<Row>(
      `SELECT * FROM ${table} WHERE log_id = {log:String} AND partition = {partition:UInt16} AND offset BETWEEN {first:UInt64} AND {last:UInt64} ORDER BY offset, index`,
      { log: logOfRows(cursor), partition: cursor.partition, first: String(range.first), last: String(range.last) },
    );
  }

  /** All rows; when the records fail together, one by one, and those that fail alone, twice, are set apart. */
  async function readableRows(records: LogRecord[], place: CursorName): Promise<{ rows: Row[]; entries: UnreadableEntry[]; unreadable: { record: LogRecord; reason: string }[] }> {
    if (records.length === 0) return { rows: [], entries: [], unreadable: [] };
    try {
      const { rows, unreadable } = await options.rowsOf(records, place);
      return { rows, entries: unreadable, unreadable: [] };
    } catch (error) {
      if (isNoRecords(error)) throw error;
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
        if (isNoRecords(error)) throw error;
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
    async beforeRecords(partition) {
      await waitForTurn(partition);
      return places.take();
    },
    async startAt(partition) {
      const offset = await held.take(partition);
      replaying.delete(partition);
      options.onAssigned?.({ group, logId: eventLog.id, topic, partition });
      return offset;
    },
    onRevoked(partition) {
      held.drop(partition);
      replaying.delete(partition);
      options.onBehind?.(partition, false);
    },
  });
  return {
    async stop() {
      watch.stop();
      await consumer.stop();
    },
  };
}

function withoutApart<Row extends PlacedRow>(rows: Row[], { apart }: { apart: ReadonlySet<string> }): Row[] {
  return apart.size === 0 ? rows : rows.filter((row) => !apart.has(placeOf(row)));
}

/** The whole range is tried again then. */
function isNoRecords(error: unknown): boolean {
  return error instanceof WorkerLost || error instanceof TriedAgain;
}
