import { readFileSync } from "node:fs";
import { join } from "node:path";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate as applyMigrations } from "drizzle-orm/node-postgres/migrator";
import type { Client } from "pg";
import type { Log } from "../log.ts";
import { PROJECT_ROOT } from "../root.ts";
import { StartFailure } from "../start-failure.ts";
import { asOwner, reasonOf } from "./owner.ts";
import { grantPrivileges, makeGroups } from "./privileges.ts";

const MIGRATIONS_FOLDER = join(PROJECT_ROOT, "schemas", "migrations");

/** The oldest server whose SQL we use, as `server_version_num` counts. */
const OLDEST_SERVER = 150_000;

/**
 * Brings the tables and what each role may do with them up to date, once however many processes start together. `applied`
 * counts the migrations of this call. Waits some seconds for a database that is starting; throws StartFailure when it
 * cannot be reached or refuses us, or when a newer Pharos has already migrated it.
 */
export async function migrate(url: string, log: Log, { reachLimitMs }: { reachLimitMs?: number } = {}): Promise<{ applied: number }> {
  return asOwner(url, log, (client) => migrateWith(client, log), reachLimitMs);
}

async function migrateWith(client: Client, log: Log): Promise<{ applied: number }> {
  try {
    await checkServer(client);
    const known = knownMigrations();
    const before = await appliedMigrations(client);
    const newest = before.at(-1);
    if (newest !== undefined && newest > known.at(-1)!) {
      throw new StartFailure("The database was migrated by a newer Pharos than this one.", { fix: "Start that version or a later one: migrations only go forward." });
    }
    await makeGroups(client);
    await applyMigrations(drizzle({ client }), { migrationsFolder: MIGRATIONS_FOLDER });
    await grantPrivileges(client, log);
    const applied = known.filter((when) => newest === undefined || when > newest).length;
    if (applied > 0) log.info({ applied }, "database migrated");
    return { applied };
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    throw new StartFailure(`The database could not be migrated: ${reasonOf(error)}.`, { fix: "Nothing was changed. Pharos needs a database in which its user may create tables, types and schemas.", cause: error });
  }
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
