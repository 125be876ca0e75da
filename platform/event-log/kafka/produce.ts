import { setTimeout as delay } from "node:timers/promises";
import type { Admin, Kafka } from "kafkajs";
import type { Log } from "../../log.ts";
import { makeBrokerLink, type BrokerLink } from "./broker-link.ts";
import { answered, messageOf } from "./client.ts";
import { COMPRESSION_TYPES, WORTH_BYTES, type Compression } from "./compression.ts";
import { ProduceFault } from "./produce-errors.ts";
import type { KafkaSecurity } from "./security.ts";

/** Sends records, all or none of those given at once. Rejections leave open whether they were taken. */
export interface KafkaProducer {
  send(topicName: string, partition: number, acks: -1 | 1, values: readonly Uint8Array[]): Promise<void>;
  close(): Promise<void>;
}

/** How long the leader may wait for its followers. */
const ACK_MS = 4_000;
/** A send that failed is tried again within this time, by the leader that the partition then has. */
const TRY_MS = 6_000;
const PAUSES_MS = [50, 100, 200, 400];

export interface DirectProducerNeeds {
  admin: Admin;
  topicNames: string[];
  clientId: string;
  compression: Compression;
  security: KafkaSecurity;
  log: Log;
}

/**
 * Produce requests of our own over one connection to each broker: a frame's bytes go out as they are, where kafkajs copies
 * them several times and sums them a byte at a time. Which broker leads a partition is asked of kafkajs.
 */
export function makeDirectProducer({ admin, topicNames, clientId, compression, security, log }: DirectProducerNeeds): KafkaProducer {
  const links = new Map<string, BrokerLink>();
  let leaders = new Map<string, BrokerLink>();
  let locating: Promise<void> | null = null;
  let closed = false;

  async function locate(): Promise<void> {
    const [{ brokers }, { topics }] = await Promise.all([answered(admin.describeCluster()), answered(admin.fetchTopicMetadata({ topics: topicNames }))]);
    const byId = new Map(brokers.map(({ nodeId, host, port }) => [nodeId, linkTo(host, port)]));
    const found = new Map<string, BrokerLink>();
    for (const { name, partitions } of topics) {
      for (const { partitionId, leader } of partitions) {
        const link = byId.get(leader);
        if (link) found.set(`${name}/${partitionId}`, link);
      }
    }
    leaders = found;
  }

  function linkTo(host: string, port: number): BrokerLink {
    const address = `${host}:${port}`;
    let link = links.get(address);
    if (!link) links.set(address, (link = makeBrokerLink({ host, port, clientId, ackMs: ACK_MS, compression, security })));
    return link;
  }

  /** Where the partition's leader is; asked once for all who want to know at the same time. */
  async function leaderOf(place: string): Promise<BrokerLink> {
    if (!leaders.has(place)) await (locating ??= locate().finally(() => (locating = null)));
    const link = leaders.get(place);
    if (!link) throw new ProduceFault("the partition has no leader just now", true);
    return link;
  }

  async function send(topicName: string, partition: number, acks: -1 | 1, values: readonly Uint8Array[]): Promise<void> {
    const place = `${topicName}/${partition}`;
    const deadline = performance.now() + TRY_MS;
    for (let attempt = 0; ; attempt++) {
      try {
        const leader = leaders.get(place) ?? (await leaderOf(place));
        // Nobody waits for it any more, and whoever did may have sent it again.
        if (closed) throw new ProduceFault("it is closed", false);
        if (performance.now() > deadline) throw new ProduceFault("the partition's leader could not be found in time", false);
        return await leader.send(topicName, partition, acks, values);
      } catch (error) {
        const pause = PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)]!;
        if (!(error instanceof ProduceFault && error.again) || performance.now() + pause > deadline) throw error;
        log.debug({ err: messageOf(error), topicName, partition }, "a record was not confirmed; it is sent again");
        leaders.delete(place);
        await delay(pause);
      }
    }
  }

  return {
    send,
    async close() {
      closed = true;
      for (const link of links.values()) link.close();
    },
  };
}

/** The same through kafkajs' own producer. Connects at once. */
export async function startKafkajsProducer(client: Kafka, compression: Compression): Promise<KafkaProducer> {
  // Every message names its partition. Frames are numbered, so an idempotent producer would add nothing.
  const producer = client.producer({ allowAutoTopicCreation: false, idempotent: false, createPartitioner: () => ({ message }) => message.partition ?? 0 });
  await producer.connect();
  return {
    async send(topic, partition, acks, values) {
      // No time: the broker dates records, and refuses a time of ours that is too far from its own.
      const messages = values.map((bytes) => ({ partition, timestamp: "-1", value: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) }));
      const bytes = values.reduce((sum, { byteLength }) => sum + byteLength, 0);
      const type = COMPRESSION_TYPES[bytes < WORTH_BYTES ? "none" : compression];
      await producer.send({ topic, acks, timeout: ACK_MS, compression: type, messages });
    },
    close: () => producer.disconnect(),
  };
}
