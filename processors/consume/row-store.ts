import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { EncodedRows } from "../../platform/clickhouse/row-binary.ts";
import { stringLiteral } from "../../platform/clickhouse/tokens.ts";
import { LeaseLost, logOfRows, type ConsumerName } from "./cursor-name.ts";
import type { StandingPlace } from "./row-places.ts";

/** Offsets of one partition, both included. */
export interface OffsetRange {
  partition: number;
  first: bigint;
  last: bigint;
}

/** Who inserts: a lease, by one of its two lanes, which may insert at the same time. */
export interface Inserter {
  lease: string;
  lane: Lane;
}

/** Partitions whose batches fail are processed in the slow lane, where they hold nobody up. */
export type Lane = "main" | "slow";

/** A table that a consumer fills, and the fences that say who may insert into it. Rows carry their place in the log. */
export interface RowStore {
  /** The highest epochs that inserts were fenced with, by partition; a partition without one is left out. */
  readFenceEpochs(partitions: readonly number[]): Promise<Map<number, bigint>>;
  /** No older lease can begin an insert once this resolved. */
  raiseFences(lease: string, epochs: ReadonlyMap<number, bigint>): Promise<void>;
  /** Ends the running inserts of all other leases of these partitions, and those named; waits for their end. */
  endOlderInserts(lease: string, partitions: readonly number[], others: readonly string[]): Promise<void>;
  /** The highest offset that rows stand of at or above `from`; a partition without one is left out. */
  highestStanding(from: ReadonlyMap<number, bigint>): Promise<Map<number, bigint>>;
  /** The places of these ranges at which rows stand. */
  standingPlaces(ranges: readonly OffsetRange[]): Promise<StandingPlace[]>;
  /** Columns of the rows that stand in these ranges, in no order. */
  standingRows<Row>(columns: string, ranges: readonly OffsetRange[]): Promise<Row[]>;
  /** Completes the tables behind the views for all rows that stand in these ranges; repetition changes nothing there. */
  completeSideTables(ranges: readonly OffsetRange[]): Promise<void>;
  /**
   * Inserts rows if the lease holds all these partitions, in one statement. Throws LeaseLost when it does not, and
   * `ClickHouseUnavailable` when it is unknown what became of it.
   */
  insertRows(by: Inserter, partitions: readonly number[], rows: EncodedRows): Promise<void>;
}

/** A table behind a materialized view: its rows are a set that follows from the base table's rows. */
export interface SideTable {
  /** The view's own SELECT, over `source`, a table's name or a subquery. */
  insertFrom(source: string): string;
}

interface TableNeeds {
  clickhouse: ClickHouse;
  name: ConsumerName;
  table: string;
  /** The table's sort key, by which rows are found once their places are known. */
  sortKey: string;
  sideTables: readonly SideTable[];
}

/** The rows of one consumer in ClickHouse. */
export function makeRowStore({ clickhouse, name, table, sortKey, sideTables }: TableNeeds): RowStore {
  const log = stringLiteral(logOfRows(name));
  const ofFences = `consumer_group = ${stringLiteral(name.group)} AND log_id = ${log}`;

  const placed = (ranges: readonly OffsetRange[]): string =>
    `log_id = ${log} AND (${ranges.map(({ partition, first, last }) => `(partition = ${partition} AND offset BETWEEN ${first} AND ${last})`).join(" OR ")})`;

  /** By places through the projection, then by the sort key: no statement reads the whole table. */
  const rowsIn = (columns: string, ranges: readonly OffsetRange[]): string =>
    `SELECT ${columns} FROM ${table} WHERE ${placed(ranges)} AND (${sortKey}) IN (SELECT ${sortKey} FROM ${table} WHERE ${placed(ranges)})`;

  return {
    async readFenceEpochs(partitions) {
      const rows = await clickhouse.query<{ partition: number; epoch: string }>(
        `SELECT partition, max(epoch) AS epoch FROM insert_fences WHERE ${ofFences} AND partition IN (${partitions.join(", ")}) GROUP BY partition`,
      );
      return new Map(rows.map(({ partition, epoch }) => [partition, BigInt(epoch)]));
    },

    async raiseFences(lease, epochs) {
      const rows = [...epochs].map(([partition, epoch]) => ({ consumer_group: name.group, log_id: logOfRows(name), partition, epoch, lease }));
      await clickhouse.insert("insert_fences", rows, {});
    },

    async endOlderInserts(lease, partitions, others) {
      const rows = await clickhouse.query<{ lease: string }>(
        `SELECT DISTINCT lease FROM insert_fences WHERE ${ofFences} AND partition IN (${partitions.join(", ")})
         AND lease != ${stringLiteral(lease)} AND taken_at > now() - INTERVAL 1 DAY`,
      );
      await clickhouse.killQueries([...rows.flatMap(({ lease: older }) => [queryIdOf({ lease: older, lane: "main" }), queryIdOf({ lease: older, lane: "slow" })]), ...others]);
    },

    async highestStanding(from) {
      if (from.size === 0) return new Map();
      // A maximum would read every row above the cursor: after PostgreSQL was restored, those of days.
      const ofPartition = ([partition, offset]: [number, bigint]): string =>
        `SELECT * FROM (SELECT partition, offset AS highest FROM ${table}
         WHERE log_id = ${log} AND partition = ${partition} AND offset >= ${offset}
         ORDER BY log_id DESC, partition DESC, offset DESC LIMIT 1)`;
      const rows = await clickhouse.query<{ partition: number; highest: string }>(
        [...from].map(ofPartition).join(" UNION ALL "),
      );
      return new Map(rows.map(({ partition, highest }) => [partition, BigInt(highest)]));
    },

    standingPlaces: (ranges) => clickhouse.query<StandingPlace>(`SELECT partition, offset, index FROM ${table} WHERE ${placed(ranges)}`),

    standingRows: <Row>(columns: string, ranges: readonly OffsetRange[]) => clickhouse.query<Row>(rowsIn(columns, ranges)),

    async completeSideTables(ranges) {
      for (const { insertFrom } of sideTables) await clickhouse.command(insertFrom(`(${rowsIn("*", ranges)})`));
    },

    async insertRows(by, partitions, rows) {
      const held = `(SELECT count() FROM (SELECT argMax(lease, (epoch, lease)) AS holder FROM insert_fences
        WHERE ${ofFences} AND partition IN (${partitions.join(", ")}) GROUP BY partition) WHERE holder = ${stringLiteral(by.lease)})`;
      try {
        await clickhouse.insertEncoded(table, rows, {
          queryId: queryIdOf(by),
          onlyIf: `throwIf(${held} != ${partitions.length}, '${FENCED}') = 0`,
        });
      } catch (error) {
        if (error instanceof Error && error.message.includes(FENCED)) throw new LeaseLost(name, "its insert was refused by a fence");
        throw error;
      }
    },
  };
}

/** A kill finds an insert by this id. */
function queryIdOf({ lease, lane }: Inserter): string {
  return lane === "main" ? lease : `${lease}/slow`;
}

const FENCED = "another consumer holds these partitions";
