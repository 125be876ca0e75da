import kafkajs, { type Admin } from "kafkajs";
import type { Log } from "../../log.ts";
import { messageOf } from "./client.ts";

/** What a topic's promise rests on. */
export interface TopicDurability {
  topic: string;
  /** Copies of its partitions, the fewest. */
  replicas: number;
  minInsyncReplicas: number;
  uncleanElection: boolean;
}

/**
 * Sentences on topics that may lose confirmed records with one machine. A topic of one copy gives none: who runs one
 * broker knows that there is no other. Pure.
 */
export function weakTopicWarnings(topics: readonly TopicDurability[]): string[] {
  return topics.flatMap(({ topic, replicas, minInsyncReplicas, uncleanElection }) => [
    ...(replicas >= 2 && minInsyncReplicas < 2
      ? [`a confirmed record of topic ${topic} may be lost with one machine: min.insync.replicas is ${minInsyncReplicas} with ${replicas} copies; set it to 2`]
      : []),
    ...(uncleanElection
      ? [`confirmed records of topic ${topic} may be lost when brokers fail: unclean.leader.election.enable is true; set it to false`]
      : []),
  ]);
}

/** Warns of topics that may lose confirmed records. Who may not read their settings goes on. */
export async function warnOfWeakTopics(admin: Admin, names: readonly string[], log: Log): Promise<void> {
  try {
    for (const sentence of weakTopicWarnings(await readTopicDurability(admin, names))) log.warn(sentence);
  } catch (error) {
    log.info({ err: messageOf(error) }, "the topics' settings could not be read; nothing is known of their durability");
  }
}

async function readTopicDurability(admin: Admin, names: readonly string[]): Promise<TopicDurability[]> {
  const configNames = ["min.insync.replicas", "unclean.leader.election.enable"];
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: names.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames })),
  });
  const { topics } = await admin.fetchTopicMetadata({ topics: [...names] });
  const replicas = new Map(topics.map(({ name, partitions }) => [name, Math.min(...partitions.map((each) => each.replicas.length))]));
  return resources.map(({ resourceName: topic, configEntries }) => {
    const settings = new Map(configEntries.map(({ configName, configValue }) => [configName, configValue]));
    return {
      topic,
      replicas: replicas.get(topic) ?? 1,
      minInsyncReplicas: Number(settings.get("min.insync.replicas") ?? 1),
      uncleanElection: settings.get("unclean.leader.election.enable") === "true",
    };
  });
}
