import { join } from "node:path";
import { openClickHouse } from "../../platform/clickhouse/client.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { startEmbeddedClickHouse } from "../../platform/clickhouse/start-embedded.ts";
import { makeLog } from "../../platform/log.ts";
import { openDatabase, type Database } from "../../platform/postgres/database.ts";
import { startEmbeddedPostgres } from "../../platform/postgres/embedded.ts";

/** The two servers of a data folder, without Pharos: no migration runs. */
export interface DataStores {
  databaseUrl: string;
  clickhouseUrl: string;
  database: Database;
  clickhouse: ClickHouse;
  stop(): Promise<void>;
}

/** Starts the embedded PostgreSQL and ClickHouse on a data folder that no Pharos holds. */
export async function startDataStores(folder: string): Promise<DataStores> {
  const log = makeLog("error");
  const [postgres, engine] = await Promise.all([
    startEmbeddedPostgres({ folder: join(folder, "postgres"), log }),
    startEmbeddedClickHouse({ folder: join(folder, "clickhouse"), log }),
  ]);
  const database = openDatabase(postgres.url, 5, log);
  const clickhouse = openClickHouse(engine.url, log);
  return {
    databaseUrl: postgres.url,
    clickhouseUrl: engine.url,
    database,
    clickhouse,
    async stop() {
      await Promise.all([database.$client.end(), clickhouse.close()]);
      await Promise.all([postgres.stop(), engine.stop()]);
    },
  };
}
