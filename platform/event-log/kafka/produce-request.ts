import { crc32c } from "@node-rs/crc32";
import { COMPRESSION_TYPES, packRecords, type Compression } from "./compression.ts";

/** What one Produce request carries: the records of each partition of each topic, in order. */
export type ProducedTopics = ReadonlyMap<string, ReadonlyMap<number, readonly Uint8Array[]>>;

export interface ProduceHead {
  correlationId: number;
  clientId: string;
  /** -1: all in-sync replicas; 1: the leader alone. */
  acks: -1 | 1;
  /** How long the leader may wait for its followers. */
  ackMs: number;
  /** How batches are packed that get smaller by it. */
  compression: Compression;
}

const PRODUCE = 0;
/** The last version before tagged fields; brokers from 1.0 to 4.x speak it. */
const VERSION = 7;

/**
 * A Produce request (Kafka protocol, version 7) as parts to be written one after the other. Unless they are compressed,
 * the values are parts themselves: nothing is copied, and the bytes are read only for their CRC. Each partition gets one
 * batch of format 2.
 */
export function encodeProduce({ correlationId, clientId, acks, ackMs, compression }: ProduceHead, topics: ProducedTopics): Uint8Array[] {
  const batches = [...topics].map(([topic, partitions]) => ({ topic, batches: [...partitions].map(([partition, values]) => ({ partition, batch: encodeBatch(values, compression) })) }));
  const head = Buffer.allocUnsafe(4 + 8 + 2 + clientId.length * 3 + 2 + 2 + 4 + 4);
  let at = 4;
  at = head.writeInt16BE(PRODUCE, at);
  at = head.writeInt16BE(VERSION, at);
  at = head.writeInt32BE(correlationId, at);
  at = writeText(head, clientId, at);
  at = head.writeInt16BE(-1, at); // no transaction
  at = head.writeInt16BE(acks, at);
  at = head.writeInt32BE(ackMs, at);
  at = head.writeInt32BE(batches.length, at);
  const parts: Uint8Array[] = [head.subarray(0, at)];
  for (const { topic, batches: ofTopic } of batches) {
    const name = Buffer.allocUnsafe(2 + topic.length * 3 + 4);
    const end = name.writeInt32BE(ofTopic.length, writeText(name, topic, 0));
    parts.push(name.subarray(0, end));
    for (const { partition, batch } of ofTopic) {
      const place = Buffer.allocUnsafe(8);
      place.writeInt32BE(partition, 0);
      place.writeInt32BE(batch.bytes, 4);
      parts.push(place, ...batch.parts);
    }
  }
  head.writeInt32BE(parts.reduce((sum, part) => sum + part.byteLength, -4), 0);
  return parts;
}

function writeText(buffer: Buffer, text: string, at: number): number {
  const bytes = buffer.write(text, at + 2);
  buffer.writeInt16BE(bytes, at);
  return at + 2 + bytes;
}

/**
 * A record batch, format 2 (KIP-98). Big-endian:
 *   0 base offset (8) · 8 length of what follows (4) · 12 leader epoch (4) · 16 magic 2 (1) · 17 CRC-32C of what follows (4)
 *   21 attributes: the compression (2) · 23 last offset delta (4) · 27 first and 35 last timestamp: -1, none, for the broker dates records
 *   (8 each); it refuses a time of ours that is too far from its own
 *   43 producer id, epoch, sequence: -1, none (8, 2, 4) · 57 number of records (4) · 61 the records, which
 *   alone are compressed, together
 */
const BATCH_HEAD = 61;
const CRC_AT = 17;
const SUMMED_FROM = 21;
/** The most that stands before a value: five numbers of at most 5 bytes and the attributes. */
const RECORD_HEAD = 26;
/** After a value: it has no headers. */
const NO_HEADERS = Buffer.from([0]);

function encodeBatch(values: readonly Uint8Array[], compression: Compression): { bytes: number; parts: Uint8Array[] } {
  let records: Uint8Array[] = [];
  let bytes = 0;
  for (const [index, value] of values.entries()) {
    const buffer = Buffer.allocUnsafe(RECORD_HEAD);
    const end = writeRecordHead(buffer, 0, index, value.byteLength);
    records.push(buffer.subarray(0, end), value, NO_HEADERS);
    bytes += end + value.byteLength + NO_HEADERS.byteLength;
  }
  const packed = packRecords(compression, records, bytes);
  if (packed !== null) {
    records = [packed];
    bytes = packed.byteLength;
  }
  const head = Buffer.allocUnsafe(BATCH_HEAD);
  head.fill(0, 0, SUMMED_FROM);
  head.writeInt32BE(BATCH_HEAD - 12 + bytes, 8);
  head[16] = 2;
  head.writeInt16BE(COMPRESSION_TYPES[packed === null ? "none" : compression], SUMMED_FROM);
  head.writeInt32BE(values.length - 1, 23);
  head.fill(0xff, 27, 57);
  head.writeInt32BE(values.length, 57);
  let crc = crc32c(head.subarray(SUMMED_FROM));
  for (const part of records) crc = crc32c(part, crc);
  head.writeUInt32BE(crc, CRC_AT);
  return { bytes: BATCH_HEAD + bytes, parts: [head, ...records] };
}

/** length · attributes 0 · timestamp delta 0 · offset delta · no key · length of the value */
function writeRecordHead(buffer: Buffer, at: number, offsetDelta: number, valueBytes: number): number {
  const inner = 3 + sizeOfVarint(offsetDelta) + sizeOfVarint(valueBytes) + valueBytes + NO_HEADERS.byteLength;
  let next = writeVarint(buffer, at, inner);
  buffer[next++] = 0;
  buffer[next++] = 0;
  next = writeVarint(buffer, next, offsetDelta);
  buffer[next++] = 1;
  return writeVarint(buffer, next, valueBytes);
}

/** Zigzag of a number that is not negative is its double. */
function writeVarint(buffer: Buffer, at: number, value: number): number {
  let rest = value * 2;
  for (; rest >= 0x80; rest >>>= 7) buffer[at++] = (rest & 0x7f) | 0x80;
  buffer[at++] = rest;
  return at;
}

function sizeOfVarint(value: number): number {
  let size = 1;
  for (let rest = value * 2; rest >= 0x80; rest >>>= 7) size += 1;
  return size;
}

export interface ProduceResult {
  topic: string;
  partition: number;
  /** Kafka's error code; 0 when the records are taken. */
  code: number;
}

/** Reads an answer without its length and correlation id. Throws RangeError on bytes that are no answer. */
export function decodeProduce(answer: Buffer): ProduceResult[] {
  const results: ProduceResult[] = [];
  let at = 4;
  for (let topics = answer.readInt32BE(0); topics > 0; topics--) {
    const nameBytes = answer.readInt16BE(at);
    const topic = answer.toString("utf8", at + 2, at + 2 + nameBytes);
    at += 2 + nameBytes;
    const partitions = answer.readInt32BE(at);
    at += 4;
    for (let count = 0; count < partitions; count++) {
      results.push({ topic, partition: answer.readInt32BE(at), code: answer.readInt16BE(at + 4) });
      at += 4 + 2 + 8 + 8 + 8; // then base offset, time of appending, start of the log
    }
  }
  return results;
}
