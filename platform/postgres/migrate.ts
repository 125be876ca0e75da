import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate as applyMigrations } from "drizzle-orm/node-postgres/migrator";
import { Client } from "pg";
import type { Log } from "../log.ts";
import { PROJECT_ROOT } from "../root.ts";
import { StartFailure } from "../start-failure.ts";
import { isPostgresAway, postgresCode } from "./database.ts";

const MIGRATIONS_FOLDER = join(PROJECT_ROOT, "schemas", "migrations");

/** "Pharos" in ASCII: the advisory lock under which one process migrates and the others wait. */
const MIGRATION_LOCK = "88409241710451";

/** The oldest server whose SQL we use, as `server_version_num` counts. */
const OLDEST_SERVER = 150_000;

/** How long a database that is still starting is waited for. */
const REACH_LIMIT_MS = 15_000;

/**
 * Brings the tables up to date, once however many processes start together. `applied` counts the migrations of this call.
 * Waits some seconds for a database that is starting; throws StartFailure when it cannot be reached or refuses us, or
 * when a newer Pharos has already migrated it. The URL's password is never part of a sentence.
 */
export async function migrate(url: string, log: Log, { reachLimitMs = REACH_LIMIT_MS }: { reachLimitMs?: number } = {}): Promise<{ applied: number }> {
  const client = await reach(url, log, reachLimitMs);
  try {
    await checkServer(client);
    await takeLock(client, log);
    const known = knownMigrations();
    const before = await appliedMigrations(client);
    const newest = before.at(-1);
    if (newest !== undefined && newest > known.at(-1)!) {
      throw new StartFailure("The database was migrated by a newer Pharos than this one.", { fix: "Start that version or a later one: migrations only go forward." });
    }
    await applyMigrations(drizzle({ client }), { migrationsFolder: MIGRATIONS_FOLDER });
    const applied = known.filter((when) => newest === undefined || when > newest).length;
    if (applied > 0) log.info({ applied }, "database migrated");
    return { applied };
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    throw new StartFailure(`The database could not be migrated: ${reasonOf(error)}.`, { fix: "Nothing was changed. Pharos needs a database in which its user may create tables, types and schemas.", cause: error });
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

/** When each migration of this build was made, ascending; drizzle orders and recognises them by it. */
function knownMigrations(): number[] {
  const journal = JSON.parse(readFileSync(join(MIGRATIONS_FOLDER, "meta", "_journal.json"), "utf8")) as { entries: { when: number }[] };
  return journal.entries.map(({ when }) => when).toSorted((a, b) => a - b);
}

async function appliedMigrations(client: Client): Promise<number[]> {
  const { rows: [table] } = await client.query<{ name: string | null }>("select to_regclass('drizzle.__drizzle_migrations') as name");
  if (!table?.name) return [];
  const { rows } = await client.query<{ created_at: string }>("select created_at from drizzle.__drizzle_migrations order by created_at");
  return rows.map((row) => Number(row.created_at));
}

async function checkServer(client: Client): Promise<void> {
  const { rows: [server] } = await client.query<{ number: number; name: string }>("select current_setting('server_version_num')::int as number, current_setting('server_version') as name");
  if (server!.number < OLDEST_SERVER) throw new StartFailure(`The database is PostgreSQL ${server!.name}; Pharos needs ${OLDEST_SERVER / 10_000} or later.`, { fix: "Set DATABASE_URL to a newer server." });
}

/** A connection without a time limit for statements: a migration may take long. */
async function reach(url: string, log: Log, limitMs: number): Promise<Client> {
  const end = performance.now() + limitMs;
  for (let told = false; ; told = true) {
    const client = makeClient(url);
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      if (!isPostgresAway(error) || performance.now() > end) throw unreachable(client, error);
      if (!told) log.info({ host: client.host, port: client.port }, "waiting for the database");
      await wait(250);
    }
  }
}

function makeClient(url: string): Client {
  try {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, application_name: "pharos migrate" });
    client.on("error", () => undefined);
    return client;
  } catch {
    // The cause would carry the URL, and the URL the password.
    throw new StartFailure("DATABASE_URL cannot be read as a PostgreSQL address.", { fix: "Write it like postgres://user:password@host:5432/database, with special characters percent-encoded." });
  }
}

/** Says what is wrong with the connection, in the words of its settings. */
function unreachable({ host, port, user, database }: Client, error: unknown): StartFailure {
  const server = host.startsWith("/") ? host : `${host}:${port}`;
  const known: Record<string, [string, string]> = {
    "28P01": [`PostgreSQL at ${server} refuses the password of user "${user}".`, "Correct DATABASE_URL."],
    "28000": [`PostgreSQL at ${server} does not let user "${user}" in: ${reasonOf(error)}.`, "Correct DATABASE_URL, or the server's pg_hba.conf."],
    "3D000": [`PostgreSQL at ${server} has no database "${database}".`, `Create it (create database "${database}") or correct DATABASE_URL.`],
    "42501": [`PostgreSQL at ${server} does not let user "${user}" use database "${database}".`, `Grant it (grant all on database "${database}" to "${user}") or correct DATABASE_URL.`],
    "53300": [`PostgreSQL at ${server} has no connection left for us.`, "Raise its max_connections, or lower POSTGRES_CONNECTIONS of those that use it."],
  };
  const [sentence, fix] = known[postgresCode(error) ?? ""] ?? [`PostgreSQL at ${server} cannot be reached: ${reasonOf(error)}.`, "Check that it runs and that DATABASE_URL names it."];
  return new StartFailure(sentence, { fix, cause: error });
}

/** The innermost reason; drizzle wraps it in the whole statement, Node in an empty AggregateError. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (error instanceof Error && error.cause instanceof Error) return reasonOf(error.cause);
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
}
