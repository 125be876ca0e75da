import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import type { Log } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { isPostgresAway, postgresCode } from "./database.ts";

/** "Pharos" in ASCII: the advisory lock under which one process migrates and the others wait. */
const MIGRATION_LOCK = "88409241710451";

/** How long a database that is still starting is waited for. */
const REACH_LIMIT_MS = 15_000;

/**
 * Runs `work` on a connection of the tables' owner, one process at a time; the connection ends with it. Waits some seconds
 * for a database that is starting; throws StartFailure when it cannot be reached or refuses us, never with the URL's password.
 */
export async function asOwner<T>(url: string, log: Log, work: (client: Client) => Promise<T>, reachLimitMs = REACH_LIMIT_MS): Promise<T> {
  const client = await reach(url, log, reachLimitMs);
  try {
    await takeLock(client, log);
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Held until the connection ends, so a process that dies while migrating does not keep the others out. */
async function takeLock(client: Client, log: Log): Promise<void> {
  const { rows: [free] } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [MIGRATION_LOCK]);
  if (free!.taken) return;
  log.info("another process migrates the database; waiting for it");
  await client.query("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
}

/** A connection without a time limit for statements: a migration may take long. */
async function reach(url: string, log: Log, limitMs: number): Promise<Client> {
  const end = performance.now() + limitMs;
  for (let told = false; ; told = true) {
    const client = makeClient(url, "DATABASE_URL");
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      if (!isPostgresAway(error) || performance.now() > end) throw unreachable(client, error, "DATABASE_URL");
      if (!told) log.info({ host: client.host, port: client.port }, "waiting for the database");
      await wait(250);
    }
  }
}

/** A client of the address that `setting` names, not yet connected. Throws StartFailure when it is no address. */
export function makeClient(url: string, setting: string): Client {
  try {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, application_name: "pharos migrate" });
    client.on("error", () => undefined);
    return client;
  } catch {
    // The cause would carry the URL, and the URL the password.
    throw new StartFailure(`${setting} cannot be read as a PostgreSQL address.`, { fix: "Write it like postgres://user:password@host:5432/database, with special characters percent-encoded." });
  }
}

/** Says what is wrong with the connection, in the words of its settings. */
export function unreachable({ host, port, user, database }: Client, error: unknown, setting: string): StartFailure {
  const server = host.startsWith("/") ? host : `${host}:${port}`;
  const known: Record<string, [string, string]> = {
    "28P01": [`PostgreSQL at ${server} refuses the password of user "${user}".`, `Correct ${setting}.`],
    "28000": [`PostgreSQL at ${server} does not let user "${user}" in: ${reasonOf(error)}.`, `Correct ${setting}, or the server's pg_hba.conf.`],
    "3D000": [`PostgreSQL at ${server} has no database "${database}".`, `Create it (create database "${database}") or correct ${setting}.`],
    "42501": [`PostgreSQL at ${server} does not let user "${user}" use database "${database}".`, `Grant it (grant all on database "${database}" to "${user}") or correct ${setting}.`],
    "53300": [`PostgreSQL at ${server} has no connection left for us.`, "Raise its max_connections, or lower POSTGRES_CONNECTIONS of those that use it."],
  };
  const [sentence, fix] = known[postgresCode(error) ?? ""] ?? [`PostgreSQL at ${server} cannot be reached: ${reasonOf(error)}.`, `Check that it runs and that ${setting} names it.`];
  return new StartFailure(sentence, { fix, cause: error });
}

/** The innermost reason; drizzle wraps it in the whole statement, Node in an empty AggregateError. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (error instanceof Error && error.cause instanceof Error) return reasonOf(error.cause);
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
}
