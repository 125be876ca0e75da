import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import kafkajs from "kafkajs";
import { packLz4, unpackLz4 } from "./lz4-frame.ts";
import { packZstd, unpackZstd } from "./zstd-frame.ts";

/** How the records of a batch are packed. */
export type Compression = "none" | "lz4" | "zstd";

const { CompressionCodecs, CompressionTypes } = kafkajs;

/** Kafka's numbers of them, as a batch's attributes name them. */
export const COMPRESSION_TYPES = {
  none: CompressionTypes.None,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
} as const satisfies Record<Compression, number>;

/**
 * What is packed by us grows so many times at most when it is unpacked; frames of our edges grow 4
 * to 9 times (`bench/compression.ts`). Without such a limit whoever sends bodies of blanks would
 * have a consumer that lags unpack gigabytes out of one fetch.
 */
const MOST_GROWTH = 32;

/** By how many times less to fetch, to hold no more than without compression. */
export function growthOf(compression: Compression): number {
  return compression === "none" ? 1 : MOST_GROWTH;
}

/** Below this a call costs more than it saves: pings, and frames of a quiet edge. */
export const WORTH_BYTES = 1024;

/**
 * A batch holds 900 KB or one record (`PARTITION_BYTES`), and no record of ours is near this. What
 * claims to be larger was not written by us.
 */
const MOST_UNPACKED = 64 * 1024 * 1024;

const PACKERS = { lz4: packLz4, zstd: packZstd };

/** Packs the records of a batch; null when they are sent as they are, for it would save nothing. */
export function packRecords(
  compression: Compression,
  parts: readonly Uint8Array[],
  bytes: number,
): Buffer | null {
  if (compression === "none" || bytes < WORTH_BYTES) return null;
  const packed = PACKERS[compression](gather(parts, bytes), MOST_GROWTH);
  return packed.byteLength < bytes ? packed : null;
}

/** Where records stand together while they are packed; fresh memory costs a quarter of packing. */
const scratch = Buffer.allocUnsafeSlow(1024 * 1024);

/** Valid until it is called again. */
function gather(parts: readonly Uint8Array[], bytes: number): Buffer {
  if (bytes > scratch.byteLength) return Buffer.concat(parts, bytes);
  let at = 0;
  for (const part of parts) {
    scratch.set(part, at);
    at += part.byteLength;
  }
  return scratch.subarray(0, at);
}

/** Gives kafkajs what it needs for every compression of ours, and gzip with a limit. */
export function registerCodecs(): void {
  const [zip, unzip] = [promisify(gzip), promisify(gunzip)];
  CompressionCodecs[CompressionTypes.GZIP] = codecOf(
    (plain) => zip(plain),
    (packed) => unzip(packed, { maxOutputLength: MOST_UNPACKED }),
  );
  CompressionCodecs[CompressionTypes.LZ4] = codecOf(
    (plain) => packLz4(plain, MOST_GROWTH),
    (packed) => unpackLz4(packed, MOST_UNPACKED),
  );
  CompressionCodecs[CompressionTypes.ZSTD] = codecOf(
    (plain) => packZstd(plain, MOST_GROWTH),
    (packed) => unpackZstd(packed, MOST_UNPACKED),
  );
}

type Change = (bytes: Buffer) => Buffer | Promise<Buffer>;

function codecOf(pack: Change, unpack: Change) {
  return () => ({
    compress: async ({ buffer }: { buffer: Buffer }) => pack(buffer),
    decompress: async (bytes: Buffer) => unpack(bytes),
  });
}
