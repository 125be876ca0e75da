import { createRequire } from "node:module";
import { encodeFrame } from "../platform/event-log/frame.ts";
import { registerCodecs, type Compression } from "../platform/event-log/kafka/compression.ts";
import { encodeProduce } from "../platform/event-log/kafka/produce-request.ts";
import { newId } from "../platform/ids.ts";
import { beaconsOf } from "./bodies.ts";
import { machine, median, option, ownCpu, table } from "./measuring.ts";

/**
 * What compression of records to Kafka costs this process: CPU-µs (user + system) an event to make
 * the Produce request of a frame, and to read its batch back by kafkajs, for frames of several
 * sizes, in turns, medians. No broker takes part.
 *
 *   npx tsx bench/compression.ts [--pairs 5] [--seconds 1]
 */
const ROUNDS = Number(option("pairs", "5"));
const ROUND_US = Number(option("seconds", "1")) * 1e6;
const EVENTS = 10;
/** Bodies of ten errors in a frame. */
const BODIES = [1, 10, 40, 70];
const COMPRESSIONS: readonly Compression[] = ["none", "lz4", "zstd"];

/** kafkajs' own reader of what stands in a Fetch response, which our consumers read with. */
const require = createRequire(import.meta.url);
type Decoder = new (bytes: Buffer) => object;
const Decoder = require("kafkajs/src/protocol/decoder") as Decoder;
type DecodeBatch = (decoder: object) => Promise<{ records: { value: Buffer }[] }>;
const decodeBatch = require("kafkajs/src/protocol/recordBatch/v0/decoder") as DecodeBatch;

function framesOf(bodies: number): Buffer[] {
  const texts = beaconsOf({ beaconKey: `bpk_${"x".repeat(32)}`, events: EVENTS, requests: bodies * 8 });
  const entries = texts.map((body) => ({
    requestNumber: 0,
    receivedAt: Date.now(),
    detached: true,
    organizationId: newId(),
    subjectId: newId(),
    body: Buffer.from(body),
  }));
  return Array.from({ length: 8 }, (_, index) =>
    encodeFrame({ edgeId: newId(), sequence: 1n }, entries.slice(index * bodies, (index + 1) * bodies)),
  );
}

function requestOf(frame: Buffer, compression: Compression): Uint8Array[] {
  const head = { correlationId: 1, clientId: "bench", acks: -1, ackMs: 1_000, compression } as const;
  return encodeProduce(head, new Map([["beacons", new Map([[0, [frame]]])]]));
}

/** The batch alone: behind the request's head, the topic's name and the partition's. */
const batchOf = (parts: Uint8Array[]): Buffer => Buffer.concat(parts.slice(3));

/** CPU-µs of one call, called over and over for a round. */
async function costOf(call: (index: number) => unknown): Promise<number> {
  const before = ownCpu();
  let calls = 0;
  while (ownCpu() - before < ROUND_US) for (const end = calls + 20; calls < end; calls++) await call(calls);
  return (ownCpu() - before) / calls;
}

async function measure(bodies: number, rows: (string | number)[][]): Promise<void> {
  const frames = framesOf(bodies);
  const plain = frames.reduce((sum, { byteLength }) => sum + byteLength, 0) / frames.length;
  const ways = COMPRESSIONS.map((compression) => {
    const batches = frames.map((frame) => batchOf(requestOf(frame, compression)));
    return { compression, batches, pack: [] as number[], unpack: [] as number[] };
  });
  for (const { batches } of ways) {
    const { records } = await decodeBatch(new Decoder(batches[0]!));
    if (!records[0]!.value.equals(frames[0]!)) throw new Error("it does not come out as it went in");
  }
  for (let round = -1; round < ROUNDS; round++) {
    for (const { compression, batches, pack, unpack } of ways) {
      const packing = await costOf((index) => requestOf(frames[index % 8]!, compression));
      const unpacking = await costOf((index) => decodeBatch(new Decoder(batches[index % 8]!)));
      // The first round warms up.
      if (round < 0) continue;
      pack.push(packing / bodies / EVENTS);
      unpack.push(unpacking / bodies / EVENTS);
    }
  }
  for (const { compression, batches, pack, unpack } of ways) {
    const packed = batches.reduce((sum, { byteLength }) => sum + byteLength, 0) / batches.length;
    const name = `${(plain / 1_000).toFixed(0)} KB, ${bodies * EVENTS} events`;
    rows.push([name, compression, (plain / packed).toFixed(2), spread(pack), spread(unpack)]);
  }
}

function spread(costs: readonly number[]): string {
  const [least, most] = [Math.min(...costs), Math.max(...costs)];
  return `${median(costs).toFixed(2)} (${least.toFixed(2)}–${most.toFixed(2)})`;
}

registerCodecs();
const rows: (string | number)[][] = [["frame", "compression", "times smaller", "to pack", "to unpack"]];
for (const bodies of BODIES) await measure(bodies, rows);
console.log(`CPU-µs an event, medians of ${ROUNDS} rounds (spread); ${machine()}\n`);
console.log(table(rows));
