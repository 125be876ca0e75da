import { join } from "node:path";
import type { Config } from "../../platform/config.ts";
import { makeLog } from "../../platform/log.ts";
import { readAddress } from "../../platform/postgres/address-file.ts";
import { openDatabase, type Database } from "../../platform/postgres/database.ts";
import { startEmbeddedPostgres } from "../../platform/postgres/embedded.ts";
import { prepareLogins } from "../../platform/postgres/logins.ts";
import { migrate } from "../../platform/postgres/migrate.ts";
import type { StartFailure } from "../../platform/start-failure.ts";
import { withDataFolder } from "./with-data-folder.ts";

/**
 * Runs `work` on the service's database: the one of DATABASE_URL, that of the Pharos which holds
 * the data folder now, or, when none does, the embedded one, started for as long as the work takes.
 */
export async function withDatabase<T>(
  config: Config,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  if (config.DATABASE_URL) return onUrl(config.DATABASE_APPLICATION_URL ?? config.DATABASE_URL, work);
  return withDataFolder(config, (heldByAnother) => withDatabaseOf(config, heldByAnother, work));
}

/** As `withDatabase`, for who knows already whether another process holds the data folder. */
export async function withDatabaseOf<T>(
  config: Config,
  heldByAnother: StartFailure | null,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  if (config.DATABASE_URL) return onUrl(config.DATABASE_APPLICATION_URL ?? config.DATABASE_URL, work);
  const folder = join(config.PHAROS_DATA_DIR, "postgres");
  if (heldByAnother) {
    const url = await readAddress(folder);
    if (url === null) throw heldByAnother;
    return onUrl(url, work);
  }
  const log = makeLog("silent");
  const server = await startEmbeddedPostgres({ folder, log });
  try {
    await migrate(server.url, log);
    const logins = await prepareLogins({ url: server.url, log });
    return await onUrl(logins.application, work);
  } finally {
    await server.stop();
  }
}

async function onUrl<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase(url, 2, makeLog("silent"));
  try {
    return await work(database);
  } finally {
    await database.$client.end();
  }
}
