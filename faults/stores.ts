import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { openClickHouse } from "../platform/clickhouse/client.ts";
import { migrateClickHouse } from "../platform/clickhouse/migrate.ts";
import { startEmbeddedClickHouse } from "../platform/clickhouse/start-embedded.ts";
import type { Lifecycle } from "../platform/lifecycle.ts";
import { makeLog } from "../platform/log.ts";
import { openDatabase } from "../platform/postgres/database.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded.ts";
import { migrate } from "../platform/postgres/migrate.ts";
import { startFaultProxy } from "../testing/fault-proxy.ts";
import { startKafka } from "../testing/kafka.ts";
import { TEST_SECRETS_KEY } from "../testing/secrets-key.ts";

const run = promisify(execFile);
const log = makeLog("silent");

/** Starts the three stores below `folder`, PostgreSQL and ClickHouse each behind a fault proxy. */
export async function startStores(folder: string, lifecycle: Lifecycle) {
  const { databaseUrl, ...postgres } = await startPostgresStore(folder, lifecycle);
  const { clickhouseUrl, ...clickhouse } = await startClickHouseStore(folder, lifecycle);
  const kafka = await startKafka();
  lifecycle.add({ name: "kafka", stop: () => kafka.stop() });
  const KAFKA_BROKERS = kafka.brokers.join(",");
  const environment = { DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl, KAFKA_BROKERS, SECRETS_KEY: TEST_SECRETS_KEY };
  return { ...postgres, ...clickhouse, kafka, environment };
}

async function startPostgresStore(stageFolder: string, lifecycle: Lifecycle) {
  const folder = join(stageFolder, "postgres");
  const data = join(folder, "data");
  const copy = join(folder, "copy");
  const startServer = () => startEmbeddedPostgres({ folder, log, settings: { max_connections: "250" } });
  let server = await startServer();
  lifecycle.add({ name: "postgres", stop: () => server.stop() });
  await migrate(server.url, log);
  const address = new URL(server.url.replace("@/", "@localhost/"));
  const socket = join(address.searchParams.get("host")!, ".s.PGSQL.5432");
  const postgres = await startFaultProxy({ path: socket });
  lifecycle.add({ name: "postgres proxy", stop: () => postgres.stop() });
  const database = openDatabase(server.url, 4, log);
  lifecycle.add({ name: "database", stop: () => database.$client.end() });

  async function endAtOnce(): Promise<void> {
    server.abandon();
    await server.exited;
  }

  return {
    postgres,
    database,
    databaseUrl: `postgres://${address.username}:${address.password}@127.0.0.1:${postgres.port}${address.pathname}`,
    async killPostgres() {
      await endAtOnce();
      server = await startServer();
    },
    async copyPostgres() {
      await server.stop();
      await rm(copy, { recursive: true, force: true });
      await run("cp", ["-a", data, copy]);
      server = await startServer();
    },
    async restorePostgres() {
      await endAtOnce();
      await rm(data, { recursive: true, force: true });
      await run("cp", ["-a", copy, data]);
      server = await startServer();
    },
  };
}

async function startClickHouseStore(stageFolder: string, lifecycle: Lifecycle) {
  const folder = join(stageFolder, "clickhouse");
  const password = randomBytes(24).toString("hex");
  const startEngine = () => startEmbeddedClickHouse({ folder, log, password });
  let engine = await startEngine();
  lifecycle.add({ name: "clickhouse", stop: () => engine.stop() });
  await migrateClickHouse(engine.url, log);
  const target = () => ({ host: "127.0.0.1", port: Number(new URL(engine.url).port) });
  const urlBehind = (port: number) => Object.assign(new URL(engine.url), { port: String(port) }).href;
  const clickhouse = await startFaultProxy(target());
  lifecycle.add({ name: "clickhouse proxy", stop: () => clickhouse.stop() });
  // Not spoiled by any fault; it only follows the engine's port.
  const direct = await startFaultProxy(target());
  lifecycle.add({ name: "direct proxy", stop: () => direct.stop() });
  const rows = openClickHouse(urlBehind(direct.port), log);
  lifecycle.add({ name: "rows", stop: () => rows.close() });
  return {
    clickhouse,
    rows,
    clickhouseUrl: urlBehind(clickhouse.port),
    async killClickHouse() {
      engine.abandon();
      await engine.exited;
      engine = await startEngine();
      clickhouse.retarget(target());
      direct.retarget(target());
    },
  };
}
