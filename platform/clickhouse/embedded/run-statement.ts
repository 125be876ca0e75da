import { stringLiteral } from "../tokens.ts";
import { bindParameters } from "./bind-parameters.ts";
import type { FileInserts } from "./insert-through-file.ts";
import { REFUSED } from "./refusal.ts";
import { withSettings } from "./request-settings.ts";
import type { EngineResult, SessionPool } from "./session-pool.ts";
import { readStatement, type InsertData, type Other } from "./statement.ts";

export interface StatementRequest {
  /** The statement, for an INSERT perhaps with its rows. */
  text: Buffer;
  /** Rows that came apart from the statement. */
  data: Buffer;
  queryId: string;
  database: string;
  settings: ReadonlyMap<string, string>;
  parameters: ReadonlyMap<string, string>;
  /** Used when the statement names none. */
  defaultFormat: string;
  /** GET must not change anything. */
  readOnly: boolean;
}

interface StatementAnswer {
  result: EngineResult;
  format: string;
}

export interface StatementRunner {
  /** Rejects with a `Refusal` or the engine's error. */
  run(request: StatementRequest): Promise<StatementAnswer>;
  /** A request with this query id is still arriving; `abort` is called when it is killed meanwhile. Returns what to call when it has arrived. */
  arriving(queryId: string, abort: () => void): () => void;
  /** Resolves when nothing runs any more. */
  idle(): Promise<void>;
}

const NOTHING: EngineResult = { bytes: new Uint8Array(), rowsRead: 0, bytesRead: 0, elapsed: 0 };

/** Runs statements and knows which of them run, by query id: the engine itself gives them ids of its own. */
export function makeStatementRunner({ pool, inserts }: { pool: SessionPool; inserts: FileInserts }): StatementRunner {
  const running = new Map<string, Promise<unknown>>();
  const arrivals = new Map<symbol, { queryId: string; abort: () => void }>();

  async function tracked<T>(queryId: string, work: () => Promise<T>): Promise<T> {
    if (running.has(queryId)) throw REFUSED.queryIdInUse(queryId);
    const settled = work();
    running.set(queryId, settled);
    try {
      return await settled;
    } finally {
      running.delete(queryId);
    }
  }

  async function runInsert(statement: InsertData, request: StatementRequest): Promise<StatementAnswer> {
    const inline = request.text.subarray(statement.dataStart);
    const data = inline.length === 0 ? request.data : Buffer.concat([inline, request.data]);
    // The engine's own id of a query cannot be chosen; its log comment carries ours, so that a kill finds it.
    const settings = new Map([...request.settings, ["log_comment", request.queryId]]);
    return { result: await inserts.insert(statement, data, { database: request.database, settings }), format: statement.format };
  }

  async function runOther(statement: Other, request: StatementRequest): Promise<StatementAnswer> {
    const format = statement.format ?? request.defaultFormat;
    const settings = new Map(request.settings);
    if (statement.kind === "read" || statement.kind === "insert select") settings.set("log_comment", request.queryId);
    const sql = withSettings(statement, settings, format);
    const result = await pool.run(bindParameters(sql, request.parameters), { database: request.database, format });
    if (statement.kind === "write") inserts.forgetTables();
    return { result, format };
  }

  /**
   * `KILL QUERY WHERE query_id = '…'` or `… IN ('…', …)`: asks the engine to stop them, then waits for their end (the
   * engine's own SYNC can wait for ever).
   */
  async function kill(statement: Other, request: StatementRequest): Promise<StatementAnswer> {
    const sql = bindParameters(statement.sql, request.parameters);
    const found = /^KILL\s+QUERY\s+WHERE\s+query_id\s*(?:=|IN)\s*(\(?(?:CAST\()?'(?:[^'\\]|\\.|',\s*')*'(?:, 'String'\))?\)?)\s*(SYNC|ASYNC|TEST)?$/i.exec(sql);
    if (!found) throw REFUSED.notImplemented("The embedded engine knows only KILL QUERY WHERE query_id = '…' or IN ('…', …) [SYNC|ASYNC]");
    const named = found[1]!.replace(/, 'String'\)$/, "");
    const queryIds = [...named.matchAll(/'((?:[^'\\]|\\.)*)'/g)].map(([, text]) => text!.replace(/\\(.)/g, "$1"));
    for (const queryId of new Set(queryIds)) await killOne(queryId, found[2]?.toUpperCase() === "SYNC");
    return { result: NOTHING, format: request.defaultFormat };
  }

  async function killOne(queryId: string, waits: boolean): Promise<void> {
    for (const arrival of arrivals.values()) if (arrival.queryId === queryId) arrival.abort();
    const work = running.get(queryId);
    if (!work) return;
    await pool.runAside(`KILL QUERY WHERE Settings['log_comment'] = ${stringLiteral(queryId)} ASYNC`);
    if (waits) await work.catch(() => undefined);
  }

  return {
    async run(request) {
      const statement = readStatement(request.text);
      if (request.readOnly && statement.kind !== "read") throw REFUSED.readOnly();
      if (statement.kind === "kill") return kill(statement, request);
      // Each request has a session of its own on a server, so SET and USE would end with it.
      if (statement.kind === "session") return { result: NOTHING, format: request.defaultFormat };
      return tracked(request.queryId, () => (statement.kind === "insert data" ? runInsert(statement, request) : runOther(statement, request)));
    },
    arriving(queryId, abort) {
      const arrival = Symbol(queryId);
      arrivals.set(arrival, { queryId, abort });
      return () => arrivals.delete(arrival);
    },
    async idle() {
      while (running.size > 0) await Promise.allSettled(running.values());
    },
  };
}
