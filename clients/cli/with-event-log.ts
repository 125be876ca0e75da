import { join } from "node:path";
import { systemClock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import { claimDataFolder } from "../../platform/data-folder.ts";
import { openLogByDoor, type PlainLog } from "../../platform/event-log/door.ts";
import { openEmbeddedLog } from "../../platform/event-log/embedded.ts";
import { openKafkaLog } from "../../platform/event-log/kafka.ts";
import type { EventLog } from "../../platform/event-log/port.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import { StartFailure } from "../../platform/start-failure.ts";

/**
 * Runs `work` on the service's event log: the Kafka of KAFKA_BROKERS, the embedded log through the Pharos which holds the
 * data folder now, or, when none does, the embedded log itself.
 */
export async function withEventLog<T>(config: Config, work: (eventLog: PlainLog) => Promise<T>): Promise<T> {
  const log = makeLog("silent");
  const partitions = config.LOG_PARTITIONS;
  if (config.KAFKA_BROKERS.length > 0) {
    const eventLog = await openKafkaLog({ brokers: config.KAFKA_BROKERS, topicPrefix: config.KAFKA_TOPIC_PREFIX, partitions, log, instanceId: newId(), producer: config.KAFKA_PRODUCER });
    return closing(eventLog, work);
  }
  const folder = join(config.PHAROS_DATA_DIR, "log");
  let claimed: Awaited<ReturnType<typeof claimDataFolder>>;
  try {
    claimed = await claimDataFolder(config.PHAROS_DATA_DIR);
  } catch (held) {
    if (!(held instanceof StartFailure)) throw held;
    const eventLog = await openLogByDoor(folder);
    if (eventLog === null) throw held;
    return work(eventLog);
  }
  try {
    const eventLog = await openEmbeddedLog({ folder, partitions, retentionBytes: config.LOG_RETENTION_BYTES, retentionMs: config.LOG_RETENTION_MS, clock: systemClock, log });
    return await closing(eventLog, work);
  } finally {
    await claimed.release();
  }
}

async function closing<T>(eventLog: EventLog, work: (eventLog: PlainLog) => Promise<T>): Promise<T> {
  try {
    return await work(eventLog);
  } finally {
    await eventLog.close();
  }
}
