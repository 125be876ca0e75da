import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../log.ts";
import { PROJECT_ROOT } from "../root.ts";
import { StartFailure } from "../start-failure.ts";
import { openClickHouse } from "./client.ts";
import { replicatedStatement } from "./migrate-replicated.ts";
import { ClickHouseUnavailable, type ClickHouse } from "./port.ts";
import { quotedName, splitStatements } from "./tokens.ts";

interface Migration {
  version: number;
  name: string;
  checksum: string;
  statements: string[];
}

const SCHEMA_FOLDER = join(PROJECT_ROOT, "schemas", "clickhouse");

const CREATE_RECORD = `
  CREATE TABLE IF NOT EXISTS schema_migrations (
    version UInt32,
    name String,
    checksum String,
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
  ) ENGINE = MergeTree ORDER BY version SETTINGS fsync_after_insert = 1`;

interface MigrateOptions {
  /** Makes the tables on every replica of this cluster; null makes them on the server itself. */
  cluster?: string | null;
  folder?: string;
}

/**
 * Creates the database of the URL if it is missing, then runs the files `NNNN_*.sql` that it has not had, in order, forward only.
 * Every statement can be repeated (IF NOT EXISTS), so a file of which a death left half is simply run again, and two
 * processes may do this at a time. Throws a `StartFailure` when ClickHouse cannot be reached or used, or has a newer schema.
 */
export async function migrateClickHouse(url: string, log: Log, { cluster = null, folder = SCHEMA_FOLDER }: MigrateOptions = {}): Promise<void> {
  const { address, database, bare } = takeApart(url);
  const clickhouse = openClickHouse(url, log);
  try {
    const placed: Placed = (statement) => (cluster === null ? statement : replicatedStatement(statement, cluster));
    await createDatabase(bare, database, placed, log);
    const applied = await migrateDatabase(clickhouse, await readMigrations(folder), placed);
    for (const name of applied) log.info({ migration: name }, "ClickHouse migrated");
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof ClickHouseUnavailable) throw new StartFailure(`ClickHouse at ${address} cannot be reached: ${reason}.`, { fix: "Start it, or correct CLICKHOUSE_URL.", cause: error });
    throw new StartFailure(`The tables in ClickHouse's database ${database} at ${address} cannot be brought up to date: ${reason}`, { fix: "Check the user's rights and the server's version (24.8 or later), then start again.", cause: error });
  } finally {
    await clickhouse.close();
  }
}

/** A URL that may name its database in the path or as `?database=`, without its secrets for people to read. */
function takeApart(url: string): { address: string; database: string; bare: string } {
  const bare = new URL(url);
  const database = decodeURIComponent(bare.pathname.slice(1)) || bare.searchParams.get("database") || "default";
  bare.pathname = "/default";
  bare.searchParams.delete("database");
  return { address: bare.host, database, bare: bare.href };
}

/** A statement as the server or the cluster needs it. */
type Placed = (statement: string) => string;

async function createDatabase(url: string, database: string, placed: Placed, log: Log): Promise<void> {
  if (database === "default") return;
  const clickhouse = openClickHouse(url, log);
  try {
    await clickhouse.command(placed(`CREATE DATABASE IF NOT EXISTS ${quotedName(database)}`));
  } catch (error) {
    // A user without the right to create it may still use one that is there; if it is not, the next statement says so.
    if (error instanceof ClickHouseUnavailable) throw error;
    log.debug({ err: error, database }, "could not create the database");
  } finally {
    await clickhouse.close();
  }
}

async function migrateDatabase(clickhouse: ClickHouse, migrations: Migration[], placed: Placed): Promise<string[]> {
  await clickhouse.command(placed(CREATE_RECORD));
  const rows = await clickhouse.query<{ version: number; name: string; checksum: string }>("SELECT DISTINCT version, name, checksum FROM schema_migrations ORDER BY version");
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const { version, name, checksum } of rows) {
    const migration = known.get(version);
    if (!migration) throw new StartFailure(`ClickHouse holds the schema of a newer Pharos (${name}).`, { fix: "Start that version or a later one: schemas only move forward." });
    if (migration.checksum !== checksum) throw new StartFailure(`${migration.name} was changed after it had been applied to ClickHouse.`, { fix: "Restore the file and put the change into a new one, or begin with an empty database." });
  }
  const standing = new Set(rows.map(({ version }) => version));
  const missing = migrations.filter(({ version }) => !standing.has(version));
  for (const { version, name, checksum, statements } of missing) {
    for (const statement of statements) await clickhouse.command(placed(statement));
    await clickhouse.insert("schema_migrations", [{ version, name, checksum }], {});
  }
  return missing.map(({ name }) => name);
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), "utf8");
      return { version: Number(name.slice(0, 4)), name, checksum: createHash("sha256").update(text).digest("hex"), statements: splitStatements(text) };
    }),
  );
}
