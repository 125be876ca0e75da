import { Kafka as Client, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { kafkaAvailable, startKafka, type Kafka } from "../../testing/kafka.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { newId } from "../ids.ts";
import { makeLog } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { openKafkaLog } from "./kafka.ts";
import type { EventLog } from "./port.ts";
import { requireSamePartitions } from "./same-partitions.ts";

const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");
const { database, drop } = await freshDatabase();
afterAll(() => drop());

test("each log has its own numbers, which are kept from its first use", async () => {
  const logOf = (id: string, count: number): Pick<EventLog, "id" | "partitions"> => ({ id, partitions: () => count });
  await Promise.all([1, 2, 3].map(() => requireSamePartitions({ database, eventLog: logOf("one", 4) })));
  await requireSamePartitions({ database, eventLog: logOf("two", 8) });
  await requireSamePartitions({ database, eventLog: logOf("one", 4) });
  await expect(requireSamePartitions({ database, eventLog: logOf("one", 3) })).rejects.toThrow(StartFailure);
});

describe.runIf(kafkaAvailable().available)("on Kafka", () => {
  let kafka: Kafka;
  beforeAll(async () => {
    kafka = await startKafka();
  }, 120_000);
  afterAll(() => kafka.stop());

  async function open(topicPrefix: string, partitions = 3): Promise<EventLog> {
    const eventLog = await openKafkaLog({ brokers: kafka.brokers, topicPrefix, partitions, log, instanceId: newId() });
    onTestFinished(() => eventLog.close());
    return eventLog;
  }

  test("partitions that were added refuse the next start, with what to do, and another prefix starts", async () => {
    const prefix = newId();
    const running = await open(prefix);
    await requireSamePartitions({ database, eventLog: running });
    const admin = new Client({ brokers: kafka.brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    onTestFinished(() => admin.disconnect());
    await admin.createPartitions({ topicPartitions: [{ topic: `${prefix}.heartbeats`, count: 5 }] });

    expect(running.partitions("heartbeats")).toBe(3);
    await running.append("heartbeats", 2, Buffer.from("still taken"));
    const failure: unknown = await requireSamePartitions({ database, eventLog: await open(prefix) }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartFailure);
    expect((failure as StartFailure).message).toMatch(/heartbeats had 3 and has 5.+KAFKA_TOPIC_PREFIX/);
    await requireSamePartitions({ database, eventLog: await open(newId(), 5) });
  });
});
