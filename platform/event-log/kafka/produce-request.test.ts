import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { encodeProduce, decodeProduce } from "./produce-request.ts";

/** kafkajs' own reader, the one our consumers read with: an independent judge of what we write. */
const kafkajs = createRequire(import.meta.url);
const Decoder = kafkajs("kafkajs/src/protocol/decoder") as new (bytes: Buffer) => object;
const decodeBatch = kafkajs("kafkajs/src/protocol/recordBatch/v0/decoder") as (decoder: unknown) => Promise<{ records: { offset: string; value: Buffer; timestamp: string }[] }>;
const referenceCrc = kafkajs("kafkajs/src/protocol/recordBatch/crc32C") as (bytes: Buffer) => number;

function readRequest(parts: Uint8Array[]) {
  const bytes = Buffer.concat(parts);
  expect(bytes.readInt32BE(0)).toBe(bytes.byteLength - 4);
  expect([bytes.readInt16BE(4), bytes.readInt16BE(6), bytes.readInt32BE(8)]).toEqual([0, 7, 99]);
  let at = 12;
  const text = (): string => {
    const length = bytes.readInt16BE(at);
    at += 2 + length;
    return bytes.toString("utf8", at - length, at);
  };
  const number = (): number => bytes.readInt32BE((at += 4) - 4);
  expect(text()).toBe("me");
  expect([bytes.readInt16BE(at), bytes.readInt16BE(at + 2)]).toEqual([-1, -1]);
  at += 4;
  expect(number()).toBe(4_000);
  const batches: { topic: string; partition: number; batch: Buffer }[] = [];
  for (let topics = number(); topics > 0; topics--) {
    const topic = text();
    for (let partitions = number(); partitions > 0; partitions--) {
      const partition = number();
      const length = number();
      batches.push({ topic, partition, batch: bytes.subarray(at, (at += length)) });
    }
  }
  expect(at).toBe(bytes.byteLength);
  return batches;
}

test("kafkajs reads the records as they were given, of every size", async () => {
  const sizes = [0, 1, 55, 63, 64, 8_191, 8_192, 300_000];
  const values = sizes.map((size, index) => Buffer.alloc(size, index + 1));
  const many = Array.from({ length: 200 }, (_, index) => Buffer.from(`record ${index}`));
  const topics = new Map([
    ["pharos.beacons", new Map([[0, values], [3, many]])],
    ["pharos.metrics", new Map([[1, [Buffer.from("alone")]]])],
  ]);
  const batches = readRequest(encodeProduce({ correlationId: 99, clientId: "me", acks: -1, ackMs: 4_000, compression: "none" }, topics));
  expect(batches.map(({ topic, partition }) => [topic, partition])).toEqual([["pharos.beacons", 0], ["pharos.beacons", 3], ["pharos.metrics", 1]]);
  for (const { topic, partition, batch } of batches) {
    expect(batch.readInt32BE(8)).toBe(batch.byteLength - 12);
    expect(batch.readUInt32BE(17)).toBe(referenceCrc(batch.subarray(21)));
    const { records } = await decodeBatch(new Decoder(batch));
    const given = topics.get(topic)!.get(partition)!;
    expect(records.map(({ offset }) => Number(offset))).toEqual(given.map((_, index) => index));
    expect(Buffer.concat(records.map(({ value }) => value)).equals(Buffer.concat(given))).toBe(true);
    expect(records.map(({ value }) => value.byteLength)).toEqual(given.map(({ byteLength }) => byteLength));
    expect(records.map(({ timestamp }) => timestamp)).toEqual(given.map(() => "-1"));
  }
});

test("an answer names the fate of each partition", () => {
  const text = (name: string): Buffer => Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name)]);
  const int = (value: number): Buffer => Buffer.from([0, 0, 0, value]);
  const partition = (index: number, code: number): Buffer => Buffer.concat([int(index), Buffer.from([0, code]), Buffer.alloc(24)]);
  const answer = Buffer.concat([int(2), text("a"), int(2), partition(0, 0), partition(2, 6), text("bc"), int(1), partition(1, 19), int(0)]);
  expect(decodeProduce(answer)).toEqual([
    { topic: "a", partition: 0, code: 0 },
    { topic: "a", partition: 2, code: 6 },
    { topic: "bc", partition: 1, code: 19 },
  ]);
  expect(() => decodeProduce(answer.subarray(0, 20))).toThrow(RangeError);
});
