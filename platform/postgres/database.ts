import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { Pool, type PoolClient, type PoolConfig } from "pg";
import * as tables from "../../schemas/tables/all.ts";
import type { Log } from "../log.ts";
import { PreparingClient } from "./preparing-client.ts";

/** Drizzle over a pool; `$client` is the pg pool for hand-written SQL. */
export type Database = NodePgDatabase<typeof tables> & { $client: Pool };

/** What runs inside `inTransaction(...)`; `Database` itself fits too where no transaction is needed. */
export type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0];
export type Queries = Database | Transaction;

/** 40P01 deadlock, 40001 serialization: the transaction did nothing and may run again. */
const RETRYABLE = new Set(["40P01", "40001"]);

/** No statement or idle transaction outlives this, so edges may trust a minute's window of changes. */
const TRANSACTION_LIMIT_MS = 30_000;

/**
 * Connections that a pool keeps although nothing uses them. A process that does nothing still asks some questions a second, and a
 * new connection costs more than they do: its login, its process, and everything that is prepared anew.
 */
const KEPT_CONNECTIONS = 2;

/** How every pool of ours connects. */
export function poolOptions(url: string, maxConnections: number): PoolConfig {
  return {
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: 5_000,
    statement_timeout: TRANSACTION_LIMIT_MS,
    // Where the server's host has vanished nobody else ends a query for a quarter of an hour.
    query_timeout: TRANSACTION_LIMIT_MS + 5_000,
    idle_in_transaction_session_timeout: TRANSACTION_LIMIT_MS,
    application_name: "pharos",
    Client: PreparingClient,
  };
}

/** Keeps the loss of a pooled connection from ending the process. */
export function watchPool(pool: Pool, log: Log): void {
  // While one is idle: the next query opens another.
  pool.on("error", (error) => {
    if (!pool.ending) log.warn({ err: error.message }, "postgres connection lost");
  });
  // In use, where the pool does not listen: the query that runs on it fails, and that is enough.
  pool.on("connect", (client) => client.on("error", (error) => log.debug({ err: error.message }, "postgres connection lost in use")));
}

/** Opens a pool on `url` that sees the rows of all organizations; connections are made when first needed. */
export function openDatabase(url: string, maxConnections: number, log: Log): Database {
  const pool = new Pool({ ...poolOptions(url, maxConnections), min: Math.min(KEPT_CONNECTIONS, maxConnections) });
  watchPool(pool, log);
  return drizzle({ client: pool, schema: tables });
}

/** Plans once, and by indexes: of `due_at <= $1` a plan for every value expects a third of the table, and would read all of it. */
const LOOK_SETTINGS = "set plan_cache_mode = force_generic_plan; set enable_seqscan = off";

/** One connection for a statement that looks again and again for what is due by an index, and would be planned anew each time. */
export function openLookingDatabase(url: string, log: Log): Database {
  const verify: PoolConfig["verify"] = (client, done) => client.query(LOOK_SETTINGS, (error: Error | null) => done(error ?? undefined));
  const pool = new Pool({ ...poolOptions(url, 1), min: 1, verify });
  watchPool(pool, log);
  return drizzle({ client: pool, schema: tables });
}

/**
 * A transaction as the database of what runs within it: its own transactions become savepoints, and all of it stands or
 * falls together. They must not run side by side, and nobody else sees their work before the end.
 */
export function asDatabase(transaction: Transaction): Database {
  return transaction as unknown as Database;
}

/** True for what `asDatabase` made: only a real database has a pool. */
export function isTransaction(database: Database): boolean {
  return !("$client" in database);
}

/** Runs `work` in a transaction, again from the start when Postgres chose it as a deadlock's victim. */
export async function inTransaction<T>(database: Database, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  return inTransactionWithLast(database, async (transaction) => {
    const result = await work(transaction);
    return async () => result;
  });
}

/**
 * As `inTransaction`, for work that gives its last statement: nobody decides anything by its answer,
 * so it leaves in one write with the commit, and both answers come back together.
 */
export async function inTransactionWithLast<T>(
  database: Database,
  work: (transaction: Transaction) => Promise<() => Promise<T>>,
): Promise<T> {
  // A deadlock's victim is run again from its outermost start.
  if (isTransaction(database)) return database.transaction(async (transaction) => (await work(transaction))());
  for (let attempt = 1; ; attempt++) {
    try {
      return await onOneConnection(database, work);
    } catch (error) {
      if (attempt >= 5 || !RETRYABLE.has(postgresCode(error) ?? "")) throw error;
    }
  }
}

/** Drizzle over one connection, made once for each. */
const ofConnection = new WeakMap<PoolClient, NodePgDatabase<typeof tables>>();

/**
 * The connection is taken and given back here: drizzle's own `database.transaction` keeps one for ever when its `begin`
 * fails, and a pool that lost all of them this way never answers again. A connection that is of no more use is closed.
 */
async function onOneConnection<T>(database: Database, work: (transaction: Transaction) => Promise<() => Promise<T>>): Promise<T> {
  const client = await database.$client.connect();
  let lost = false;
  try {
    let single = ofConnection.get(client);
    if (!single) ofConnection.set(client, (single = drizzle({ client, schema: tables })));
    // In an object, which drizzle does not wait for before it commits. PostgreSQL makes the commit
    // of a transaction whose last statement failed a rollback.
    const { last } = await single.transaction(async (transaction) => {
      const begun = (await work(transaction))();
      begun.catch(() => undefined);
      return { last: begun };
    });
    return await last;
  } catch (error) {
    lost = isConnectionSpoilt(error);
    throw error;
  } finally {
    client.release(lost);
  }
}

/** The five-character SQLSTATE behind an error of pg or drizzle, or null for other errors. */
export function postgresCode(error: unknown): string | null {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && typeof cause.code === "string" && /^[0-9A-Z]{5}$/.test(cause.code)) return cause.code;
  }
  return null;
}

const CONNECTION_CODES = new Set(["ECONNREFUSED", "ENOENT", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENOTFOUND", "EAI_AGAIN"]);

/**
 * True when a connection is of no more use: Postgres is away, or a statement of ours is no longer
 * prepared in its session (26000), because somebody's SQL threw it away.
 */
export function isConnectionSpoilt(error: unknown): boolean {
  return isPostgresAway(error) || postgresCode(error) === "26000";
}

/** True when Postgres could not be reached or is shutting down or starting, as against having refused the query. */
export function isPostgresAway(error: unknown): boolean {
  const code = postgresCode(error);
  if (code !== null) return code.startsWith("08") || code.startsWith("57P") || code === "53300";
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && CONNECTION_CODES.has(String(cause.code))) return true;
    if (/Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error/.test(cause.message)) return true;
  }
  return false;
}
