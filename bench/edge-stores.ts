import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { createOrganization, type CreatedOrganization } from "../domain/organizations/create.ts";
import { startEmbeddedClickHouse } from "../platform/clickhouse/start-embedded.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { inTransaction, openDatabase, type Database } from "../platform/postgres/database.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded.ts";
import { migrate } from "../platform/postgres/migrate.ts";
import { apiKeys, beaconKeys, heartbeatMonitors, services } from "../schemas/tables/all.ts";
import { kafkaAvailable, startKafka } from "../testing/kafka.ts";
import { TEST_SECRETS_KEY } from "../testing/secrets-key.ts";

interface EdgeStores {
  /** Environment of a process that plays one role on these stores. */
  environment: Record<string, string>;
  organization: CreatedOrganization;
  serviceIds: string[];
  stop(): Promise<void>;
}

interface EdgeStoresNeeds {
  /** Heartbeat monitors called job-0, job-1, … */
  monitors: number;
  /** Services beside the organization's first; plans would not allow so many, a benchmark may. */
  services?: number;
  /** Where the stores live and stay, Kafka's data excepted; in a folder that is deleted unless given. */
  folder?: string;
}

/** As if all of it had been made an hour ago: edges read again what changed in the last minute, which in a service that runs is next to nothing. */
async function makeOlder(database: Database): Promise<void> {
  await inTransaction(database, async (tx) => {
    // The trigger that notes when a row changed stays out of this.
    await tx.execute(sql`set local session_replication_role = replica`);
    for (const table of [apiKeys, beaconKeys, heartbeatMonitors]) await tx.execute(sql`update ${table} set changed_at = changed_at - interval '1 hour'`);
  });
}

/** Postgres, ClickHouse and a real Kafka, with one organization. */
export async function startEdgeStores({ monitors, services: moreServices = 0, folder: kept }: EdgeStoresNeeds): Promise<EdgeStores> {
  const available = kafkaAvailable();
  if (!available.available) throw new Error(`This needs a real Kafka: ${available.reason}.`);
  const log = makeLog("warn");
  const folder = kept ?? (await mkdtemp(join(tmpdir(), "pharos-bench-")));
  const [postgres, clickhouse, kafka] = await Promise.all([
    startEmbeddedPostgres({ folder: join(folder, "postgres"), log }),
    startEmbeddedClickHouse({ folder: join(folder, "clickhouse"), log }),
    startKafka(),
  ]);
  await migrate(postgres.url, log);
  const database = openDatabase(postgres.url, 4, log);
  const organization = await createOrganization(database, { name: "Bench", plan: "team" });
  const { organizationId } = organization;
  const row = (number: number) => ({ id: newId(), organizationId, name: `Job ${number}`, slug: `job-${number}`, scheduleType: "interval" as const, intervalSeconds: 60, graceSeconds: 60 });
  if (monitors > 0) await database.insert(heartbeatMonitors).values(Array.from({ length: monitors }, (_, number) => row(number)));
  const more = Array.from({ length: moreServices }, (_, number) => ({ id: newId(), organizationId, name: `Service ${number}` }));
  for (let from = 0; from < more.length; from += 5_000) await database.insert(services).values(more.slice(from, from + 5_000));
  await makeOlder(database);
  const serviceIds = [organization.serviceId, ...more.map(({ id }) => id)];
  await database.$client.end();
  return {
    environment: { DATABASE_URL: postgres.url, CLICKHOUSE_URL: clickhouse.url, KAFKA_BROKERS: kafka.brokers.join(","), SECRETS_KEY: TEST_SECRETS_KEY },
    organization,
    serviceIds,
    async stop() {
      await Promise.all([postgres.stop(), clickhouse.stop(), kafka.stop()]);
      if (kept === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
