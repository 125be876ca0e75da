import type { ClickHouse } from "../platform/clickhouse/port.ts";

/** What a statement took. */
export interface StatementRead {
  /** Rows that the engine read, of all parts and projections. */
  rows: number;
  /** As the client saw it. */
  ms: number;
}

/** A ClickHouse whose queries are noted, so that they can be run again and measured. */
export interface WatchedReads {
  clickhouse: ClickHouse;
  /** Runs the queries of `work`, and each of them once more; tells what those took together. */
  measureReads(work: () => Promise<unknown>): Promise<StatementRead>;
}

/** Watches queries that are sent to the ClickHouse at `url`. */
export function watchReads(clickhouse: ClickHouse, url: string): WatchedReads {
  let statements: string[] = [];
  const query: ClickHouse["query"] = (sql, params, options) => {
    statements.push(sql);
    return clickhouse.query(sql, params, options);
  };
  return {
    clickhouse: { ...clickhouse, query },
    async measureReads(work) {
      statements = [];
      await work();
      const reads = { rows: 0, ms: 0 };
      for (const sql of statements) {
        const { rows, ms } = await runStatement(url, sql);
        reads.rows += rows;
        reads.ms += ms;
      }
      return reads;
    },
  };
}

async function runStatement(url: string, sql: string): Promise<StatementRead> {
  const address = new URL(url);
  const credentials = Buffer.from(`${address.username}:${address.password}`).toString("base64");
  // With the cache a repeated query would skip what the first one read in vain.
  const search = new URLSearchParams({ database: address.pathname.slice(1), default_format: "JSON", use_query_condition_cache: "0" });
  const start = performance.now();
  const response = await fetch(`${address.origin}/?${search}`, {
    method: "POST",
    headers: { Authorization: `Basic ${credentials}` },
    body: sql,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  const { statistics } = JSON.parse(text) as { statistics: { rows_read: number } };
  return { rows: statistics.rows_read, ms: performance.now() - start };
}
