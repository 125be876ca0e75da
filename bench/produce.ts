import { Kafka as Client, logLevel } from "kafkajs";
import { newId } from "../platform/ids.ts";
import { encodeFrame } from "../platform/event-log/frame.ts";
import { makeLog } from "../platform/log.ts";
import { makeDirectProducer, startKafkajsProducer, type KafkaProducer } from "../platform/event-log/kafka/produce.ts";
import { OPEN_KAFKA } from "../platform/event-log/kafka/security.ts";
import { kafkaAvailable, startKafka } from "../testing/kafka.ts";
import { judge } from "./goals.ts";
import { machine, median, option } from "./measuring.ts";

/**
 * What it costs this process to bring an event of 0.77 KB durably into a real Kafka (acks=all): CPU-µs (user + system), by
 * the way it is sent, in turns, five rounds, medians.
 *
 *   PHAROS_TEST_KAFKA_LIBS=… npx tsx bench/produce.ts [--pairs 5] [--seconds 2]
 */
const ROUNDS = Number(option("pairs", "5"));
const ROUND_MS = Number(option("seconds", "2")) * 1_000;
const PARTITIONS = 4;
const FRAME_EVENTS = [16, 64, 256];

const body = Buffer.from(JSON.stringify({ key: `bpk_${"x".repeat(32)}`, release: "2026.11.3", session_id: newId(), events: [{ type: "error", event_id: newId(), error_type: "TypeError", message: "x is not a function", stack: "    at renderCart (https://shop.example/assets/app-4f2a91c7.js:1:48211)\n".repeat(7) }] }));
const entry = { requestNumber: 0, receivedAt: Date.now(), detached: true, organizationId: newId(), subjectId: newId(), body };
const edgeId = newId();

function frameOf(events: number): Buffer {
  return encodeFrame({ edgeId, sequence: 1n }, Array.from({ length: events }, () => entry));
}

interface Way {
  name: string;
  /** Sends to one partition, once; gives how many events that were. */
  send(partition: number): Promise<number>;
}

/** One send on its way for each partition, as the edge does it. */
async function measure({ send }: Way): Promise<{ cpu: number; perSecond: number }> {
  const before = process.cpuUsage();
  const started = performance.now();
  const until = started + ROUND_MS;
  const counts = await Promise.all(
    Array.from({ length: PARTITIONS }, async (_, partition) => {
      let events = 0;
      while (performance.now() < until) events += await send(partition);
      return events;
    }),
  );
  const { user, system } = process.cpuUsage(before);
  const events = counts.reduce((sum, count) => sum + count, 0);
  return { cpu: (user + system) / events, perSecond: (events / (performance.now() - started)) * 1_000 };
}

async function main(): Promise<boolean> {
  const available = kafkaAvailable();
  if (!available.available) throw new Error(`This needs a real Kafka: ${available.reason}.`);
  const kafka = await startKafka();
  const client = new Client({ clientId: "bench", brokers: kafka.brokers, logLevel: logLevel.NOTHING });
  const admin = client.admin();
  let producers: KafkaProducer[] = [];
  try {
    await admin.connect();
    const topic = "bench";
    await admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS, configEntries: [{ name: "retention.bytes", value: "1000000" }] }], waitForLeaders: true });
    const kafkajs = await startKafkajsProducer(client, "none");
    const direct = makeDirectProducer({ admin, topicNames: [topic], clientId: "bench", compression: "none", security: OPEN_KAFKA, log: makeLog("silent") });
    producers = [kafkajs, direct];
    return await measureAll(topic, kafkajs, direct);
  } finally {
    for (const producer of producers) await producer.close();
    await admin.disconnect();
    await kafka.stop();
  }
}

async function measureAll(topic: string, kafkajs: KafkaProducer, direct: KafkaProducer): Promise<boolean> {
  const ways: Way[] = [
    { name: "kafkajs, one send an event", send: (partition) => kafkajs.send(topic, partition, -1, [body]).then(() => 1) },
    { name: "kafkajs, one event a record, 256 records a send", send: (partition) => kafkajs.send(topic, partition, -1, Array<Buffer>(256).fill(body)).then(() => 256) },
  ];
  for (const events of FRAME_EVENTS) {
    // The frame's encoding is counted too: it is what takes the place of Kafka's records.
    ways.push({ name: `kafkajs, frames of ${events}`, send: (partition) => kafkajs.send(topic, partition, -1, [frameOf(events)]).then(() => events) });
    ways.push({ name: `direct, frames of ${events}`, send: (partition) => direct.send(topic, partition, -1, [frameOf(events)]).then(() => events) });
  }
  const figures = new Map(ways.map(({ name }) => [name, [] as { cpu: number; perSecond: number }[]]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const way of ways) {
      const figure = await measure(way);
      // The first round warms up.
      if (round >= 0) figures.get(way.name)!.push(figure);
    }
  }
  const reference = median(figures.get(ways[1]!.name)!.map(({ cpu }) => cpu));
  console.log(`body of ${body.byteLength} bytes, ${ROUNDS} rounds of ${ROUND_MS / 1_000} s, ${PARTITIONS} partitions with one send on its way each; ${machine()}\n`);
  console.log("| way | CPU-µs an event (spread) | to one event a record | rate |\n| --- | --- | --- | --- |");
  let best = 0;
  for (const [name, all] of figures) {
    const cpus = all.map(({ cpu }) => cpu);
    const cpu = median(cpus);
    best = Math.max(best, name.startsWith("direct") ? reference / cpu : 0);
    console.log(`| ${name} | ${cpu.toFixed(2)} (${Math.min(...cpus).toFixed(2)}–${Math.max(...cpus).toFixed(2)}) | ${(reference / cpu).toFixed(1)} × cheaper | ${median(all.map(({ perSecond }) => perSecond)).toFixed(0)}/s |`);
  }
  return judge("produce", best);
}

process.exitCode = (await main()) ? 0 : 1;
