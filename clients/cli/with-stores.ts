import { join } from "node:path";
import { systemClock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import { openLogByDoor, type PlainLog } from "../../platform/event-log/door.ts";
import { openEmbeddedLog } from "../../platform/event-log/embedded.ts";
import { openKafkaLog } from "../../platform/event-log/kafka.ts";
import type { EventLog } from "../../platform/event-log/port.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import type { StartFailure } from "../../platform/start-failure.ts";
import { withDataFolder } from "./with-data-folder.ts";
import { withDatabaseOf } from "./with-database.ts";

interface Stores {
  database: Database;
  eventLog: PlainLog;
}

/** Runs `work` on the service's database (see `withDatabase`) and its event log. */
export async function withStores<T>(
  config: Config,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  const onBoth = (held: StartFailure | null): Promise<T> =>
    withDatabaseOf(config, held, (database) =>
      withEventLog(config, held, (eventLog) => work({ database, eventLog })),
    );
  const allElsewhere = config.DATABASE_URL && config.KAFKA_BROKERS.length > 0;
  return allElsewhere ? onBoth(null) : withDataFolder(config, onBoth);
}

/**
 * The Kafka of KAFKA_BROKERS; else the embedded log, through the process that holds the data folder
 * when another does.
 */
async function withEventLog<T>(
  config: Config,
  heldByAnother: StartFailure | null,
  work: (eventLog: PlainLog) => Promise<T>,
): Promise<T> {
  if (config.KAFKA_BROKERS.length > 0) return closing(await openKafka(config), work);
  const folder = join(config.PHAROS_DATA_DIR, "log");
  if (heldByAnother) {
    const eventLog = await openLogByDoor(folder);
    if (eventLog === null) throw heldByAnother;
    return work(eventLog);
  }
  const eventLog = await openEmbeddedLog({
    folder,
    partitions: config.LOG_PARTITIONS,
    retentionBytes: config.LOG_RETENTION_BYTES,
    retentionMs: config.LOG_RETENTION_MS,
    clock: systemClock,
    log: makeLog("silent"),
  });
  return closing(eventLog, work);
}

function openKafka(config: Config): Promise<EventLog> {
  return openKafkaLog({
    brokers: config.KAFKA_BROKERS,
    topicPrefix: config.KAFKA_TOPIC_PREFIX,
    partitions: config.LOG_PARTITIONS,
    log: makeLog("silent"),
    instanceId: newId(),
    producer: config.KAFKA_PRODUCER,
    compression: config.KAFKA_COMPRESSION,
    fetchBytes: config.KAFKA_FETCH_BYTES,
  });
}

async function closing<T>(
  eventLog: EventLog,
  work: (eventLog: PlainLog) => Promise<T>,
): Promise<T> {
  try {
    return await work(eventLog);
  } finally {
    await eventLog.close();
  }
}
