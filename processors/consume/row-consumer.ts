import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { replaceValues } from "../../platform/clickhouse/replace-values.ts";
import { selectRows, type EncodedRows } from "../../platform/clickhouse/row-binary.ts";
import type { Consumer } from "../../platform/event-log/port.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import type { Topic } from "../../schemas/vocabulary.ts";
import { HISTORY_TIMES } from "./batch-pace.ts";
import { startBatchConsumer, type BatchOptions, type BatchWork, type Readings } from "./batch-consumer.ts";
import { logOfRows, type ConsumerName } from "./cursor-name.ts";
import { makeCursorStore } from "./cursor-store.ts";
import { isLeftOut, type FreshSlice } from "./fresh-frames.ts";
import type { IntakeLimits } from "./intake.ts";
import type { DatabaseConsumerNeeds } from "./needs.ts";
import { entryIndexOf, matchStanding, type PlacedRow } from "./row-places.ts";
import { makeRowStore, type OffsetRange, type RowStore, type SideTable } from "./row-store.ts";

/** Rows of some records: in brief, as counting needs them, and encoded, in the same order. */
export interface ComputedRows<Brief extends PlacedRow> {
  rows: Brief[];
  /** In as many parts as inserts take. */
  encoded: EncodedRows[];
}

/** The rows of a batch as they stand in ClickHouse. */
export interface StoredRows<Brief extends PlacedRow> {
  rows: Brief[];
}

/** How records become rows of one table, and what follows from them. */
export interface RowConsumerOptions<Brief extends PlacedRow> extends Partial<Omit<BatchOptions, "limits" | "everyMs" | "quietMs">> {
  topic: Topic;
  group: string;
  limits?: Partial<IntakeLimits>;
  /** Only charts and lists of the past are made of these rows. */
  isHistory?: boolean;
  table: string;
  /** The table's sort key, as in its DDL. */
  sortKey: string;
  /** Columns that a replay reads back: those of `Brief`. Only places without an effect in PostgreSQL. */
  briefColumns?: readonly (keyof Brief & string)[];
  sideTables?: readonly SideTable[];
  /** Rows of frames: the same frames give rows with the same places, whichever entries are left out. */
  rowsOf(slices: readonly FreshSlice[], only: number | null): Promise<ComputedRows<Brief> & Readings>;
  /** Of rows that do not stand those that are inserted; `standing` are the others of the batch. */
  selectNew?(missing: readonly Brief[], standing: readonly Brief[]): Promise<readonly Brief[]>;
  /** Of the rows that are inserted those that get other values; `standing` are the others of the batch. */
  replaceIn?(inserted: readonly Brief[], standing: readonly Brief[]): Promise<ReadonlyMap<Brief, Partial<Brief>>>;
  /** Before the transaction: what it needs to know. */
  beforeCommit?(stored: StoredRows<Brief>): Promise<void>;
  /** The effect in PostgreSQL, derived from the rows that stand. */
  apply?(transaction: Transaction, stored: StoredRows<Brief>): Promise<void>;
  /** The effect is committed. Not called when the process dies right before, or when it is unknown what became of it. */
  afterCommit?(stored: StoredRows<Brief>): void;
  /** Hears of rows that are about to be inserted, and their bytes. */
  keepRows?(rows: readonly Brief[], encoded: EncodedRows): void;
  /** The rows were inserted: their memory is free again. */
  onInserted?(encoded: EncodedRows): void;
}

/**
 * Only a backlog fills a batch of this size. Three times as much as 8 MiB lets it go twice as fast:
 * fewer parts for ClickHouse to merge, and each signature is counted less often.
 */
const LIMITS: IntakeLimits = { entries: 60_000, bytes: 24 * 1024 * 1024 };
const EVERY_MS = 200;

/** Consumes a topic into a ClickHouse table, and its effect into PostgreSQL, exactly once. */
export function startRowConsumer<Brief extends PlacedRow>(
  needs: DatabaseConsumerNeeds & { clickhouse: ClickHouse },
  options: RowConsumerOptions<Brief>,
): Promise<Consumer> {
  const { eventLog, database, clickhouse, clock } = needs;
  const name: ConsumerName = { group: options.group, logId: eventLog.id, topic: options.topic };
  const { table, sortKey, sideTables = [] } = options;
  const rows = makeRowStore({ clickhouse, name, table, sortKey, sideTables });
  const limits = { ...LIMITS, ...options.limits };
  const times = options.isHistory ? HISTORY_TIMES : 1;
  const stores = { cursors: makeCursorStore(database, name, () => clock.now()), rows };
  return startBatchConsumer(needs, name, stores, { ...options, limits, maxBytes: options.maxBytes ?? limits.bytes, everyMs: times * EVERY_MS, quietMs: times * (needs.quietMs ?? 0) }, makeRowWork(name, rows, options));
}

/** The steps of a batch of rows. */
export function makeRowWork<Brief extends PlacedRow>(
  name: ConsumerName,
  store: RowStore,
  options: Pick<RowConsumerOptions<Brief>, "rowsOf" | "briefColumns" | "selectNew" | "replaceIn" | "beforeCommit" | "apply" | "afterCommit" | "keepRows" | "onInserted">,
): BatchWork<ComputedRows<Brief>, StoredRows<Brief>, StoredRows<Brief>> {
  const { briefColumns, selectNew } = options;

  /** What stands of slices that replay, in order, without the rows of entries that are left out. */
  async function readStanding(slices: readonly FreshSlice[], only: number | null): Promise<Brief[]> {
    const replaying = slices.filter(({ replays }) => replays);
    if (replaying.length === 0) return [];
    const ranges = replaying.map(rangeOf);
    const standing = briefColumns ? await store.standingRows<Brief>(briefColumns.map((column) => (column === "index" ? "`index`" : column)).join(", "), ranges) : ((await store.standingPlaces(ranges)).map((place) => Object.assign(place, { log_id: logOfRows(name) })) as Brief[]);
    if (standing.length > 0) await store.completeSideTables(ranges);
    const left = new Map(replaying.map((slice) => [slice.partition, slice.left]));
    return standing
      .filter(({ partition, offset, index }) => (only === null || entryIndexOf(index) === only) && !isLeftOut(left.get(partition)!, BigInt(offset), entryIndexOf(index)))
      .toSorted(byPlace);
  }

  return {
    prepare: (slices, only) => options.rowsOf(slices, only),

    async store({ rows, encoded }, slices, { by, only }) {
      const standing = await readStanding(slices, only);
      const { isStanding } = matchStanding(rows, standing);
      const missing = standing.length === 0 ? rows : rows.filter((_row, number) => !isStanding(number));
      const inserted = selectNew ? await selectNew(missing, standing) : missing;
      const replaced = (await options.replaceIn?.(inserted, standing)) ?? new Map<Brief, Partial<Brief>>();
      const wanted = inserted.length === rows.length ? null : new Set<Brief>(inserted);
      const valuesOf = (row: Brief): Brief => (replaced.has(row) ? Object.assign({}, row, replaced.get(row)) : row);
      let first = 0;
      for (const part of encoded) {
        const mine = rows.slice(first, first + part.ends.length);
        const whole = replaceIn(part, mine, replaced);
        const chosen = wanted ? selectRows(whole, (number) => wanted.has(mine[number]!)) : whole;
        if (chosen.ends.length > 0) {
          options.keepRows?.((wanted ? mine.filter((row) => wanted.has(row)) : mine).map(valuesOf), chosen);
          await store.insertRows(by, slices.map(({ partition }) => partition), chosen);
        }
        options.onInserted?.(part);
        first += part.ends.length;
      }
      const stored = { rows: [...standing, ...inserted.map(valuesOf)] };
      await options.beforeCommit?.(stored);
      return stored;
    },

    async apply(transaction, stored) {
      await options.apply?.(transaction, stored);
      return stored;
    },

    afterCommit: (stored) => options.afterCommit?.(stored),
  };
}

/** The encoded rows with the new values of those that have some; the given ones when none has. */
function replaceIn<Brief extends PlacedRow>(part: EncodedRows, rows: readonly Brief[], replaced: ReadonlyMap<Brief, Partial<Brief>>): EncodedRows {
  if (replaced.size === 0) return part;
  const byNumber = new Map(rows.flatMap((row, number): [number, Partial<Brief>][] => (replaced.has(row) ? [[number, replaced.get(row)!]] : [])));
  return byNumber.size === 0 ? part : replaceValues(part, byNumber);
}

function rangeOf({ partition, from, to }: FreshSlice): OffsetRange {
  return { partition, first: from, last: to - 1n };
}

function byPlace(one: PlacedRow, other: PlacedRow): number {
  return one.partition - other.partition || Number(BigInt(one.offset) - BigInt(other.offset)) || one.index - other.index;
}
