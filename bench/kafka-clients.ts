import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Kafka as Client, logLevel } from "kafkajs";
import { decodeHead, encodeFrame } from "../platform/event-log/frame.ts";
import { calmQueues } from "../platform/event-log/kafka/calm-queues.ts";
import { registerCodecs, type Compression } from "../platform/event-log/kafka/compression.ts";
import { makeDirectProducer } from "../platform/event-log/kafka/produce.ts";
import { OPEN_KAFKA } from "../platform/event-log/kafka/security.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { kafkaAvailable, startKafka } from "../testing/kafka.ts";
import { beaconsOf } from "./bodies.ts";
import { machine, median, option, ownCpu, table } from "./measuring.ts";

/**
 * What it costs this process to read frames of our edges (64 to 500 KB) from a real Kafka, by the
 * client that reads: each reads one topic of four partitions whole as a new group, in turns,
 * medians. Then what each costs while nothing comes, on 16 partitions.
 *
 * Beside kafkajs those clients are measured that are installed in another folder:
 *
 *   npm i --prefix /tmp/clients @platformatic/kafka @confluentinc/kafka-javascript
 *   PHAROS_TEST_KAFKA_LIBS=… npx tsx bench/kafka-clients.ts --clients /tmp/clients
 *     [--pairs 5] [--megabytes 256] [--idle-seconds 10] [--compression none] [--plain]
 */
const ROUNDS = Number(option("pairs", "5"));
const BYTES = Number(option("megabytes", "256")) * 1e6;
const IDLE_MS = Number(option("idle-seconds", "10")) * 1_000;
const COMPRESSION = option("compression", "none") as Compression;
const CLIENTS = option("clients", "");
const PARTITIONS = 4;
const IDLE_PARTITIONS = 16;
const EVENTS = 10;
/** Bodies of ten errors in a frame. */
const FRAME_BODIES = [9, 20, 40, 69];
/** As our consumer asks (`platform/event-log/kafka/consumer.ts`). */
const FETCH = { waitMs: 250, partitionBytes: 8 * 2 ** 20, bytes: 32 * 2 ** 20 };
const SESSION = { sessionTimeout: 10_000, heartbeatInterval: 1_500, rebalanceTimeout: 30_000 };
const START_MS = 60_000;

interface Reading {
  topic: string;
  brokers: string[];
  onJoin(): void;
  onValue(value: Buffer): void;
}

interface Reader {
  name: string;
  /** Reads a topic from its start as a group of its own; gives how to end that. */
  start(reading: Reading): Promise<() => Promise<void>>;
}

const kafkajs: Reader = {
  name: process.argv.includes("--plain") ? "kafkajs as it is" : "kafkajs, calmed as ours",
  async start({ topic, brokers, onJoin, onValue }) {
    const client = new Client({ clientId: "bench", brokers, logLevel: logLevel.NOTHING });
    const consumer = client.consumer({
      groupId: newId(),
      ...SESSION,
      maxWaitTimeInMs: FETCH.waitMs,
      minBytes: 1,
      maxBytesPerPartition: FETCH.partitionBytes,
      maxBytes: FETCH.bytes,
    });
    consumer.on(consumer.events.GROUP_JOIN, onJoin);
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: true,
      partitionsConsumedConcurrently: PARTITIONS,
      async eachBatch({ batch }) {
        for (const { value } of batch.messages) onValue(value!);
      },
    });
    return () => consumer.disconnect();
  },
};

/** What is used of a client that we do not depend on. */
interface Platformatic {
  Consumer: new (options: object) => {
    on(event: string, listener: () => void): void;
    consume(options: object): Promise<{
      on(event: "data", listener: (message: { value: Buffer }) => void): void;
      close(): Promise<void>;
    }>;
    close(force: boolean): Promise<void>;
  };
}

function platformatic({ Consumer }: Platformatic): Reader {
  return {
    name: "@platformatic/kafka",
    async start({ topic, brokers, onJoin, onValue }) {
      const consumer = new Consumer({
        clientId: "bench",
        groupId: newId(),
        bootstrapBrokers: brokers,
        ...SESSION,
        maxWaitTime: FETCH.waitMs,
        minBytes: 1,
        maxBytesPerPartition: FETCH.partitionBytes,
        maxBytes: FETCH.bytes,
        autocommit: false,
      });
      consumer.on("consumer:group:join", onJoin);
      const stream = await consumer.consume({ topics: [topic], mode: "earliest" });
      stream.on("data", ({ value }) => onValue(value));
      return async () => {
        await stream.close();
        await consumer.close(true);
      };
    },
  };
}

interface Confluent {
  KafkaJS: {
    logLevel: { NOTHING: number };
    Kafka: new (options: object) => {
      consumer(options: object): {
        connect(): Promise<void>;
        subscribe(options: object): Promise<void>;
        run(options: object): Promise<void>;
        disconnect(): Promise<void>;
      };
    };
  };
}

function confluent({ KafkaJS }: Confluent): Reader {
  return {
    name: "@confluentinc/kafka-javascript",
    async start({ topic, brokers, onJoin, onValue }) {
      const client = new KafkaJS.Kafka({ kafkaJS: { brokers, logLevel: KafkaJS.logLevel.NOTHING } });
      const consumer = client.consumer({
        kafkaJS: {
          groupId: newId(),
          ...SESSION,
          fromBeginning: true,
          autoCommit: false,
          maxWaitTimeInMs: FETCH.waitMs,
          minBytes: 1,
          maxBytesPerPartition: FETCH.partitionBytes,
          maxBytes: FETCH.bytes,
        },
        rebalance_cb: onJoin,
      });
      await consumer.connect();
      await consumer.subscribe({ topics: [topic] });
      await consumer.run({
        partitionsConsumedConcurrently: PARTITIONS,
        async eachBatch({ batch }: { batch: { messages: { value: Buffer }[] } }) {
          for (const { value } of batch.messages) onValue(value);
        },
      });
      return () => consumer.disconnect();
    },
  };
}

/** The others, as far as they are installed. */
async function findReaders(): Promise<Reader[]> {
  const readers = [kafkajs];
  if (CLIENTS === "") return readers;
  const { resolve } = createRequire(join(CLIENTS, "package.json"));
  const load = async <T>(name: string, toReader: (module: T) => Reader): Promise<void> => {
    try {
      const module = (await import(pathToFileURL(resolve(name)).href)) as T & { default?: T };
      readers.push(toReader(module.default ?? module));
    } catch (error) {
      console.log(`${name} is left out: ${String(error)}`);
    }
  };
  await load("@platformatic/kafka", platformatic);
  await load("@confluentinc/kafka-javascript", confluent);
  return readers;
}

interface Figures {
  joinMs: number;
  cpuPerMegabyte: number;
  cpuPerEvent: number;
  megabytesPerSecond: number;
}

/** Reads a topic whole; the joining is told apart and not counted with the reading. */
async function readWhole(reader: Reader, topic: string, brokers: string[], all: { bytes: number; events: number }): Promise<Figures> {
  const started = performance.now();
  let joined = { at: 0, cpu: 0 };
  let [bytes, events] = [0, 0];
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const stop = await reader.start({
    topic,
    brokers,
    onJoin() {
      if (joined.at === 0) joined = { at: performance.now(), cpu: ownCpu() };
    },
    onValue(value) {
      bytes += value.byteLength;
      events += decodeHead(value).entries * EVENTS;
      if (events >= all.events) finish();
    },
  });
  await Promise.race([finished, delay(START_MS)]);
  const [cpu, ms] = [ownCpu() - joined.cpu, performance.now() - joined.at];
  await stop();
  if (bytes !== all.bytes) throw new Error(`${reader.name} read ${bytes} bytes of ${all.bytes}`);
  const megabytes = bytes / 1e6;
  return {
    joinMs: joined.at - started,
    cpuPerMegabyte: cpu / megabytes,
    cpuPerEvent: cpu / events,
    megabytesPerSecond: (megabytes / ms) * 1_000,
  };
}

/** CPU-ms a second of a member of a group while nothing comes. */
async function idle(reader: Reader, topic: string, brokers: string[]): Promise<number> {
  let join = (): void => undefined;
  const joined = new Promise<void>((resolve) => (join = resolve));
  const stop = await reader.start({ topic, brokers, onJoin: () => join(), onValue: () => undefined });
  await joined;
  await delay(1_000); // What belongs to joining is over.
  const before = ownCpu();
  await delay(IDLE_MS);
  const cpu = ownCpu() - before;
  await stop();
  return cpu / IDLE_MS;
}

/** Frames of our sizes into all partitions, evenly. */
async function fill(topic: string, send: (partition: number, frame: Buffer) => Promise<void>) {
  const frames = FRAME_BODIES.map((bodies) => {
    const texts = beaconsOf({ beaconKey: `bpk_${"x".repeat(32)}`, events: EVENTS, requests: bodies });
    const entries = texts.map((text) => ({
      requestNumber: 0,
      receivedAt: Date.now(),
      detached: true,
      organizationId: newId(),
      subjectId: newId(),
      body: Buffer.from(text),
    }));
    return encodeFrame({ edgeId: newId(), sequence: 1n }, entries);
  });
  let [bytes, events] = [0, 0];
  for (let index = 0; bytes < BYTES; index++) {
    const at = index % frames.length;
    const partition = Math.floor(index / frames.length) % PARTITIONS;
    await send(partition, frames[at]!);
    bytes += frames[at]!.byteLength;
    events += FRAME_BODIES[at]! * EVENTS;
  }
  const sizes = frames.map(({ byteLength }) => Math.round(byteLength / 1_000)).join(", ");
  console.log(`${topic}: ${(bytes / 1e6).toFixed(0)} MB, ${events} events in frames of ${sizes} KB`);
  return { bytes, events };
}

async function measureAll(brokers: string[]): Promise<void> {
  const client = new Client({ clientId: "bench", brokers, logLevel: logLevel.NOTHING });
  const admin = client.admin();
  await admin.connect();
  const [topic, idleTopic] = ["frames", "idle"];
  const configEntries = [{ name: "max.message.bytes", value: String(8 * 2 ** 20) }];
  const topics = [
    { topic, numPartitions: PARTITIONS, configEntries },
    { topic: idleTopic, numPartitions: IDLE_PARTITIONS },
  ];
  await admin.createTopics({ topics, waitForLeaders: true });
  const producer = makeDirectProducer({
    admin,
    topicNames: [topic],
    clientId: "bench",
    compression: COMPRESSION,
    security: OPEN_KAFKA,
    log: makeLog("silent"),
  });
  const all = await fill(topic, (partition, frame) => producer.send(topic, partition, -1, [frame]));
  await producer.close();
  await admin.disconnect();

  const readers = await findReaders();
  const figures = new Map(readers.map(({ name }) => [name, [] as Figures[]]));
  const idles = new Map(readers.map(({ name }) => [name, [] as number[]]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const reader of readers) {
      const figure = await readWhole(reader, topic, brokers, all);
      // The first round warms up.
      if (round >= 0) figures.get(reader.name)!.push(figure);
    }
  }
  for (let round = 0; round < Math.min(ROUNDS, 3); round++) {
    for (const reader of readers) idles.get(reader.name)!.push(await idle(reader, idleTopic, brokers));
  }
  const head = ["client", "CPU-µs a MB (spread)", "an event", "MB/s", "to join", "CPU-ms/s at rest"];
  const rows: (string | number)[][] = [head];
  for (const [name, of] of figures) {
    const costs = of.map(({ cpuPerMegabyte }) => cpuPerMegabyte);
    const middle = (read: (figure: Figures) => number): number => median(of.map(read));
    rows.push([
      name,
      `${median(costs).toFixed(0)} (${Math.min(...costs).toFixed(0)}–${Math.max(...costs).toFixed(0)})`,
      middle(({ cpuPerEvent }) => cpuPerEvent).toFixed(2),
      middle(({ megabytesPerSecond }) => megabytesPerSecond).toFixed(0),
      `${middle(({ joinMs }) => joinMs).toFixed(0)} ms`,
      median(idles.get(name)!).toFixed(1),
    ]);
  }
  console.log(`compression ${COMPRESSION}, ${ROUNDS} rounds, medians; ${machine()}\n\n${table(rows)}`);
}

const available = kafkaAvailable();
if (!available.available) throw new Error(`This needs a real Kafka: ${available.reason}.`);
registerCodecs();
// Without --plain, kafkajs as our service has it.
if (!process.argv.includes("--plain")) calmQueues();
const kafka = await startKafka();
try {
  await measureAll(kafka.brokers);
} finally {
  await kafka.stop();
}
