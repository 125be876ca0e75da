import { join } from "node:path";
import type { Config } from "../../platform/config.ts";
import { claimDataFolder } from "../../platform/data-folder.ts";
import { makeLog } from "../../platform/log.ts";
import { readAddress } from "../../platform/postgres/address-file.ts";
import { openDatabase, type Database } from "../../platform/postgres/database.ts";
import { startEmbeddedPostgres } from "../../platform/postgres/embedded.ts";
import { migrate } from "../../platform/postgres/migrate.ts";
import { StartFailure } from "../../platform/start-failure.ts";

/**
 * Runs `work` on the service's database: the one of DATABASE_URL, that of the Pharos which holds the data folder now,
 * or, when none does, the embedded one, started for as long as the work takes.
 */
export async function withDatabase<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  if (config.DATABASE_URL) return onUrl(config.DATABASE_URL, work);
  const folder = join(config.PHAROS_DATA_DIR, "postgres");
  let claimed: Awaited<ReturnType<typeof claimDataFolder>>;
  try {
    claimed = await claimDataFolder(config.PHAROS_DATA_DIR);
  } catch (held) {
    if (!(held instanceof StartFailure)) throw held;
    const url = await readAddress(folder);
    if (url === null) throw held;
    return onUrl(url, work);
  }
  const log = makeLog("silent");
  const server = await startEmbeddedPostgres({ folder, log });
  try {
    await migrate(server.url, log);
    return await onUrl(server.url, work);
  } finally {
    await server.stop();
    await claimed.release();
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
