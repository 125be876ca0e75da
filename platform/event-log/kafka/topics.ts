import { setTimeout as delay } from "node:timers/promises";
import { randomInt } from "node:crypto";
import kafkajs, { type Admin } from "kafkajs";
import { TOPICS, type Topic } from "../../../schemas/vocabulary.ts";
import type { Log } from "../../log.ts";
import { StartFailure } from "../../start-failure.ts";
import { messageOf } from "./client.ts";

export interface KafkaTopics {
  /** Names this history of the topics: another one once they were deleted and made again. */
  id: string;
  partitions: ReadonlyMap<Topic, number>;
  /**
   * Partitions of the replies that are used; a topic that somebody gave more has the rest for
   * nothing.
   */
  replyPartitions: number;
}

const RETENTION_MS = 7 * 86_400_000;
const MAX_RECORD_BYTES = 8 * 1024 * 1024;
const REPLIES_RETENTION_MS = 60_000;
/** An edge reads one of them: with few edges hardly any reads the replies of another. */
const REPLY_PARTITIONS = 16;
/**
 * The broker dates records. With the sender's time (Kafka's default) a machine whose clock is more
 * than an hour ahead is refused, and one whose clock is behind has its records deleted before their
 * time.
 */
const TIMESTAMPS = { name: "message.timestamp.type", value: "LogAppendTime" } as const;
/**
 * Where a topic's generation is kept. The setting means something to compacted topics only, which
 * ours are not, and it is made and deleted together with its topic. Kafka's own topic ids would be
 * the thing to use; kafkajs cannot read them.
 */
const GENERATION_SETTING = "delete.retention.ms";
/** Far from any value that people choose, and below what hosted clusters allow (two years). */
const GENERATIONS = { from: 10_000_000_000, below: 60_000_000_000 };
const MAKING_MS = 30_000;
const GROWING_MS = 3_000;

export const topicName = (prefix: string, topic: Topic | "replies"): string => `${prefix}.${topic}`;

/**
 * Makes the topics that are missing and reads the log's id. Safe when several processes start at
 * once: the first topic is made by one of them and its generation is everybody's. Throws
 * StartFailure when the topics are of different generations.
 */
export async function makeTopics({ admin, prefix, partitions, log }: { admin: Admin; prefix: string; partitions: number; log: Log }): Promise<KafkaTopics> {
  const { clusterId, brokers } = await onceKnown(() => admin.describeCluster());
  const replicationFactor = Math.min(3, brokers.length);
  const make = async (topic: Topic | "replies", numPartitions: number, settings: Record<string, string>): Promise<void> => {
    const configEntries = Object.entries({ "cleanup.policy": "delete", [TIMESTAMPS.name]: TIMESTAMPS.value, ...settings }).map(([name, value]) => ({ name, value }));
    await admin.createTopics({ topics: [{ topic: topicName(prefix, topic), numPartitions, replicationFactor, configEntries }], waitForLeaders: false, timeout: MAKING_MS });
  };
  const dataSettings = (generation: string) => ({ "retention.ms": String(RETENTION_MS), "max.message.bytes": String(MAX_RECORD_BYTES), [GENERATION_SETTING]: generation });
  /** Asked anew with each attempt: a topic that was just deleted is listed for a moment. */
  const missing = async (topics: readonly Topic[]): Promise<Topic[]> => {
    const present = new Set(await admin.listTopics());
    return topics.filter((topic) => !present.has(topicName(prefix, topic)));
  };

  const [first] = TOPICS;
  const [generation] = await onceKnown(async () => {
    for (const topic of await missing([first])) await make(topic, partitions, dataSettings(String(randomInt(GENERATIONS.from, GENERATIONS.below))));
    return readGenerations(admin, [topicName(prefix, first)]);
  });
  const names = TOPICS.map((topic) => topicName(prefix, topic));
  const generations = await onceKnown(async () => {
    for (const topic of await missing(TOPICS)) await make(topic, partitions, dataSettings(generation!));
    return readGenerations(admin, names);
  });
  const replies = topicName(prefix, "replies");
  if (!(await admin.listTopics()).includes(replies)) await make("replies", REPLY_PARTITIONS, { "retention.ms": String(REPLIES_RETENTION_MS), "min.insync.replicas": "1" });

  const foreign = names.filter((_, index) => generations[index] !== generation);
  if (foreign.length > 0) {
    throw new StartFailure(`The Kafka topics of Pharos do not belong together: ${foreign.join(", ")} and ${names[0]} were made at different times.`, {
      fix: `One was deleted and made again while others stayed. Delete all of them (${names.join(", ")}) once they are processed, or set KAFKA_TOPIC_PREFIX to a new name.`,
    });
  }
  await letBrokerDate(admin, [...names, replies], log);
  await growTo(admin, replies, REPLY_PARTITIONS, log);
  const counts = await countPartitions(admin, [...names, replies]);
  // A broker that was just made a partition's leader says for a moment that it is not; listeners
  // ask at once.
  await onceKnown(() => admin.fetchTopicOffsets(replies));
  return {
    id: `${clusterId}/${generation}`,
    partitions: new Map(TOPICS.map((topic) => [topic, counts.get(topicName(prefix, topic))!])),
    replyPartitions: Math.min(counts.get(replies)!, REPLY_PARTITIONS),
  };
}

/**
 * Topics that an older Pharos made carry the sender's time. Kafka's request sets all settings of a
 * topic anew, so those that were set on it before are sent along. Who may not alter topics (hosted
 * clusters) goes on with the topics as they are.
 */
async function letBrokerDate(admin: Admin, names: string[], log: Log): Promise<void> {
  const { resources } = await onceKnown(() => admin.describeConfigs({ includeSynonyms: false, resources: names.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })) }));
  for (const { resourceName: name, configEntries } of resources) {
    if (configEntries.some(({ configName, configValue }) => configName === TIMESTAMPS.name && configValue === TIMESTAMPS.value)) continue;
    const kept = configEntries.filter(({ configName, configSource }) => configSource === kafkajs.ConfigSource.TOPIC_CONFIG && configName !== TIMESTAMPS.name);
    const entries = [...kept.map(({ configName, configValue }) => ({ name: configName, value: configValue })), { ...TIMESTAMPS }];
    await admin.alterConfigs({ validateOnly: false, resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name, configEntries: entries }] }).then(
      () => log.info({ topic: name }, "the topic's records are now dated by the broker"),
      (error: unknown) => log.warn({ err: messageOf(error), topic: name }, `the topic could not be altered; set ${TIMESTAMPS.name}=${TIMESTAMPS.value} on it`),
    );
  }
}

/**
 * Whoever cannot, because another process just did or because it is not allowed to, goes on with
 * the partitions that there are.
 */
async function growTo(admin: Admin, name: string, partitions: number, log: Log): Promise<void> {
  const count = (await countPartitions(admin, [name])).get(name)!;
  if (count >= partitions) return;
  await admin.createPartitions({ topicPartitions: [{ topic: name, count: partitions }], timeout: MAKING_MS }).catch((error: unknown) => log.info({ err: messageOf(error), topic: name }, "the topic was given no more partitions"));
  // Known to the asked broker a moment later.
  const deadline = performance.now() + GROWING_MS;
  while ((await countPartitions(admin, [name])).get(name)! < partitions && performance.now() < deadline) await delay(100);
}

async function readGenerations(admin: Admin, names: string[]): Promise<string[]> {
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: names.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames: [GENERATION_SETTING] })) });
  const values = new Map(resources.map(({ resourceName, configEntries }) => [resourceName, configEntries.find(({ configName }) => configName === GENERATION_SETTING)?.configValue]));
  return names.map((name) => values.get(name) ?? "none");
}

/** Once every partition has a leader. */
async function countPartitions(admin: Admin, names: string[]): Promise<Map<string, number>> {
  return onceKnown(async () => {
    const { topics } = await admin.fetchTopicMetadata({ topics: names });
    const leaderless = topics.filter(({ partitions }) => partitions.length === 0 || partitions.some(({ leader }) => leader < 0));
    if (leaderless.length > 0) throw new Error(`the topics ${leaderless.map(({ name }) => name).join(", ")} have no leader yet`);
    return new Map(topics.map(({ name, partitions }) => [name, partitions.length]));
  });
}

/**
 * A topic that was just made, here or by another process, may be unknown to the asked broker for a
 * moment (kafkajs' own wait for leaders fails on that), and a broker that was just started or stood
 * still may know nothing yet: asked again.
 */
async function onceKnown<T>(read: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + MAKING_MS; ; ) {
    try {
      return await read();
    } catch (error) {
      // What the cluster says of a topic that it does not let us make is no matter of time.
      if (performance.now() > deadline || error instanceof kafkajs.KafkaJSAggregateError) throw error;
      await delay(100);
    }
  }
}
