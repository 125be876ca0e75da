import { Kafka, logLevel, type Admin } from "kafkajs";
import type { Log } from "../../log.ts";
import { LogUnavailable } from "../port.ts";
import { calmQueues } from "./calm-queues.ts";
import { registerCodecs } from "./compression.ts";
import { kafkajsSecurity, type KafkaSecurity } from "./security.ts";

/** A call of ours gives up after this, whatever the client still tries behind it. */
const CALL_MS = 8_000;

/** One client for all connections of a process. Its own log lines go to ours at debug: what matters is logged by its callers. */
export function makeClient({ brokers, clientId, security, log }: { brokers: string[]; clientId: string; security: KafkaSecurity; log: Log }): Kafka {
  registerCodecs();
  calmQueues();
  return new Kafka({
    clientId,
    brokers,
    ...kafkajsSecurity(security),
    connectionTimeout: 3_000,
    requestTimeout: 5_000,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 4 },
    logLevel: logLevel.INFO,
    logCreator: () => ({ namespace, log: { message, error, stack: _stack, timestamp: _timestamp, logger: _logger, ...details } }) => log.debug({ ...details, err: error as unknown, from: `kafkajs ${namespace}` }, message),
  });
}

/** Answers within 8 s, or rejects with LogUnavailable. */
export async function answered<T>(call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new LogUnavailable(`Kafka did not answer within ${CALL_MS / 1_000} s`)), CALL_MS);
  });
  try {
    return await Promise.race([call, late]);
  } catch (error) {
    throw error instanceof LogUnavailable ? error : new LogUnavailable(messageOf(error), error);
  } finally {
    clearTimeout(timer);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The next offset of each partition; rejects with LogUnavailable. */
export async function fetchEnds(admin: Admin, topicName: string): Promise<bigint[]> {
  const offsets = await answered(admin.fetchTopicOffsets(topicName));
  const ends: bigint[] = [];
  for (const { partition, high } of offsets) ends[partition] = BigInt(high);
  return ends;
}
