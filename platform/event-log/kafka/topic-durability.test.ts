import kafkajs, { Kafka as Client, logLevel, type Admin } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { kafkaAvailable, startKafka, type Kafka } from "../../../testing/kafka.ts";
import { makeLog } from "../../log.ts";
import { warnOfWeakTopics, weakTopicWarnings } from "./topic-durability.ts";

const sound = { topic: "pharos.beacons", replicas: 3, minInsyncReplicas: 2, uncleanElection: false };

test.each([
  [sound, []],
  [{ ...sound, replicas: 1, minInsyncReplicas: 1 }, []],
  [{ ...sound, minInsyncReplicas: 1 }, ["min.insync.replicas is 1 with 3 copies"]],
  [{ ...sound, replicas: 2, minInsyncReplicas: 1 }, ["min.insync.replicas is 1 with 2 copies"]],
  [{ ...sound, uncleanElection: true }, ["unclean.leader.election.enable is true"]],
  [{ ...sound, minInsyncReplicas: 1, uncleanElection: true }, ["min.insync.replicas is 1", "unclean.leader.election.enable is true"]],
])("of %j", (topic, expected) => {
  const sentences = weakTopicWarnings([topic]);
  expect(sentences).toHaveLength(expected.length);
  for (const [n, part] of expected.entries()) expect(sentences[n]).toContain(part);
});

describe.runIf(kafkaAvailable().available)("in Kafka", () => {
  let kafka: Kafka;
  let admin: Admin;
  beforeAll(async () => {
    kafka = await startKafka();
    admin = new Client({ brokers: kafka.brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
  }, 120_000);
  afterAll(async () => {
    await admin.disconnect();
    await kafka.stop();
  });

  test("a topic that elects lagging leaders is warned of, once", async () => {
    const topics = ["sound", "weak"].map((topic) => ({ topic, numPartitions: 2, replicationFactor: 1 }));
    await admin.createTopics({ topics });
    const configEntries = [{ name: "unclean.leader.election.enable", value: "true" }];
    await admin.alterConfigs({ validateOnly: false, resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: "weak", configEntries }] });
    const log = makeLog("silent");
    const warn = vi.spyOn(log, "warn").mockReturnValue(undefined);
    await warnOfWeakTopics(admin, ["sound", "weak"], log);
    expect(warn.mock.calls.map(([sentence]) => sentence)).toEqual([expect.stringContaining("topic weak may be lost")]);
  });
});
