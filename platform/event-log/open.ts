import { join } from "node:path";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { newId } from "../ids.ts";
import type { Log } from "../log.ts";
import { openEmbeddedLog } from "./embedded.ts";
import { openKafkaLog } from "./kafka.ts";
import { readKafkaSecurity } from "./kafka/security.ts";
import type { EventLog } from "./port.ts";

interface LogNeeds {
  config: Config;
  clock: Clock;
  log: Log;
}

/** The event log that the settings name. Throws StartFailure when it cannot be opened. */
export async function openLog({ config, clock, log }: LogNeeds): Promise<EventLog> {
  const partitions = config.LOG_PARTITIONS;
  if (config.KAFKA_BROKERS.length === 0) {
    const { LOG_RETENTION_BYTES: retentionBytes, LOG_RETENTION_MS: retentionMs } = config;
    const folder = logFolder(config);
    return openEmbeddedLog({ folder, partitions, retentionBytes, retentionMs, clock, log });
  }
  return openKafkaLog({
    brokers: config.KAFKA_BROKERS,
    topicPrefix: config.KAFKA_TOPIC_PREFIX,
    partitions,
    log,
    instanceId: newId(),
    producer: config.KAFKA_PRODUCER,
    compression: config.KAFKA_COMPRESSION,
    fetchBytes: config.KAFKA_FETCH_BYTES,
    security: await readKafkaSecurity(config),
  });
}

/** Where the embedded log lies. */
export function logFolder({ PHAROS_DATA_DIR }: Config): string {
  return join(PHAROS_DATA_DIR, "log");
}
