import type { Producer } from "kafkajs";
import type { Topic } from "../../schemas/vocabulary.ts";
import type { Log } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { answered, fetchEnds, makeClient, messageOf } from "./kafka/client.ts";
import { startKafkaConsumer } from "./kafka/consumer.ts";
import { makeTopics, topicName } from "./kafka/topics.ts";
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
}

/** How long the leader may wait for its followers. */
const ACK_MS = 4_000;

/**
 * The event log in Kafka. Makes its topics when they are missing; throws StartFailure when Kafka cannot be reached or the
 * topics do not fit together. A record is durable once all in-sync replicas have it (`acks=all`), which with one broker
 * survives the death of a process, and with three (and `min.insync.replicas=2`, the operator's to set) the loss of a machine.
 */
export async function openKafkaLog({ brokers, topicPrefix, partitions, log, instanceId }: KafkaLogNeeds): Promise<EventLog> {
  const client = makeClient(brokers, `pharos-${instanceId}`, log);
  const admin = client.admin();
  // Every message names its partition. Frames are numbered, so an idempotent producer would add nothing.
  const producer = client.producer({ allowAutoTopicCreation: false, idempotent: false, createPartitioner: () => ({ message }) => message.partition ?? 0 });
  const consumers = new Set<Consumer>();
  const replyGroups: string[] = [];
  const name = (topic: Topic | "replies"): string => topicName(topicPrefix, topic);
  const topics = await open(admin, producer, () => makeTopics(admin, topicPrefix, partitions), brokers);

  async function send(topic: Topic | "replies", partition: number, acks: -1 | 1, value: Uint8Array): Promise<void> {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    await answered(producer.send({ topic: name(topic), acks, timeout: ACK_MS, messages: [{ partition, value: bytes }] }));
  }

  async function keep(starting: Promise<Consumer>): Promise<Consumer> {
    const started = await starting;
    const consumer = {
      async stop() {
        await started.stop();
        consumers.delete(consumer);
      },
    };
    consumers.add(consumer);
    return consumer;
  }

  /** Reads the replies from now on, as a group of its own: everyone hears everything. */
  async function listen(onMessage: (message: Uint8Array) => void): Promise<() => Promise<void>> {
    const groupName = `${topicPrefix}.replies.${instanceId}.${replyGroups.length}`;
    replyGroups.push(groupName);
    let [next] = (await fetchEnds(admin, name("replies"))) as [bigint];
    const consumer = await keep(
      startKafkaConsumer(
        { client, admin, topicName: name("replies"), groupName, partitions: 1, log },
        {
          async startAt() {
            // The topic is not synced to disk: after a broker's death it may end earlier, and what is lost is lost.
            const [end] = (await fetchEnds(admin, name("replies"))) as [bigint];
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
    await Promise.allSettled([producer.disconnect(), admin.disconnect()]);
  }

  let closing: Promise<void> | null = null;
  return {
    id: topics.id,
    partitions: (topic) => topics.partitions.get(topic)!,
    append: (topic, partition, record) => send(topic, partition, -1, record),
    consume: ({ topic, group, ...options }) => keep(startKafkaConsumer({ client, admin, topicName: name(topic), groupName: `${topicPrefix}.${group}`, partitions: topics.partitions.get(topic)!, log }, options)),
    ends: (topic) => fetchEnds(admin, name(topic)),
    broadcast: (message) => send("replies", 0, 1, message),
    listen,
    async ping() {
      await answered(admin.describeCluster());
    },
    close: () => (closing ??= close()),
  };
}

async function open<T>(admin: { connect(): Promise<void>; disconnect(): Promise<void> }, producer: Producer, makeTopics: () => Promise<T>, brokers: string[]): Promise<T> {
  try {
    await admin.connect();
    const topics = await makeTopics();
    await producer.connect();
    return topics;
  } catch (error) {
    await Promise.allSettled([producer.disconnect(), admin.disconnect()]);
    if (error instanceof StartFailure) throw error;
    throw new StartFailure(`Kafka at ${brokers.join(", ")} cannot be used: ${messageOf(error)}.`, { fix: "Check KAFKA_BROKERS and that the brokers are up and reachable from here.", cause: error });
  }
}
