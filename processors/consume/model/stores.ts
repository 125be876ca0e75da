import type { NewDeadLetter } from "../../../domain/dead-letters/record-dead-letters.ts";
import type { EncodedRows } from "../../../platform/clickhouse/row-binary.ts";
import type { Transaction } from "../../../platform/postgres/database.ts";
import { LeaseLost, type ConsumerName } from "../cursor-name.ts";
import type { CursorMove, CursorStore } from "../cursor-store.ts";
import type { RowStore } from "../row-store.ts";
import type { StandingPlace } from "../row-places.ts";
import type { Scheduler } from "./scheduler.ts";

/** What PostgreSQL holds: cursors, and what transactions counted. */
export interface ModelPostgres {
  cursors: Map<number, { next: bigint; epoch: bigint; lease: string; sequences: Map<string, bigint> }>;
  /** How often each place was counted. */
  counted: Map<string, number>;
  letters: Map<string, NewDeadLetter>;
  gaps: CursorMove[];
}

/** What ClickHouse holds, and the inserts that run there. */
export interface ModelClickHouse {
  rows: { place: string; partition: number; offset: bigint; index: number }[];
  /** Places that the table behind the view knows. */
  side: Set<string>;
  fences: { partition: number; epoch: bigint; lease: string }[];
  inserts: Set<ModelInsert>;
}

interface ModelInsert {
  lease: string;
  killed: boolean;
}

/** A transaction's own copy of the counts. */
export interface ModelTransaction {
  counted: Map<string, number>;
}

export const emptyPostgres = (): ModelPostgres => ({ cursors: new Map(), counted: new Map(), letters: new Map(), gaps: [] });
export const emptyClickHouse = (): ModelClickHouse => ({ rows: [], side: new Set(), fences: [], inserts: new Set() });

/** A copy as of now, to be restored later. */
export function copyOf(postgres: ModelPostgres): ModelPostgres {
  return {
    cursors: new Map([...postgres.cursors].map(([partition, cursor]) => [partition, { ...cursor, sequences: new Map(cursor.sequences) }])),
    counted: new Map(postgres.counted),
    letters: new Map(postgres.letters),
    gaps: [...postgres.gaps],
  };
}

export const placeOf = ({ partition, offset, index }: { partition: number; offset: bigint | string; index: number }): string => `${partition}/${offset}/${index}`;

/** The cursors as one process sees them. `database` gives what stands now: it is replaced by a restore. */
export function modelCursors(database: () => ModelPostgres, scheduler: Scheduler, process: number, name: ConsumerName): CursorStore {
  return {
    takeCursors: (lease, partitions, fenceEpochs) =>
      scheduler.call(process, "postgres", () => {
        const { cursors } = database();
        return new Map(
          partitions.map((partition) => {
            const before = cursors.get(partition) ?? { next: 0n, epoch: 0n, lease: "", sequences: new Map<string, bigint>() };
            const fence = fenceEpochs.get(partition) ?? 0n;
            const epoch = (before.epoch > fence ? before.epoch : fence) + 1n;
            cursors.set(partition, { ...before, epoch, lease });
            return [partition, { epoch, nextOffset: before.next, legacyInsert: null, sequences: new Map(before.sequences) }];
          }),
        );
      }),
    async commitBatch({ lease, moves, letters }, effect) {
      // The effect sees nothing of the stores, so when it runs does not matter: what stands decides at the commit.
      const transaction: ModelTransaction = { counted: new Map() };
      const result = await effect(transaction as unknown as Transaction);
      return scheduler.call(process, "postgres", () => {
        const postgres = database();
        for (const { partition, from } of moves) {
          const cursor = postgres.cursors.get(partition);
          if (cursor?.lease !== lease || cursor.next !== from) throw new LeaseLost(name, "the cursor stands elsewhere");
        }
        for (const { partition, to, sequences, gapTo, ...move } of moves) {
          const cursor = postgres.cursors.get(partition)!;
          cursor.next = to;
          for (const [edgeId, last] of sequences) cursor.sequences.set(edgeId, last);
          if (gapTo !== null) postgres.gaps.push({ partition, to, sequences, gapTo, ...move });
        }
        for (const letter of letters) postgres.letters.set(`${letter.partition}/${letter.offset}/${letter.entry}`, letter);
        for (const [place, times] of transaction.counted) postgres.counted.set(place, (postgres.counted.get(place) ?? 0) + times);
        return result;
      });
    },
    async tryEffect(effect) {
      await effect({ counted: new Map() } as unknown as Transaction);
      await scheduler.call(process, "postgres", () => undefined);
    },
    holdsCursors: (lease, given) => scheduler.call(process, "postgres", () => [...given].every(([partition, next]) => database().cursors.get(partition)?.lease === lease && database().cursors.get(partition)?.next === next)),
    noteCaughtUp: async () => undefined,
  };
}

/** The table as one process sees it. `split` says how many of an insert's rows come through before it fails. */
export function modelRows(clickhouse: ModelClickHouse, scheduler: Scheduler, process: number, name: ConsumerName, split: () => number | null): RowStore {
  const call = <T>(act: () => T): Promise<T> => scheduler.call(process, "clickhouse", act);
  const within = (partition: number, offset: bigint, ranges: readonly { partition: number; first: bigint; last: bigint }[]): boolean =>
    ranges.some((range) => range.partition === partition && offset >= range.first && offset <= range.last);
  const currentLease = (partition: number): string | undefined =>
    clickhouse.fences.filter((fence) => fence.partition === partition).toSorted((one, other) => Number(other.epoch - one.epoch) || (one.lease < other.lease ? 1 : -1))[0]?.lease;

  return {
    readFenceEpochs: (partitions) =>
      call(() => {
        const epochs = new Map<number, bigint>();
        for (const { partition, epoch } of clickhouse.fences) if (partitions.includes(partition) && epoch > (epochs.get(partition) ?? 0n)) epochs.set(partition, epoch);
        return epochs;
      }),
    raiseFences: (lease, epochs) => call(() => void clickhouse.fences.push(...[...epochs].map(([partition, epoch]) => ({ partition, epoch, lease })))),
    endOlderInserts: (lease, partitions) =>
      call(() => {
        const older = new Set(clickhouse.fences.filter((fence) => partitions.includes(fence.partition) && fence.lease !== lease).map((fence) => fence.lease));
        for (const insert of clickhouse.inserts) if (older.has(insert.lease)) insert.killed = true;
      }),
    highestStanding: (from) =>
      call(() => {
        const highest = new Map<number, bigint>();
        for (const { partition, offset } of clickhouse.rows) if (from.has(partition) && offset >= from.get(partition)! && offset > (highest.get(partition) ?? -1n)) highest.set(partition, offset);
        return highest;
      }),
    standingPlaces: (ranges) =>
      call(() => clickhouse.rows.flatMap(({ partition, offset, index }): StandingPlace[] => (within(partition, offset, ranges) ? [{ partition, offset: String(offset), index }] : []))),
    standingRows: () => Promise.reject(new Error("not used")),
    completeSideTables: (ranges) =>
      call(() => {
        for (const row of clickhouse.rows) if (within(row.partition, row.offset, ranges)) clickhouse.side.add(row.place);
      }),
    async insertRows({ lease }, partitions, rows) {
      const insert: ModelInsert = { lease, killed: false };
      // It is known to kills before it checks its fence, and its rows come later.
      await call(() => {
        clickhouse.inserts.add(insert);
        if (partitions.some((partition) => currentLease(partition) !== lease)) throw new LeaseLost(name, "its insert was refused by a fence");
      });
      await call(() => {
        clickhouse.inserts.delete(insert);
        if (insert.killed) throw new Error("the query was killed");
        const given = decodeRows(rows);
        const through = split();
        clickhouse.rows.push(...(through === null ? given : given.slice(0, through % (given.length + 1))));
        if (through !== null) throw new Error("a part of the insert failed");
        for (const { place } of given) clickhouse.side.add(place);
      });
    },
  };
}

/** Columns of the model's rows. */
export const MODEL_COLUMNS = [
  { name: "partition", type: "UInt16" },
  { name: "offset", type: "UInt64" },
  { name: "index", type: "UInt32" },
];
const ROW_BYTES = 14;

function decodeRows({ body }: EncodedRows): ModelClickHouse["rows"] {
  const bytes = Buffer.concat(body);
  return Array.from({ length: bytes.byteLength / ROW_BYTES }, (_row, at) => {
    const partition = bytes.readUInt16LE(at * ROW_BYTES);
    const offset = bytes.readBigUInt64LE(at * ROW_BYTES + 2);
    const index = bytes.readUInt32LE(at * ROW_BYTES + 10);
    return { partition, offset, index, place: placeOf({ partition, offset, index }) };
  });
}
