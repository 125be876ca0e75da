import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { kafkaAvailable, startKafka, type Kafka } from "../../testing/kafka.ts";
import { systemClock } from "../clock.ts";
import { newId } from "../ids.ts";
import { makeLog } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { openEmbeddedLog } from "./embedded.ts";
import { openKafkaLog } from "./kafka.ts";
import type { ConsumeOptions, EventLog } from "./port.ts";

/** A log of its own for one test, and the same log anew: after a restart (embedded) or from another process (Kafka). */
interface Adapter {
  open(): Promise<EventLog>;
  again(): Promise<EventLog>;
}

const PARTITIONS = 3;
const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");

async function embedded(): Promise<Adapter> {
  const folder = await mkdtemp(join(tmpdir(), "pharos-log-"));
  let current: EventLog | null = null;
  const open = async (): Promise<EventLog> => {
    await current?.close();
    current = await openEmbeddedLog({ folder, partitions: PARTITIONS, retentionBytes: 1e9, retentionMs: 1e9, clock: systemClock, log });
    return current;
  };
  onTestFinished(async () => {
    await current?.close();
    await rm(folder, { recursive: true, force: true });
  });
  return { open, again: open };
}

function onKafka(kafka: Kafka, producer: "direct" | "kafkajs"): Adapter {
  const topicPrefix = `contract-${newId()}`;
  const opened: EventLog[] = [];
  const open = async (): Promise<EventLog> => {
    const eventLog = await openKafkaLog({ brokers: kafka.brokers, topicPrefix, partitions: PARTITIONS, log, instanceId: newId(), producer });
    opened.push(eventLog);
    return eventLog;
  };
  onTestFinished(async () => {
    await Promise.all(opened.map((eventLog) => eventLog.close()));
  });
  return { open, again: open };
}

interface Reading {
  /** `offset:text` of everything that came, by partition, in the order of coming. */
  seen: string[][];
  stop(): Promise<void>;
}

/** Reads `metrics` from the start or from `startAt`, and remembers. */
async function read(eventLog: EventLog, options: Partial<ConsumeOptions> & { group: string }): Promise<Reading> {
  const seen: string[][] = Array.from({ length: PARTITIONS }, () => []);
  const consumer = await eventLog.consume({
    topic: "metrics",
    startAt: () => Promise.resolve(0n),
    async onRecords({ partition, records }) {
      for (const { offset, value } of records) seen[partition]!.push(`${offset}:${value.subarray(0, 40).toString()}`);
      return records.at(-1)!.offset + 1n;
    },
    ...options,
  });
  onTestFinished(() => consumer.stop());
  return { seen, stop: () => consumer.stop() };
}

const numbered = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, index) => `${from + index}:${from + index}`);

async function appendNumbers(eventLog: EventLog, partition: number, from: number, to: number): Promise<void> {
  for (let number = from; number < to; number++) await eventLog.append("metrics", partition, Buffer.from(String(number)));
}

function contract(adapter: () => Adapter | Promise<Adapter>): void {
  test("each partition keeps the order of its appends, with offsets from 0 without holes", async () => {
    const eventLog = await (await adapter()).open();
    const reading = await read(eventLog, { group: "order" });
    await Promise.all([0, 1, 2].map((partition) => appendNumbers(eventLog, partition, 0, 100)));
    await vi.waitFor(() => expect(reading.seen).toEqual([0, 1, 2].map(() => numbered(0, 100))), 60_000);
  });

  test("appends that did not wait for each other are all kept", async () => {
    const eventLog = await (await adapter()).open();
    await Promise.all(Array.from({ length: 200 }, (_, number) => eventLog.append("metrics", 1, Buffer.from(`n${number}`))));
    expect(await eventLog.ends("metrics")).toEqual([0n, 200n, 0n]);
    const reading = await read(eventLog, { group: "burst" });
    await vi.waitFor(() => expect(reading.seen[1]!.map((line) => line.split(":")[1]).toSorted()).toEqual(Array.from({ length: 200 }, (_, number) => `n${number}`).toSorted()), 60_000);
  });

  test("every group gets every record, those from before it too", async () => {
    const eventLog = await (await adapter()).open();
    await appendNumbers(eventLog, 2, 0, 10);
    const readings = await Promise.all(["one", "two", "three"].map((group) => read(eventLog, { group })));
    await appendNumbers(eventLog, 2, 10, 20);
    for (const { seen } of readings) await vi.waitFor(() => expect(seen[2]).toEqual(numbered(0, 20)), 60_000);
  });

  test("what was appended is there when the log is opened again, under the same id and numbers", async () => {
    const { open, again } = await adapter();
    const before = await open();
    await appendNumbers(before, 0, 0, 5);
    const { id } = before;
    const eventLog = await again();
    expect(eventLog.id).toBe(id);
    expect(eventLog.partitions("metrics")).toBe(PARTITIONS);
    expect(await eventLog.ends("metrics")).toEqual([5n, 0n, 0n]);
    await appendNumbers(eventLog, 0, 5, 8);
    const reading = await read(eventLog, { group: "again" });
    await vi.waitFor(() => expect(reading.seen[0]).toEqual(numbered(0, 8)), 60_000);
  });

  test("reading starts where startAt says, which is asked once for each partition", async () => {
    const eventLog = await (await adapter()).open();
    await appendNumbers(eventLog, 0, 0, 10);
    const first = await read(eventLog, { group: "resumed" });
    await vi.waitFor(() => expect(first.seen[0]).toEqual(numbered(0, 10)), 60_000);
    await first.stop();
    const asked: number[] = [];
    const second = await read(eventLog, {
      group: "resumed",
      async startAt(partition) {
        asked.push(partition);
        return partition === 0 ? 4n : 0n;
      },
    });
    await appendNumbers(eventLog, 0, 10, 12);
    await vi.waitFor(() => expect(second.seen[0]).toEqual(numbered(4, 12)), 60_000);
    expect(asked.toSorted()).toEqual([0, 1, 2]);
  });

  test("records come again when a lower offset is returned", async () => {
    const eventLog = await (await adapter()).open();
    const came: bigint[] = [];
    let wentBack = false;
    await read(eventLog, {
      group: "back",
      async onRecords({ records }) {
        came.push(...records.map(({ offset }) => offset));
        const last = records.at(-1)!.offset;
        if (last < 9n || wentBack) return last + 1n;
        wentBack = true;
        return 3n;
      },
    });
    await appendNumbers(eventLog, 0, 0, 10);
    const expected = [...Array(10).keys(), 3, 4, 5, 6, 7, 8, 9].map(BigInt);
    await vi.waitFor(() => expect(came).toEqual(expected), 60_000);
  });

  test("the same records come again when a call rejects, and other partitions go on meanwhile", async () => {
    const eventLog = await (await adapter()).open();
    const calls: string[] = [];
    const accepted: string[] = [];
    let failing = true;
    await read(eventLog, {
      group: "failing",
      async onRecords({ partition, records }) {
        calls.push(`${partition}:${records[0]!.offset}`);
        if (partition === 0 && failing) throw new Error("the database is away");
        accepted.push(...records.map(({ offset }) => `${partition}:${offset}`));
        return records.at(-1)!.offset + 1n;
      },
    });
    await appendNumbers(eventLog, 0, 0, 1);
    await vi.waitFor(() => expect(calls.filter((call) => call === "0:0").length).toBeGreaterThan(2), 60_000);
    await appendNumbers(eventLog, 1, 0, 1);
    await vi.waitFor(() => expect(accepted).toEqual(["1:0"]), 60_000);
    failing = false;
    await appendNumbers(eventLog, 0, 1, 2);
    await vi.waitFor(() => expect(accepted).toEqual(["1:0", "0:0", "0:1"]), 60_000);
  });

  test("stop waits for the running call, and nothing comes after it", async () => {
    const eventLog = await (await adapter()).open();
    let finish = (): void => undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    let calls = 0;
    const consumer = await eventLog.consume({
      topic: "metrics",
      group: "stopped",
      startAt: () => Promise.resolve(0n),
      async onRecords({ records }) {
        calls += 1;
        await held;
        return records[0]!.offset + 1n;
      },
    });
    await appendNumbers(eventLog, 0, 0, 3);
    await vi.waitFor(() => expect(calls).toBe(1), 60_000);
    let stopped = false;
    const stopping = consumer.stop().then(() => (stopped = true));
    await appendNumbers(eventLog, 0, 3, 5);
    expect(stopped).toBe(false);
    finish();
    await stopping;
    await appendNumbers(eventLog, 0, 5, 7);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(calls).toBe(1);
  });

  test("a slow consumer gets everything, in calls of bounded size, one at a time", async () => {
    const eventLog = await (await adapter()).open();
    let running = 0;
    let bytesAtMost = 0;
    const offsets: bigint[] = [];
    await read(eventLog, {
      group: "slow",
      maxBytes: 4_000,
      async onRecords({ records, end }) {
        running += 1;
        expect(running).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running -= 1;
        bytesAtMost = Math.max(bytesAtMost, records.reduce((sum, { value }) => sum + value.byteLength, 0));
        offsets.push(...records.map(({ offset }) => offset));
        expect(end).toBeGreaterThan(records.at(-1)!.offset);
        return records.at(-1)!.offset + 1n;
      },
    });
    for (let number = 0; number < 100; number++) await eventLog.append("metrics", 0, Buffer.alloc(1_000, number));
    await vi.waitFor(() => expect(offsets).toEqual([...Array(100).keys()].map(BigInt)), 60_000);
    expect(bytesAtMost).toBeLessThanOrEqual(4_000);
  });

  test("a caller that wants the same records again and again keeps nobody from his turn", async () => {
    const eventLog = await (await adapter()).open();
    let waited = false;
    let calls = 0;
    await read(eventLog, {
      group: "again",
      onRecords({ records }) {
        if (calls++ === 0) setTimeout(() => (waited = true), 50);
        return Promise.resolve(waited ? records.at(-1)!.offset + 1n : records[0]!.offset);
      },
    });
    await eventLog.append("metrics", 0, Buffer.from("record"));
    await vi.waitFor(() => expect(waited).toBe(true), 60_000);
  });

  test("a record of 4 MiB, and an empty one, arrive as they were", async () => {
    const eventLog = await (await adapter()).open();
    const big = Buffer.alloc(4 * 1024 * 1024, "0123456789abcdef-");
    const came: Buffer[] = [];
    await read(eventLog, {
      group: "big",
      maxBytes: 1_000_000,
      async onRecords({ records }) {
        came.push(...records.map(({ value }) => value));
        return records.at(-1)!.offset + 1n;
      },
    });
    for (const record of [Buffer.from("small"), big, Buffer.alloc(0), Buffer.from("last")]) await eventLog.append("metrics", 0, record);
    await vi.waitFor(() => expect(came.map(({ byteLength }) => byteLength)).toEqual([5, big.byteLength, 0, 4]), 60_000);
    expect(came[1]!.equals(big)).toBe(true);
  });

  test("a start beyond the end refuses to consume, with a sentence", async () => {
    const eventLog = await (await adapter()).open();
    await appendNumbers(eventLog, 0, 0, 3);
    const consuming = eventLog.consume({ topic: "metrics", group: "beyond", startAt: (partition) => Promise.resolve(partition === 0 ? 4n : 0n), onRecords: () => Promise.resolve(0n) });
    const failure = await consuming.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartFailure);
    expect((failure as StartFailure).message).toMatch(/metrics\/0 ends at 3, the next record to read is 4/);
  });

  test("a start at the end is fine and waits for what comes", async () => {
    const eventLog = await (await adapter()).open();
    await appendNumbers(eventLog, 0, 0, 3);
    const reading = await read(eventLog, { group: "tail", startAt: async (partition) => (await eventLog.ends("metrics"))[partition]! });
    await appendNumbers(eventLog, 0, 3, 4);
    await vi.waitFor(() => expect(reading.seen[0]).toEqual(numbered(3, 4)), 60_000);
  });

  test("a message reaches everyone who listens on its channel, in order, and nobody who stopped", async () => {
    const eventLog = await (await adapter()).open();
    const heard: string[][] = [[], [], []];
    const stops = await Promise.all(heard.map((messages) => eventLog.listen("edge", (message) => void messages.push(Buffer.from(message).toString()))));
    await stops[2]!();
    const messages = Array.from({ length: 20 }, (_, number) => `reply ${number}`);
    for (const message of messages) await eventLog.notify("edge", Buffer.from(message));
    await vi.waitFor(() => expect(heard).toEqual([messages, messages, []]), 60_000);
    // Nobody is left who could hear it, here or elsewhere.
    for (const stop of stops.slice(0, 2)) await stop();
    await eventLog.notify("edge", Buffer.from("late"));
  });

  test("what is appended is read within milliseconds", async () => {
    const eventLog = await (await adapter()).open();
    const sentAt = new Map<bigint, number>();
    const took: number[] = [];
    const appends: number[] = [];
    await read(eventLog, {
      group: "latency",
      async onRecords({ records }) {
        for (const { offset } of records) took.push(performance.now() - sentAt.get(offset)!);
        return records.at(-1)!.offset + 1n;
      },
    });
    for (let number = 0; number <= 100; number++) {
      sentAt.set(BigInt(number), performance.now());
      await eventLog.append("metrics", 0, Buffer.alloc(2_000));
      appends.push(performance.now() - sentAt.get(BigInt(number))!);
      if (number === 0) await vi.waitFor(() => expect(took).toHaveLength(1), 60_000);
    }
    await vi.waitFor(() => expect(took).toHaveLength(101), 60_000);
    took.shift();
    for (const each of [took, appends]) each.sort((a, b) => a - b);
    process.stdout.write(`append to onRecords: p50 ${took[50]!.toFixed(1)} ms, p99 ${took[98]!.toFixed(1)} ms; the append alone p50 ${appends[50]!.toFixed(1)} ms\n`);
    // Beside the append's own time, because a busy machine is slow in both; a polling consumer would still be caught.
    expect(took[50]!).toBeLessThan(50 + 10 * appends[50]!);
  });

  test("a scan gives what stands there, as no member of a group, and ends; what its reader throws ends it too", async () => {
    const eventLog = await (await adapter()).open();
    await eventLog.scan("metrics", () => expect.unreachable("nothing stands there"));
    await Promise.all([0, 2].map((partition) => appendNumbers(eventLog, partition, 0, 20)));
    const seen: string[][] = [[], [], []];
    await eventLog.scan("metrics", async (partition, { offset, value }) => {
      if (offset === 19n) await appendNumbers(eventLog, partition, 20, 21);
      seen[partition]!.push(`${offset}:${value.toString()}`);
    });
    expect(seen).toEqual([numbered(0, 20), [], numbered(0, 20)]);
    const failure = new Error("enough");
    await expect(eventLog.scan("metrics", () => Promise.reject(failure))).rejects.toBe(failure);
  });

  test("the log answers a ping, and refuses work once it is closed", async () => {
    const eventLog = await (await adapter()).open();
    await eventLog.ping();
    await eventLog.close();
    await expect(eventLog.append("metrics", 0, Buffer.from("late"))).rejects.toThrow("The event log is unavailable");
  });
}

describe("the event log on LMDB", () => contract(embedded));

const available = kafkaAvailable();
if (!available.available) process.stdout.write(`The event log's contract is not run on Kafka: ${available.reason}.\n`);

describe.runIf(available.available).each(["direct", "kafkajs"] as const)("the event log on Kafka, written to by %s", (producer) => {
  let kafka: Kafka;
  beforeAll(async () => {
    kafka = await startKafka();
  });
  afterAll(() => kafka.stop());
  afterEach(() => kafka.thaw());
  contract(() => onKafka(kafka, producer));
});
