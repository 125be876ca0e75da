import { Session } from "chdb";
import { quotedName } from "../tokens.ts";

/** What the engine gave for a statement. */
export interface EngineResult {
  bytes: Uint8Array;
  rowsRead: number;
  bytesRead: number;
  /** Seconds. */
  elapsed: number;
}

export interface SessionPool {
  /** Runs one statement in a database; waits for a free session. Rejects with the engine's error. */
  run(sql: string, options: { database: string; format: string }): Promise<EngineResult>;
  /** Runs a statement beside the pool, so that a kill is not queued behind what it kills. */
  runAside(sql: string): Promise<EngineResult>;
  close(): void;
}

/**
 * What differs from a server in the engine's own defaults: a statement carries the values of its parameters, which on a
 * server do not count against the size of a query; and `1 + 1` without SELECT is no statement there.
 */
const SESSION_SETTINGS = "SET max_query_size = 134217728, implicit_select = 0";

/**
 * The engine's own look at the memory of its process comes twenty times a second unless told, and that was most of what it
 * cost at rest. Nothing here has a bound that would be overrun within a second.
 */
const ENGINE_ARGUMENTS = ["--memory_worker_period_ms=1000"];

interface Pooled {
  session: Session;
  database: string;
}

/**
 * Sessions over one data folder. A session runs its queries one after another, so up to `size` of them are kept;
 * each remembers its database, since a name inside a view is found only through the session's own.
 */
export function openSessionPool(folder: string, size: number): SessionPool {
  const open = (): Pooled => {
    const session = new Session(folder, { connectionArgs: ENGINE_ARGUMENTS });
    session.query(SESSION_SETTINGS);
    return { session, database: "default" };
  };
  const aside = open();
  const free: Pooled[] = [];
  const waiting: ((pooled: Pooled) => void)[] = [];
  let opened = 0;

  async function take(database: string): Promise<Pooled> {
    const fitting = free.findLastIndex((pooled) => pooled.database === database);
    if (fitting >= 0) return free.splice(fitting, 1)[0]!;
    if (opened < size) {
      opened++;
      return open();
    }
    return free.pop() ?? new Promise((resolve) => waiting.push(resolve));
  }

  function giveBack(pooled: Pooled): void {
    const next = waiting.shift();
    if (next) next(pooled);
    else free.push(pooled);
  }

  async function execute(session: Session, sql: string, format: string): Promise<EngineResult> {
    const result = await session.queryAsync(sql, { format });
    return { bytes: result.bytes(), rowsRead: result.rowsRead, bytesRead: result.bytesRead, elapsed: result.elapsed };
  }

  return {
    async run(sql, { database, format }) {
      const pooled = await take(database);
      try {
        if (pooled.database !== database) {
          await execute(pooled.session, `USE ${quotedName(database)}`, "Null");
          pooled.database = database;
        }
        return await execute(pooled.session, sql, format);
      } finally {
        giveBack(pooled);
      }
    },
    runAside: (sql) => execute(aside.session, sql, "Null"),
    close() {
      for (const { session } of [aside, ...free]) session.close();
    },
  };
}
