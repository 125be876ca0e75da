import { TOPICS, type Topic } from "../../schemas/vocabulary.ts";
import type { ThreadCalls, ThreadHandlers } from "../thread-calls.ts";
import { LogUnavailable, type EventLog, type WritableLog } from "./port.ts";

/** What a thread has to know of a log before its first call. */
export interface LogFacts {
  id: string;
  partitions: Partial<Record<Topic, number>>;
}

interface Appending {
  topic: Topic;
  partition: number;
  record: Uint8Array;
}

interface Told {
  channel: string;
  message: Uint8Array;
}

/** Bytes of their own, which can move to another thread: what they were part of stays. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

/**
 * Lets another thread at a log that this thread holds open: `handlers` are for the calls of
 * `openLogByThread` there, `facts` go to it at its start. `calls` is the way to that thread.
 */
export function serveLogToThread(eventLog: EventLog, calls: () => ThreadCalls): { handlers: ThreadHandlers; facts: LogFacts; close(): Promise<void> } {
  const listening = new Map<string, Promise<() => Promise<void>>>();
  const tell = (channel: string) => (message: Uint8Array) => {
    const own = ownBytes(message);
    calls().call("told", { channel, message: own } satisfies Told, [own.buffer]).catch(() => undefined);
  };
  return {
    facts: { id: eventLog.id, partitions: Object.fromEntries(TOPICS.map((topic) => [topic, eventLog.partitions(topic)])) },
    handlers: {
      append: ({ topic, partition, record }: Appending) => eventLog.append(topic, partition, record),
      ends: (topic: Topic) => eventLog.ends(topic),
      ping: () => eventLog.ping(),
      async listen(channel: string) {
        if (!listening.has(channel)) listening.set(channel, eventLog.listen(channel, tell(channel)));
        await listening.get(channel);
      },
      async unlisten(channel: string) {
        await (await listening.get(channel))?.();
        listening.delete(channel);
      },
    },
    async close() {
      for (const stop of listening.values()) await (await stop)();
    },
  };
}

/** The log that the other thread holds open. Its calls reject with LogUnavailable as that log's do. */
export function openLogByThread({ id, partitions }: LogFacts, calls: () => ThreadCalls): { log: WritableLog; handlers: ThreadHandlers } {
  const listeners = new Map<string, (message: Uint8Array) => void>();
  async function ask<Result>(name: string, given?: unknown, transfer?: ArrayBuffer[]): Promise<Result> {
    try {
      return await calls().call<Result>(name, given, transfer);
    } catch (error) {
      throw new LogUnavailable(error instanceof Error ? error.message : String(error), error);
    }
  }
  return {
    handlers: {
      told: ({ channel, message }: Told) => listeners.get(channel)?.(message),
    },
    log: {
      id,
      partitions: (topic) => partitions[topic]!,
      append(topic, partition, record) {
        const own = ownBytes(record);
        return ask<void>("append", { topic, partition, record: own } satisfies Appending, [own.buffer]);
      },
      ends: (topic) => ask<bigint[]>("ends", topic),
      ping: () => ask<void>("ping"),
      async listen(channel, onMessage) {
        listeners.set(channel, onMessage);
        await ask("listen", channel);
        return async () => {
          listeners.delete(channel);
          await ask("unlisten", channel);
        };
      },
    },
  };
}
