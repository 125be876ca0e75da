import { inject } from "vitest";
import { openClickHouse } from "../platform/clickhouse/client.ts";
import { migrateClickHouse } from "../platform/clickhouse/migrate.ts";
import type { ClickHouse } from "../platform/clickhouse/port.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";

interface FreshClickHouse {
  clickhouse: ClickHouse;
  /** Works as CLICKHOUSE_URL, for a child process say. */
  url: string;
  /** Drops the database and closes the connections. */
  drop(): Promise<void>;
}

/** A migrated, empty database for one test file (or one test) in the run's ClickHouse. */
export async function freshClickHouse(): Promise<FreshClickHouse> {
  const log = makeLog("silent");
  const name = `test_${newId().replaceAll("-", "")}`;
  const address = new URL(inject("clickhouseUrl"));
  address.pathname = `/${name}`;
  await migrateClickHouse(address.href, log);
  const clickhouse = openClickHouse(address.href, log);
  return {
    clickhouse,
    url: address.href,
    async drop() {
      await clickhouse.command(`DROP DATABASE IF EXISTS ${name} SYNC`);
      await clickhouse.close();
    },
  };
}
