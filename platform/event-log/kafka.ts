import { TOPICS, type Topic } from "../../schemas/vocabulary.ts";
import { newId } from "../ids.ts";
import type { Log } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { PARTITION_BYTES } from "./kafka/broker-link.ts";
import { answered, fetchEnds, makeClient, messageOf } from "./kafka/client.ts";
import { growthOf, type Compression } from "./kafka/compression.ts";
import { startKafkaConsumer } from "./kafka/consumer.ts";
import { makeDirectProducer, startKafkajsProducer } from "./kafka/produce.ts";
import { scanTopic } from "./kafka/scan.ts";
import { OPEN_KAFKA, type KafkaSecurity } from "./kafka/security.ts";
import { warnOfWeakTopics } from "./kafka/topic-durability.ts";
import { makeTopics, topicName } from "./kafka/topics.ts";
import { murmur2Partition } from "./partition.ts";
import type { Consumer, EventLog } from "./port.ts";

export interface KafkaLogNeeds {
  /** host:port */
  brokers: string[];
  /** Stands before the names of topics and groups. */
  topicPrefix: string;
  /** Partitions of topics that are made now; those of existing topics stay. */
  partitions: number;
  log: Log;
  /** Unique to this process: names its group on the topic of replies. */
  instanceId: string;
  /** Who sends records: requests of our own, or kafkajs' producer. Reading is kafkajs' in both. */
  producer?: "direct" | "kafkajs";
  /** How batches are packed that get smaller by it; unless given, not. What is read may be packed in any way. */
  compression?: Compression;
  /** One fetch of a consumer holds at most so much over all partitions; unless given, four times as much as of one. */
  fetchBytes?: number;
  /** Unless given, brokers that ask for no encryption and no login. */
  security?: KafkaSecurity;
}

/**
 * The event log in Kafka. Makes its topics when they are missing; throws StartFailure when Kafka cannot be reached or the
 * topics do not fit together. A record is durable once all in-sync replicas have it (`acks=all`), which with one broker
 * survives the death of a process, and with three (and `min.insync.replicas=2`, the operator's to set) the loss of a machine.
 */
export async function openKafkaLog({ brokers, topicPrefix, partitions, log, instanceId, producer: kind = "direct", compression = "none", fetchBytes, security = OPEN_KAFKA }: KafkaLogNeeds): Promise<EventLog> {
  const clientId = `pharos-${instanceId}`;
  const client = makeClient({ brokers, clientId, security, log });
  const admin = client.admin();
  const growth = growthOf(compression);
  const consumers = new Set<Consumer>();
  const replyGroups: string[] = [];
  const name = (topic: Topic | "replies"): string => topicName(topicPrefix, topic);
  const topicNames = [...TOPICS, "replies" as const].map(name);
  const { topics, producer } = await open(admin, brokers, async () => ({
    topics: await makeTopics({ admin, prefix: topicPrefix, partitions, log }),
    producer: kind === "direct" ? makeDirectProducer({ admin, topicNames, clientId, compression, security, log }) : await startKafkajsProducer(client, compression),
  }));

  await warnOfWeakTopics(admin, TOPICS.map(name), log);

  const send = (topic: Topic | "replies", partition: number, acks: -1 | 1, records: readonly Uint8Array[]): Promise<void> => answered(producer.send(name(topic), partition, acks, records));

  /** In as few requests as they fit into, one after the other. */
  async function appendAll(topic: Topic, partition: number, records: readonly Uint8Array[]): Promise<void> {
    let first = 0;
    let bytes = 0;
    for (const [index, { byteLength }] of records.entries()) {
      if (index > first && bytes + byteLength > PARTITION_BYTES) {
        await send(topic, partition, -1, records.slice(first, index));
        first = index;
        bytes = 0;
      }
      bytes += byteLength;
    }
    if (first < records.length) await send(topic, partition, -1, records.slice(first));
  }

  async function keep(starting: Promise<Consumer>): Promise<Consumer> {
    const started = await starting;
    const consumer = {
      readAgain: started.readAgain,
      async stop() {
        await started.stop();
        consumers.delete(consumer);
      },
    };
    consumers.add(consumer);
    return consumer;
  }

  const replyPartition = (channel: string): number => murmur2Partition(channel, topics.replyPartitions);

  /** Who listens on a channel in this process. */
  const listeners = new Map<string, Set<(message: Uint8Array) => void>>();

  /** A channel that is listened to here is nobody else's: no broker is needed. */
  async function notify(channel: string, message: Uint8Array): Promise<void> {
    const here = listeners.get(channel);
    if (!here) return send("replies", replyPartition(channel), 1, [message]);
    setImmediate(() => {
      for (const onMessage of here) {
        try {
          onMessage(message);
        } catch (error) {
          log.error({ err: error, channel }, "a listener failed on a message");
        }
      }
    });
  }

  async function listen(channel: string, onMessage: (message: Uint8Array) => void): Promise<() => Promise<void>> {
    const stopReading = await readReplies(channel, onMessage);
    const here = listeners.get(channel) ?? new Set();
    listeners.set(channel, here.add(onMessage));
    return async () => {
      here.delete(onMessage);
      if (here.size === 0) listeners.delete(channel);
      await stopReading();
    };
  }

  /** Reads the channel's partition of the replies from now on, as a group of its own: everyone who listens hears everything. */
  async function readReplies(channel: string, onMessage: (message: Uint8Array) => void): Promise<() => Promise<void>> {
    const groupName = `${topicPrefix}.replies.${instanceId}.${replyGroups.length}`;
    replyGroups.push(groupName);
    const partition = replyPartition(channel);
    const readEnd = async (): Promise<bigint> => (await fetchEnds(admin, name("replies")))[partition]!;
    let next = await readEnd();
    const consumer = await keep(
      startKafkaConsumer(
        { client, admin, topicName: name("replies"), groupName, partitions: 1, only: partition, log },
        {
          async startAt() {
            // The topic is not synced to disk: after a broker's death it may end earlier, and what is lost is lost.
            const end = await readEnd();
            return next < end ? next : end;
          },
          async onRecords({ records }) {
            for (const { value } of records) onMessage(value);
            next = records.at(-1)!.offset + 1n;
            return next;
          },
        },
      ),
    );
    return () => consumer.stop();
  }

  async function close(): Promise<void> {
    await Promise.all([...consumers].map((consumer) => consumer.stop()));
    if (replyGroups.length > 0) await answered(admin.deleteGroups(replyGroups)).catch((error: unknown) => log.debug({ err: messageOf(error) }, "could not delete the group that read replies; Kafka forgets it by itself"));
    await Promise.allSettled([producer.close(), admin.disconnect()]);
  }

  let closing: Promise<void> | null = null;
  return {
    id: topics.id,
    partitions: (topic) => topics.partitions.get(topic)!,
    append: (topic, partition, record) => send(topic, partition, -1, [record]),
    appendAll,
    consume: ({ topic, group, ...options }) => keep(startKafkaConsumer({ client, admin, topicName: name(topic), groupName: `${topicPrefix}.${group}`, partitions: topics.partitions.get(topic)!, log, growth, ...(fetchBytes && { fetchBytes }) }, options)),
    scan: (topic, onRecord) => scanTopic({ client, admin, topicName: name(topic), groupName: `${topicPrefix}.scan.${newId()}`, partitions: topics.partitions.get(topic)!, log, growth }, onRecord),
    ends: (topic) => fetchEnds(admin, name(topic)),
    notify,
    listen,
    async ping() {
      await answered(admin.describeCluster());
    },
    close: () => (closing ??= close()),
  };
}

async function open<T>(admin: { connect(): Promise<void>; disconnect(): Promise<void> }, brokers: string[], begin: () => Promise<T>): Promise<T> {
  try {
    await admin.connect();
    return await begin();
  } catch (error) {
    await admin.disconnect().catch(() => undefined);
    if (error instanceof StartFailure) throw error;
    throw new StartFailure(`Kafka at ${brokers.join(", ")} cannot be used: ${messageOf(error)}.`, { fix: "Check KAFKA_BROKERS, KAFKA_SSL and KAFKA_SASL_MECHANISM, and that the brokers are up and reachable from here.", cause: error });
  }
}
