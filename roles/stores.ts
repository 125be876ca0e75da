import { join } from "node:path";
import { checkClickHouseDurability } from "../platform/clickhouse/check-durability.ts";
import { openClickHouse } from "../platform/clickhouse/client.ts";
import { migrateClickHouse } from "../platform/clickhouse/migrate.ts";
import { startEmbeddedClickHouse } from "../platform/clickhouse/start-embedded.ts";
import type { ClickHouse } from "../platform/clickhouse/port.ts";
import type { Clock } from "../platform/clock.ts";
import type { Config } from "../platform/config.ts";
import { claimDataFolder, type DataFolder } from "../platform/data-folder.ts";
import { openLogDoor } from "../platform/event-log/door.ts";
import { logFolder, openLog } from "../platform/event-log/open.ts";
import type { EventLog } from "../platform/event-log/port.ts";
import { requireSamePartitions } from "../platform/event-log/same-partitions.ts";
import type { Lifecycle } from "../platform/lifecycle.ts";
import type { Log } from "../platform/log.ts";
import { writeAddress } from "../platform/postgres/address-file.ts";
import { checkPostgresDurability } from "../platform/postgres/check-durability.ts";
import { openDatabase, openLookingDatabase, type Database } from "../platform/postgres/database.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded.ts";
import { prepareLogins, type Logins } from "../platform/postgres/logins.ts";
import { migrate } from "../platform/postgres/migrate.ts";
import { sealPlainRows, sealRowsAnew } from "../platform/postgres/seal-rows.ts";
import { readSecretsKeys, recordSecretsKey } from "../platform/secrets-key.ts";
import { useSecretsKeys } from "../schemas/tables/sealed.ts";
import { StartFailure } from "../platform/start-failure.ts";

export interface Stores {
  database: Database;
  /** For looking for what is due (`openLookingDatabase`). */
  lookingDatabase: Database;
  /** The application's login. */
  databaseUrl: string;
  logins: Logins;
  clickhouse: ClickHouse;
  clickhouseUrl: string;
  eventLog: EventLog;
  /** Ends the embedded servers at once; they recover at the next start. */
  abandon(): void;
}

interface Child {
  abandon(): void;
}

interface StoresNeeds {
  config: Config;
  clock: Clock;
  log: Log;
  lifecycle: Lifecycle;
  /** An embedded store ended by itself; the process cannot go on. */
  onLost(sentence: string): void;
}

/** Takes the data folder for this process when a store is embedded, else gives null. Throws StartFailure when another holds it. */
export async function takeDataFolder(config: Config, lifecycle: Lifecycle): Promise<DataFolder | null> {
  const embedded = !config.DATABASE_URL || !config.CLICKHOUSE_URL || config.KAFKA_BROKERS.length === 0;
  if (!embedded) return null;
  const dataFolder = await claimDataFolder(config.PHAROS_DATA_DIR);
  lifecycle.add({ name: "data folder", stop: async () => dataFolder.release() });
  return dataFolder;
}

/** Opens the three stores, embedded or by address, and brings their tables up to date. */
export async function openStores(needs: StoresNeeds): Promise<Stores> {
  const { config, lifecycle, log } = needs;
  const children: Child[] = [];
  const [logins, { clickhouse, clickhouseUrl }] = await Promise.all([openPostgres(needs, children), openClickHouseStore(needs, children)]);
  const database = openDatabase(logins.application, config.POSTGRES_CONNECTIONS, log);
  const lookingDatabase = openLookingDatabase(logins.application, log);
  lifecycle.add({
    name: "postgres",
    stop: async () => void (await Promise.all([database.$client.end(), lookingDatabase.$client.end()])),
    unready: () => database.$client.query("select 1").then(
      () => null,
      (error: Error) => `PostgreSQL does not answer: ${error.message}`,
    ),
  });
  lifecycle.add({ name: "clickhouse", stop: () => clickhouse.close(), unready: () => unreadyByPing(clickhouse) });
  await openSecrets(database, needs);
  await checkDurability(needs, [checkPostgresDurability(database, log), checkClickHouseDurability(clickhouse)]);

  const eventLog = await openLog(needs);
  // An edge by itself works on while Kafka is away: its spool says when it does not.
  const spoolsOnly = config.KAFKA_BROKERS.length > 0 && config.PHAROS_ROLES.every((role) => role === "edge");
  lifecycle.add({ name: "event log", stop: () => eventLog.close(), ...(!spoolsOnly && { unready: () => unreadyByPing(eventLog) }) });
  await requireSamePartitions({ database, eventLog });
  if (config.KAFKA_BROKERS.length === 0) {
    const door = await openLogDoor({ eventLog, folder: logFolder(config), log });
    lifecycle.add({ name: "event log, for the command line", stop: () => door.close() });
  }
  const abandon = () => {
    for (const child of children) child.abandon();
  };
  return { database, lookingDatabase, databaseUrl: logins.application, logins, clickhouse, clickhouseUrl, eventLog, abandon };
}

/** Makes the key of the secrets known to this process, and seals what is plain or sealed with the key before. */
async function openSecrets(database: Database, { config, log }: StoresNeeds): Promise<void> {
  const keys = await readSecretsKeys(database, config);
  useSecretsKeys(keys);
  await sealPlainRows(database);
  if (keys.fallback === null) return;
  const sealed = await sealRowsAnew(database);
  await recordSecretsKey(database, keys.key);
  log.info({ sealed }, "secrets were sealed anew; once every process has started with this SECRETS_KEY, SECRETS_KEY_FALLBACK can be left out");
}

/** Rejects with the first StartFailure of these checks; only warns of it where stores may lose what they confirmed. */
async function checkDurability({ config, log }: StoresNeeds, checks: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(checks)) {
    if (outcome.status === "fulfilled") continue;
    if (!config.STORES_MAY_LOSE || !(outcome.reason instanceof StartFailure)) throw outcome.reason;
    log.warn(outcome.reason.message);
  }
}

async function unreadyByPing(store: { ping(): Promise<void> }): Promise<string | null> {
  await store.ping();
  return null;
}

/** The owner of the tables works at the start alone: it migrates, and sees to the logins of the service. */
async function openPostgres({ config, lifecycle, log, onLost }: StoresNeeds, children: Child[]): Promise<Logins> {
  if (config.DATABASE_URL) {
    await migrate(config.DATABASE_URL, log);
    return prepareLogins({ url: config.DATABASE_URL, given: givenLogins(config), log });
  }
  const folder = join(config.PHAROS_DATA_DIR, "postgres");
  const server = await startEmbeddedPostgres({ folder, log });
  lifecycle.add({ name: "embedded postgres", stop: () => server.stop() });
  children.push(server);
  void server.exited.then((sentence) => lifecycle.stopping() || onLost(sentence));
  await migrate(server.url, log);
  const logins = await prepareLogins({ url: server.url, log });
  await writeAddress(folder, logins.application);
  return logins;
}

function givenLogins({ DATABASE_APPLICATION_URL: application, DATABASE_TENANT_URL: tenant }: Config) {
  return application !== null && tenant !== null ? { application, tenant } : null;
}

async function openClickHouseStore({ config, lifecycle, log, onLost }: StoresNeeds, children: Child[]): Promise<Pick<Stores, "clickhouse" | "clickhouseUrl">> {
  let url = config.CLICKHOUSE_URL;
  if (!url) {
    const engine = await startEmbeddedClickHouse({ folder: join(config.PHAROS_DATA_DIR, "clickhouse"), log });
    lifecycle.add({ name: "embedded clickhouse", stop: () => engine.stop() });
    children.push(engine);
    void engine.exited.then((sentence) => lifecycle.stopping() || onLost(sentence));
    url = engine.url;
  }
  await migrateClickHouse(url, log, { cluster: config.CLICKHOUSE_CLUSTER });
  return { clickhouse: openClickHouse(url, log), clickhouseUrl: url };
}
