import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readConfig, type Config } from "../platform/config.ts";
import { makeLog } from "../platform/log.ts";
import { StartFailure } from "../platform/start-failure.ts";
import { freshClickHouse } from "../testing/clickhouse.ts";
import { freshDatabase } from "../testing/postgres.ts";
import { startPharos } from "./start.ts";

const log = makeLog("silent");

/** Settings for the run's stores; its PostgreSQL works without fsync. */
async function makeConfig(settings: Record<string, string>): Promise<Config> {
  const folder = await mkdtemp(join(tmpdir(), "pharos-weak-"));
  const database = await freshDatabase();
  const clickhouse = await freshClickHouse();
  onTestFinished(async () => {
    await database.drop();
    await clickhouse.drop();
    await rm(folder, { recursive: true, force: true });
  });
  await clickhouse.clickhouse.command("ALTER TABLE beacon_events MODIFY SETTING fsync_after_insert = 0");
  const read = readConfig({
    DATABASE_URL: database.url,
    CLICKHOUSE_URL: clickhouse.url,
    PHAROS_DATA_DIR: folder,
    PORT: "0",
    EDGE_PORT: "0",
    ...settings,
  });
  if ("faults" in read) throw new Error(read.faults.join("\n"));
  return read.config;
}

const onLost = (sentence: string): void => {
  throw new Error(sentence);
};

test("Pharos does not start with a store that may lose what it confirmed", async () => {
  const config = await makeConfig({});
  const failure: unknown = await startPharos({ config, log, onLost }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartFailure);
  expect((failure as StartFailure).message).toContain("fsync is off");
});

test("it starts where that is allowed", async () => {
  const config = await makeConfig({ STORES_MAY_LOSE: "true" });
  const pharos = await startPharos({ config, log, onLost });
  await pharos.stop();
});
