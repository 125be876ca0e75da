import type { Topic } from "../../schemas/vocabulary.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { startReader } from "./embedded/reader.ts";
import { openStore } from "./embedded/store.ts";
import { makeWriter } from "./embedded/writer.ts";
import type { Consumer, EventLog } from "./port.ts";

export interface EmbeddedLogNeeds {
  /** Made when it is missing. One process at a time may have it open. */
  folder: string;
  /** Partitions of each topic when the log is made; afterwards the stored number counts. */
  partitions: number;
  /** How much of what every group has consumed is kept, over all topics. */
  retentionBytes: number;
  /** How long it is kept, in ms. */
  retentionMs: number;
  clock: Clock;
  log: Log;
}

/**
 * The event log in a file of this process' own (LMDB). Throws StartFailure when the folder cannot be used or the file is
 * damaged. A record is durable once fdatasync returned; kill -9 and power loss lose nothing that was acknowledged.
 */
export async function openEmbeddedLog({ folder, partitions, retentionBytes, retentionMs, clock, log }: EmbeddedLogNeeds): Promise<EventLog> {
  const store = await openStore(folder, partitions);
  const writer = makeWriter({ store, limits: { retentionBytes, retentionMs }, folder, clock, log });
  const listeners = new Set<(message: Uint8Array) => void>();
  const consumers = new Set<Consumer>();
  let closing: Promise<void> | null = null;

  function tell(message: Uint8Array): void {
    for (const listener of listeners) {
      try {
        listener(message);
      } catch (error) {
        log.error({ err: error }, "a listener failed on a broadcast message");
      }
    }
  }

  async function close(): Promise<void> {
    await Promise.all([...consumers].map((consumer) => consumer.stop()));
    await writer.close();
    await store.environment.close();
  }

  return {
    id: store.id,
    partitions: () => store.partitionCount,
    append: async (topic, partition, record) => writer.append(store.partition(topic, partition), record),
    async consume(options) {
      const reader = await startReader({ store, writer, log }, options);
      const consumer = {
        async stop() {
          await reader.stop();
          consumers.delete(consumer);
        },
      };
      consumers.add(consumer);
      return consumer;
    },
    ends: async (topic: Topic) => Array.from({ length: store.partitionCount }, (_, partition) => BigInt(store.partition(topic, partition).end)),
    async broadcast(message) {
      setImmediate(tell, message);
    },
    async listen(onMessage) {
      const listener = (message: Uint8Array): void => onMessage(message);
      listeners.add(listener);
      return async () => void listeners.delete(listener);
    },
    ping: () => writer.probe(),
    close: () => (closing ??= close()),
  };
}
