import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import kafkajs, { type Admin, type Kafka as Client } from "kafkajs";
import { compressFrameSync, decompressFrameSync } from "lz4-napi";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { JAVA, JAVA_OPTIONS, kafkaAvailable, startKafka } from "../../../testing/kafka.ts";
import type { Kafka } from "../../../testing/kafka.ts";
import { newId } from "../../ids.ts";
import { makeLog } from "../../log.ts";
import { openKafkaLog } from "../kafka.ts";
import { makeClient } from "./client.ts";
import { packRecords, registerCodecs, type Compression } from "./compression.ts";
import { packLz4, unpackLz4 } from "./lz4-frame.ts";
import { scanTopic } from "./scan.ts";
import { OPEN_KAFKA } from "./security.ts";
import { packZstd, unpackZstd } from "./zstd-frame.ts";

const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");
const MIB = 1024 * 1024;
const CODECS = [
  { name: "lz4", pack: packLz4, unpack: unpackLz4 },
  { name: "zstd", pack: packZstd, unpack: unpackZstd },
] as const;

interface Way {
  producer: "direct" | "kafkajs";
  compression: Compression;
}

interface Unpacker {
  decompress(bytes: Buffer): Promise<Buffer>;
}

/** Text like that of errors, which gets about four times smaller. */
function textOf(bytes: number): Buffer {
  const lines: string[] = [];
  for (let at = 0; at < bytes; at += lines.at(-1)!.length) {
    const id = randomBytes(8).toString("hex");
    lines.push(`at step${lines.length}Of${id} (https://shop.example/app.js:${lines.length})\n`);
  }
  return Buffer.from(lines.join("")).subarray(0, bytes);
}

describe.each(CODECS)("$name", ({ name, pack, unpack }) => {
  const sizes = [1, 1_000, 64 * 1024, 64 * 1024 + 1, 300_000, MIB, 5 * MIB];

  test.each(sizes)("%i bytes come out as they went in", (size) => {
    for (const plain of [textOf(size), randomBytes(size), Buffer.alloc(size)]) {
      expect(unpack(pack(plain, 32), size + 128 * 1024).equals(plain)).toBe(true);
      expect(unpack(pack(plain, Infinity), size + 128 * 1024).equals(plain)).toBe(true);
    }
  });

  test("nothing grows more than it may when it is unpacked", () => {
    const blanks = Buffer.alloc(900_000, " ");
    expect(pack(blanks, Infinity).byteLength).toBeLessThan(10_000);
    expect(pack(blanks, 32).byteLength * 32).toBeGreaterThanOrEqual(blanks.byteLength);
    expect(packRecords(name, [blanks], blanks.byteLength)).toBeNull();
  });

  test("what holds more than is allowed is refused", () => {
    const bomb = pack(Buffer.alloc(20 * MIB), Infinity);
    expect(bomb.byteLength).toBeLessThan(MIB);
    expect(() => unpack(bomb, 10 * MIB)).toThrow();
    expect(() => unpack(pack(randomBytes(20_000), 32), 10_000)).toThrow(/10000 bytes/);
  });

  test("what was cut short or is something else is refused", () => {
    const packed = pack(textOf(3_000), 32);
    for (let end = 0; end < packed.byteLength; end++) {
      if (name === "zstd" && end === 0) continue; // No frame at all holds no bytes.
      expect(() => unpack(packed.subarray(0, end), MIB), `${end} bytes`).toThrow();
    }
    expect(() => unpack(textOf(3_000), MIB)).toThrow(/does not begin/);
  });

  test("what is small or does not shrink is left as it is", () => {
    expect(packRecords(name, [textOf(500)], 500)).toBeNull();
    expect(packRecords(name, [randomBytes(5_000)], 5_000)).toBeNull();
    expect(packRecords(name, [textOf(5_000)], 5_000)!.byteLength).toBeLessThan(4_000);
  });
});

test("a frame of LZ4 is what others take for one, and theirs are read", () => {
  for (const size of [1_000, 100_000, 600_000, 5 * MIB]) {
    const plain = textOf(size);
    expect(decompressFrameSync(packLz4(plain, 32)).equals(plain)).toBe(true);
    expect(unpackLz4(packLz4(plain, 32), size).equals(plain)).toBe(true);
  }
  const summed = compressFrameSync(textOf(40_000), { contentChecksum: true, blockChecksums: true });
  expect(unpackLz4(summed, MIB).byteLength).toBe(40_000);
});

test("a Zstandard frame that asks for a large window is refused before it gets it", () => {
  const frame = packZstd(textOf(3_000), 32);
  const window = Buffer.from(frame);
  expect(window[4]! & 0b0010_0000).toBe(0);
  window[5] = 17 << 3; // 128 MiB
  expect(() => unpackZstd(window, MIB)).toThrow(/window/);
});

test("gzip is read with a limit too", async () => {
  registerCodecs();
  const gzip: Unpacker = kafkajs.CompressionCodecs[kafkajs.CompressionTypes.GZIP]();
  expect(await gzip.decompress(gzipSync("packed"))).toEqual(Buffer.from("packed"));
  await expect(gzip.decompress(gzipSync(Buffer.alloc(65 * MIB)))).rejects.toThrow(/larger than/);
});

describe.runIf(kafkaAvailable().available)("records in Kafka", () => {
  const WAYS: Way[] = (["direct", "kafkajs"] as const).flatMap((producer) =>
    (["none", "lz4", "zstd"] as const).map((compression) => ({ producer, compression })),
  );
  let kafka: Kafka;
  let folder: string;
  let client: Client;
  let admin: Admin;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "pharos-packed-"));
    kafka = await startKafka({ settingsFor: () => ({ "log.dirs": join(folder, "data") }) });
    client = makeClient({ brokers: kafka.brokers, clientId: newId(), security: OPEN_KAFKA, log });
    admin = client.admin();
    await admin.connect();
  }, 120_000);
  afterAll(async () => {
    await admin.disconnect();
    await kafka.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function open(topicPrefix: string, way: Way) {
    const { brokers } = kafka;
    const needs = { brokers, topicPrefix, partitions: 1, log, instanceId: newId(), ...way };
    const eventLog = await openKafkaLog(needs);
    onTestFinished(() => eventLog.close());
    return eventLog;
  }

  /** What Kafka's own tool says of a partition's batches, having read every record in them. */
  async function dump(topic: string) {
    const path = join(folder, "data", `${topic}-0`);
    const files = (await readdir(path)).filter((name) => name.endsWith(".log"));
    const paths = files.map((name) => join(path, name)).join(",");
    const tool = ["kafka.tools.DumpLogSegments", "--deep-iteration", "--files", paths];
    const options = { encoding: "utf8", maxBuffer: 64 * MIB } as const;
    const { stdout, stderr, status } = spawnSync(JAVA, [...JAVA_OPTIONS, ...tool], options);
    expect(status, stderr).toBe(0);
    const batches = stdout.split("\n").filter((line) => line.startsWith("baseOffset"));
    return {
      codecs: batches.map((line) => /compresscodec: (\w+)/.exec(line)![1]!),
      offsets: stdout.match(/^\| offset: /gm)?.length ?? 0,
      isValid: batches.every((line) => line.includes("isvalid: true")),
    };
  }

  test("of every compression in one topic are read in order, by us and by Kafka", async () => {
    const prefix = newId();
    const sent: string[] = [];
    for (const [index, way] of [...WAYS, ...WAYS].entries()) {
      const eventLog = await open(prefix, way);
      // One record, then several in a batch; some are too small to be packed.
      const records = [2_000, ...(index % 2 ? [300_000, 10, 50_000] : [])].map(textOf);
      await eventLog.appendAll!("metrics", 0, records);
      sent.push(...records.map((record) => record.toString()));
      await eventLog.append("metrics", 0, Buffer.from(`small ${index}`));
      sent.push(`small ${index}`);
    }
    for (const reader of WAYS.slice(0, 3)) {
      const eventLog = await open(prefix, reader);
      const scanned: string[] = [];
      await eventLog.scan("metrics", (_, { value }) => void scanned.push(value.toString()));
      expect(scanned).toEqual(sent);
      const consumed: string[] = [];
      let finish = (): void => undefined;
      const whole = new Promise<void>((resolve) => (finish = resolve));
      await eventLog.consume({
        topic: "metrics",
        group: newId(),
        startAt: async () => 0n,
        async onRecords({ records }) {
          consumed.push(...records.map(({ value }) => value.toString()));
          if (consumed.length >= sent.length) finish();
          return records.at(-1)!.offset + 1n;
        },
      });
      await whole;
      expect(consumed).toEqual(sent);
    }
    const ofKafka = await dump(`${prefix}.metrics`);
    const packed = WAYS.flatMap(({ compression }) => [compression, "none"]);
    const codecs = [...packed, ...packed];
    expect(ofKafka).toEqual({ codecs, offsets: sent.length, isValid: true });
  }, 120_000);

  const ofKafkas = ["gzip", "lz4", "zstd"];
  test.each(ofKafkas)("that Kafka itself packed by %s are read", async (compression) => {
    const topic = newId();
    const configEntries = [{ name: "compression.type", value: compression }];
    await admin.createTopics({ topics: [{ topic, numPartitions: 1, configEntries }] });
    const producer = client.producer();
    await producer.connect();
    onTestFinished(() => producer.disconnect());
    const texts = [2_000, 700_000, 10].map((size) => textOf(size).toString());
    await producer.send({ topic, messages: texts.map((value) => ({ value })) });
    const read: string[] = [];
    const needs = { client, admin, topicName: topic, groupName: newId(), partitions: 1, log };
    await scanTopic(needs, (_partition, { value }) => void read.push(value.toString()));
    expect(read).toEqual(texts);
    expect((await dump(topic)).codecs).toEqual([compression]);
  }, 60_000);
});
