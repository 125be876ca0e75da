import type { EncodedRows, TableColumn } from "./row-binary.ts";

/** What the rest of Pharos needs of ClickHouse; `client.ts` gives it for the embedded engine and a server alike. */
export interface ClickHouse {
  /** Rows of a SELECT. `params` fill `{name:Type}` places in the SQL, never by pasting text. 64-bit integers come as strings. */
  query<Row>(sql: string, params?: Record<string, unknown>, options?: { timeoutMs?: number }): Promise<Row[]>;

  /**
   * Bytes of a SELECT's rows, one behind the other in ClickHouse's RowBinary format, in pieces that may end within a row. The
   * query has ended before the first piece comes, so each call should ask for no more than some MiB. Rejects as `query` does.
   */
  stream(sql: string, params?: Record<string, unknown>): AsyncIterable<Uint8Array>;

  /**
   * Inserts all rows in one statement and, when `token` is given, at most once for that token.
   * ≤ 100,000 rows and 64 MiB. Resolves when the data is on disk (`fsync_after_insert`). A row is a plain object, column → value; a column
   * left out gets its default. A value that its column cannot hold rejects with a `TypeError` that names both, before anything is sent.
   */
  insert(table: string, rows: object[], options: { token?: string; queryId?: string }): Promise<void>;

  /** The columns that rows of a table may be given, as last seen: for encoding rows elsewhere, such as in a worker thread. */
  columnsOf(table: string): Promise<TableColumn[]>;

  /**
   * Inserts rows that `makeRowEncoder` made, all in one statement, if `onlyIf`, a condition that ClickHouse evaluates
   * once before it inserts, is true or throws nothing. Nothing is deduplicated. ≤ 100,000 rows and 64 MiB. Rejects with
   * `ClickHouseUnavailable` when it is unknown what became of it.
   */
  insertEncoded(table: string, rows: EncodedRows, options: { queryId: string; onlyIf?: string }): Promise<void>;

  /** Ends the queries with these ids and waits until none of them runs any more. */
  killQueries(queryIds: readonly string[]): Promise<void>;

  /** A statement without rows: DDL, ALTER … DELETE. */
  command(sql: string, params?: Record<string, unknown>): Promise<void>;

  /** Resolves when ClickHouse answers; rejects with `ClickHouseUnavailable` when it does not. */
  ping(): Promise<void>;

  close(): Promise<void>;
}

/** ClickHouse could not be reached, as against having refused the statement. */
export class ClickHouseUnavailable extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`ClickHouse is unavailable: ${reason}`, { cause });
    this.name = "ClickHouseUnavailable";
  }
}
