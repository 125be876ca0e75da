import type { Topic } from "../../schemas/vocabulary.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { startReader } from "./embedded/reader.ts";
import { openStore, readRecords } from "./embedded/store.ts";
import { makeWriter } from "./embedded/writer.ts";
import type { Consumer, EventLog, LogRecord } from "./port.ts";

/** Read at once by a scan, which other work of the process has to bear. */
const SCAN_BYTES = 1024 * 1024;

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
  const listeners = new Set<{ channel: string; onMessage(message: Uint8Array): void }>();
  const consumers = new Set<Consumer>();
  let closing: Promise<void> | null = null;

  function tell(channel: string, message: Uint8Array): void {
    for (const listener of listeners) {
      if (listener.channel !== channel) continue;
      try {
        listener.onMessage(message);
      } catch (error) {
        log.error({ err: error, channel }, "a listener failed on a message");
      }
    }
  }

  async function scan(topic: Topic, onRecord: (partition: number, record: LogRecord) => Promise<void> | void): Promise<void> {
    for (let partition = 0; partition < store.partitionCount; partition++) {
      const state = store.partition(topic, partition);
      const { end } = state;
      for (let next = state.first; next < end; ) {
        store.environment.resetReadTxn();
        const records = readRecords(store.environment, state, next, SCAN_BYTES).filter(({ offset }) => offset < end);
        for (const record of records) await onRecord(partition, record);
        next = records.length === 0 ? end : Number(records.at(-1)!.offset) + 1;
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
        readAgain: reader.readAgain,
        async stop() {
          await reader.stop();
          consumers.delete(consumer);
        },
      };
      consumers.add(consumer);
      return consumer;
    },
    scan,
    ends: async (topic: Topic) => Array.from({ length: store.partitionCount }, (_, partition) => BigInt(store.partition(topic, partition).end)),
    async notify(channel, message) {
      setImmediate(tell, channel, message);
    },
    async listen(channel, onMessage) {
      const listener = { channel, onMessage };
      listeners.add(listener);
      return async () => void listeners.delete(listener);
    },
    ping: () => writer.probe(),
    close: () => (closing ??= close()),
  };
}
