import { once } from "node:events";
import net from "node:net";
import { Kafka as Client, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { TOPICS } from "../../schemas/vocabulary.ts";
import { kafkaAvailable, startKafka, type Kafka } from "../../testing/kafka.ts";
import { newId } from "../ids.ts";
import { makeLog } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { openKafkaLog } from "./kafka.ts";
import { LogUnavailable, type EventLog, type RecordBatch } from "./port.ts";

const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");

describe.runIf(kafkaAvailable().available)("the event log on Kafka, beyond the contract", () => {
  let kafka: Kafka;
  beforeAll(async () => {
    kafka = await startKafka();
  }, 120_000);
  afterAll(() => kafka.stop());

  async function open(topicPrefix: string): Promise<EventLog> {
    const eventLog = await openKafkaLog({ brokers: kafka.brokers, topicPrefix, partitions: 3, log, instanceId: newId() });
    onTestFinished(() => {
      // A test that failed while the broker stood still could not close.
      kafka.thaw();
      return eventLog.close();
    });
    return eventLog;
  }

  test("members that come and go under load count every record once when each keeps its cursor", async () => {
    const prefix = newId();
    const producer = await open(prefix);
    /** As a database would: an update counts only while its epoch is the newest and the cursor stands where it was read. */
    const cursors = [0, 1, 2].map(() => ({ next: 0n, epoch: 0 }));
    const counted = [0, 1, 2].map(() => new Map<string, number>());
    const workers = new Set<string>();

    async function join(name: string): Promise<() => Promise<void>> {
      const eventLog = await open(prefix);
      const epochs = [0, 0, 0];
      const consumer = await eventLog.consume({
        topic: "metrics",
        group: "counting",
        async startAt(partition) {
          epochs[partition] = ++cursors[partition]!.epoch;
          return cursors[partition]!.next;
        },
        async onRecords({ partition, records }) {
          const epoch = epochs[partition];
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 15));
          const cursor = cursors[partition]!;
          if (cursor.epoch !== epoch || cursor.next !== records[0]!.offset) throw new Error("another member has the partition");
          for (const { value } of records) counted[partition]!.set(value.toString(), (counted[partition]!.get(value.toString()) ?? 0) + 1);
          workers.add(name);
          return (cursor.next = records.at(-1)!.offset + 1n);
        },
      });
      return () => consumer.stop();
    }

    const appending = new AbortController();
    const appended = Promise.all(
      [0, 1, 2].map(async (partition) => {
        let number = 0;
        for (; !appending.signal.aborted; number++) await producer.append("metrics", partition, Buffer.from(`${partition}/${number}`));
        return number;
      }),
    );
    const leaveFirst = await join("first");
    await join("second");
    await vi.waitFor(() => expect(workers).toEqual(new Set(["first", "second"])), 20_000);
    await leaveFirst();
    await join("third");
    await vi.waitFor(() => expect(workers.has("third")).toBe(true), 20_000);
    appending.abort();
    const totals = await appended;
    await vi.waitFor(() => expect(cursors.map(({ next }) => Number(next))).toEqual(totals), 20_000);
    expect(counted.map(({ size }) => size)).toEqual(totals);
    for (const partition of counted) expect(new Set(partition.values())).toEqual(new Set([1]));
  }, 90_000);

  test("a broker that died refuses appends within seconds, and all goes on when it is back", async () => {
    const prefix = newId();
    const eventLog = await open(prefix);
    const came: string[] = [];
    await eventLog.consume({
      topic: "metrics",
      group: "outage",
      startAt: () => Promise.resolve(0n),
      async onRecords({ records }) {
        came.push(...records.map(({ value }) => value.toString()));
        return records.at(-1)!.offset + 1n;
      },
    });
    const heard: string[] = [];
    const processor = await open(prefix);
    await eventLog.listen("edge", (message) => void heard.push(Buffer.from(message).toString()));
    await eventLog.append("metrics", 0, Buffer.from("before"));
    await vi.waitFor(() => expect(came).toEqual(["before"]), 10_000);

    await kafka.kill();
    const started = performance.now();
    await expect(eventLog.append("metrics", 0, Buffer.from("during"))).rejects.toBeInstanceOf(LogUnavailable);
    await expect(eventLog.ping()).rejects.toBeInstanceOf(LogUnavailable);
    await expect(eventLog.ends("metrics")).rejects.toBeInstanceOf(LogUnavailable);
    expect(performance.now() - started).toBeLessThan(25_000);

    await kafka.start();
    await vi.waitFor(() => eventLog.append("metrics", 0, Buffer.from("after")), { timeout: 30_000, interval: 200 });
    await eventLog.ping();
    await vi.waitFor(() => expect(came.at(-1)).toBe("after"), { timeout: 30_000, interval: 50 });
    await vi.waitFor(
      async () => {
        await processor.notify("edge", Buffer.from("hello"));
        expect(heard).toContain("hello");
      },
      { timeout: 30_000, interval: 200 },
    );
  }, 120_000);

  test("a partition counts as ours only for 5 s after the last sign of life, and a broker that stands still refuses appends", async () => {
    const eventLog = await open(newId());
    let batch: RecordBatch | null = null;
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    await eventLog.consume({
      topic: "metrics",
      group: "frozen",
      startAt: () => Promise.resolve(0n),
      async onRecords(given) {
        batch ??= given;
        await finished;
        return given.records.at(-1)!.offset + 1n;
      },
    });
    await eventLog.append("metrics", 0, Buffer.from("one"));
    await vi.waitFor(() => expect(batch).not.toBeNull(), 10_000);
    // Work that takes longer than the limit stays ours as long as it says that it lives.
    for (const until = performance.now() + 6_500; performance.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await batch!.keepAlive();
      expect(batch!.owned()).toBe(true);
    }
    await kafka.freeze();
    const refused = eventLog.append("metrics", 0, Buffer.from("two")).catch((error: unknown) => error);
    await vi.waitFor(() => expect(batch!.owned()).toBe(false), { timeout: 8_000, interval: 50 });
    expect(await refused).toBeInstanceOf(LogUnavailable);
    kafka.thaw();
    finish();
  }, 60_000);

  test("a member that the group has forgotten, and whose way back fails once, joins again", async () => {
    let refusals = 0;
    const { connect } = net;
    const spied = vi.spyOn(net, "connect").mockImplementation(((options: net.NetConnectOpts, listener?: () => void) => {
      const socket = connect(options, listener);
      const { write } = socket;
      socket.write = (chunk: Buffer, ...rest: []) => {
        const isJoin = chunk.readInt16BE(4) === 11;
        if (!isJoin || refusals === 0) return write.call(socket, chunk, ...rest);
        refusals -= 1;
        socket.destroy(new Error("refused by the test"));
        return false;
      };
      return socket;
    }) as typeof net.connect);
    onTestFinished(() => spied.mockRestore());
    const eventLog = await open("forgotten");
    const seen: RecordBatch[] = [];
    await eventLog.consume({
      topic: "metrics",
      group: "members",
      startAt: () => Promise.resolve(0n),
      onRecords(batch) {
        seen.push(batch);
        return Promise.resolve(batch.records.at(-1)!.offset + 1n);
      },
    });
    await eventLog.append("metrics", 0, Buffer.from("one"));
    await vi.waitFor(() => expect(seen.at(-1)?.owned()).toBe(true), 10_000);

    refusals = 1;
    await expelMembers("forgotten.members");
    await vi.waitFor(() => expect(refusals).toBe(0), 10_000);
    await vi.waitFor(
      async () => {
        await eventLog.append("metrics", 0, Buffer.from("again"));
        expect(seen.at(-1)!.owned()).toBe(false);
      },
      { timeout: 10_000, interval: 200 },
    );
    await vi.waitFor(
      async () => {
        await eventLog.append("metrics", 0, Buffer.from("back"));
        expect(seen.at(-1)!.owned()).toBe(true);
      },
      { timeout: 20_000, interval: 200 },
    );
  }, 60_000);

  /** Tells the broker, in its members' names, that they leave the group. */
  async function expelMembers(groupId: string): Promise<void> {
    const admin = new Client({ brokers: kafka.brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const { groups } = await admin.describeGroups([groupId]);
    await admin.disconnect();
    const [host, port] = kafka.brokers[0]!.split(":") as [string, string];
    for (const { memberId } of groups[0]!.members) {
      const texts = ["test", groupId, memberId].map((text) => Buffer.concat([Buffer.from([text.length >> 8, text.length & 255]), Buffer.from(text)]));
      // LeaveGroup (13), version 0, correlation id 1.
      const request = Buffer.concat([Buffer.from([0, 13, 0, 0, 0, 0, 0, 1]), ...texts]);
      const size = Buffer.alloc(4);
      size.writeInt32BE(request.length);
      const socket = net.connect({ host, port: Number(port) });
      socket.write(Buffer.concat([size, request]));
      const [answer] = (await once(socket, "data")) as [Buffer];
      socket.destroy();
      expect(answer.readInt16BE(8)).toBe(0);
    }
  }

  test("records that retention took away before they were read are a gap that the reader sees by the offset", async () => {
    const prefix = newId();
    const eventLog = await open(prefix);
    for (let number = 0; number < 10; number++) await eventLog.append("metrics", 0, Buffer.from(String(number)));
    const admin = new Client({ brokers: kafka.brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    onTestFinished(() => admin.disconnect());
    // kafkajs deletes only in topics that this admin has asked about before.
    await admin.fetchTopicOffsets(`${prefix}.metrics`);
    await admin.deleteTopicRecords({ topic: `${prefix}.metrics`, partitions: [{ partition: 0, offset: "6" }] });
    const offsets: number[] = [];
    await eventLog.consume({
      topic: "metrics",
      group: "gap",
      startAt: (partition) => Promise.resolve(partition === 0 ? 2n : 0n),
      async onRecords({ records }) {
        offsets.push(...records.map(({ offset }) => Number(offset)));
        return records.at(-1)!.offset + 1n;
      },
    });
    await vi.waitFor(() => expect(offsets).toEqual([6, 7, 8, 9]), 10_000);
  });

  test("processes that make the topics at the same time agree on the log's id", async () => {
    const prefix = newId();
    const logs = await Promise.all([open(prefix), open(prefix), open(prefix)]);
    expect(new Set(logs.map(({ id }) => id)).size).toBe(1);
  });

  test("topics that were deleted and made again are another log, and some without the others are refused", async () => {
    const prefix = newId();
    const admin = new Client({ brokers: kafka.brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    onTestFinished(() => admin.disconnect());
    const names = TOPICS.map((topic) => `${prefix}.${topic}`);

    const first = await open(prefix);
    await first.close();
    await admin.deleteTopics({ topics: names });
    const second = await open(prefix);
    expect(second.id).not.toBe(first.id);
    await second.close();

    await admin.deleteTopics({ topics: [names[0]!] });
    const failure: unknown = await open(prefix).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartFailure);
    expect((failure as StartFailure).message).toContain("do not belong together");
  });

  test("brokers that cannot be reached refuse to open, with what to check", async () => {
    const failure: unknown = await openKafkaLog({ brokers: ["127.0.0.1:1"], topicPrefix: "none", partitions: 1, log, instanceId: newId() }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartFailure);
    expect((failure as StartFailure).message).toMatch(/Kafka at 127\.0\.0\.1:1 cannot be used: .+ Check KAFKA_BROKERS/);
  });
});
