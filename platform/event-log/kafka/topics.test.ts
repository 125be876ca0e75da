import kafkajs, { Kafka as Client, logLevel, type Admin } from "kafkajs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { kafkaAvailable, startKafka, type Kafka } from "../../../testing/kafka.ts";
import { newId } from "../../ids.ts";
import { makeLog } from "../../log.ts";
import { openKafkaLog } from "../kafka.ts";
import type { EventLog } from "../port.ts";

const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");
const HOUR_MS = 3_600_000;

describe.runIf(kafkaAvailable().available)("the topics in Kafka", () => {
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

  async function open(topicPrefix: string, producer: "direct" | "kafkajs" = "direct"): Promise<EventLog> {
    const eventLog = await openKafkaLog({ brokers: kafka.brokers, topicPrefix, partitions: 3, log, instanceId: newId(), producer });
    onTestFinished(() => eventLog.close());
    return eventLog;
  }

  async function settingsOf(name: string): Promise<Record<string, string>> {
    const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name }] });
    return Object.fromEntries(resources[0]!.configEntries.map(({ configName, configValue }) => [configName, configValue]));
  }

  async function read(eventLog: EventLog): Promise<string[]> {
    const texts: string[] = [];
    await eventLog.scan("metrics", (_partition, { value }) => void texts.push(value.toString()));
    return texts;
  }

  test.each(["direct", "kafkajs"] as const)("a process whose clock is hours ahead or behind is taken in by %s", async (producer) => {
    const eventLog = await open(newId(), producer);
    for (const hours of [3, -3, 24 * 365]) {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hours * HOUR_MS });
      onTestFinished(() => void vi.useRealTimers());
      await eventLog.append("metrics", 0, Buffer.from(String(hours)));
      vi.useRealTimers();
    }
    expect(await read(eventLog)).toEqual(["3", "-3", "8760"]);
  });

  test("topics of an older Pharos get the broker's time as well, and keep what else was set on them", async () => {
    const prefix = newId();
    const first = await open(prefix);
    await first.append("metrics", 0, Buffer.from("before"));
    const name = `${prefix}.metrics`;
    const before = await settingsOf(name);
    const older = { "cleanup.policy": "delete", "retention.ms": "12345678", "max.message.bytes": "8388608", "delete.retention.ms": before["delete.retention.ms"]! };
    await admin.alterConfigs({ validateOnly: false, resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name, configEntries: Object.entries(older).map(([name, value]) => ({ name, value })) }] });
    expect((await settingsOf(name))["message.timestamp.type"]).toBe("CreateTime");

    const second = await open(prefix);
    expect(second.id).toBe(first.id);
    expect(await settingsOf(name)).toEqual({ ...before, ...older, "message.timestamp.type": "LogAppendTime" });
    expect(await read(second)).toEqual(["before"]);
  });

  test("each listener reads one partition of the replies, which follows from its channel", async () => {
    const prefix = newId();
    const [processor, edge] = [await open(prefix), await open(prefix)];
    const channels = Array.from({ length: 12 }, () => newId());
    const heard = new Map(channels.map((channel) => [channel, [] as string[]]));
    for (const channel of channels) await edge.listen(channel, (message) => void heard.get(channel)!.push(Buffer.from(message).toString()));
    await Promise.all(channels.map((channel) => processor.notify(channel, Buffer.from(channel))));
    for (const channel of channels) await vi.waitFor(() => expect(heard.get(channel)).toContain(channel), 20_000);
    const partitions = (await admin.fetchTopicOffsets(`${prefix}.replies`)).filter(({ high }) => high !== "0").length;
    expect(partitions).toBeGreaterThan(4);
    const total = [...heard.values()].reduce((sum, messages) => sum + messages.length, 0);
    expect(total).toBeLessThan((channels.length * channels.length) / 2);
  });

  test("a reply to a listener of this process does not go through Kafka", async () => {
    const prefix = newId();
    const eventLog = await open(prefix);
    const heard: string[] = [];
    const stop = await eventLog.listen("edge", (message) => void heard.push(Buffer.from(message).toString()));
    for (const reply of ["one", "two"]) await eventLog.notify("edge", Buffer.from(reply));
    await vi.waitFor(() => expect(heard).toEqual(["one", "two"]), 20_000);
    const offsets = await admin.fetchTopicOffsets(`${prefix}.replies`);
    expect(offsets.every(({ high }) => high === "0")).toBe(true);
    await stop();
    await eventLog.notify("edge", Buffer.from("three"));
    expect((await admin.fetchTopicOffsets(`${prefix}.replies`)).filter(({ high }) => high === "1")).toHaveLength(1);
  });

  test("a topic of replies that an older Pharos made with one partition grows, and answers come through", async () => {
    const prefix = newId();
    await admin.createTopics({ topics: [{ topic: `${prefix}.replies`, numPartitions: 1 }] });
    const [processor, edge] = [await open(prefix), await open(prefix)];
    const channel = newId();
    const heard: string[] = [];
    await edge.listen(channel, (message) => void heard.push(Buffer.from(message).toString()));
    const messages = Array.from({ length: 20 }, (_, number) => `reply ${number}`);
    for (const message of messages) await processor.notify(channel, Buffer.from(message));
    await vi.waitFor(() => expect(heard).toEqual(messages), 20_000);
    expect(await admin.fetchTopicOffsets(`${prefix}.replies`)).toHaveLength(16);
  });
});
