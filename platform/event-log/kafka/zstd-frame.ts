import { Decoder, Encoder } from "@toondepauw/node-zstd";

/** The fastest level that uses all of the format; 3 packs 3 % tighter and costs a sixth more. */
const encoder = new Encoder(1);
const decoder = new Decoder();

const MAGIC = 0xfd2fb528;
/** What a decoder has to remember of a frame: as much as the format asks every decoder to bear. */
const MOST_WINDOW = 8 * 1024 * 1024;
/** No block holds more. */
const BLOCK_BYTES = 128 * 1024;
/** Kinds of blocks: as it is, one byte many times, compressed; 3 means nothing. */
const [RAW, REPEATED, COMPRESSED] = [0, 1, 2];
/** In a frame's descriptor: no window but the frame itself, whose size is told in 4 bytes. */
const SINGLE = 0b0010_0000;
const SIZE_IN_4 = 0b1000_0000;

/** Packs bytes into a Zstandard frame, to no less than a part in `mostGrowth` of them. */
export function packZstd(plain: Buffer, mostGrowth: number): Buffer {
  const packed = encoder.encodeSync(plain);
  return packed.byteLength * mostGrowth < plain.byteLength ? store(plain) : packed;
}

/** A frame that holds the bytes as they are. */
function store(plain: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt32LE(MAGIC, 0);
  head[4] = SINGLE | SIZE_IN_4;
  head.writeUInt32LE(plain.byteLength, 5);
  const parts: Buffer[] = [head];
  for (let at = 0; at < plain.byteLength; at += BLOCK_BYTES) {
    const block = plain.subarray(at, at + BLOCK_BYTES);
    const isLast = at + BLOCK_BYTES >= plain.byteLength;
    const blockHead = Buffer.alloc(3);
    blockHead.writeUIntLE((block.byteLength << 3) | (RAW << 1) | (isLast ? 1 : 0), 0, 3);
    parts.push(blockHead, block);
  }
  return Buffer.concat(parts);
}

/**
 * Unpacks Zstandard frames of whoever writes to Kafka. Throws on what could hold more than `most`
 * bytes or needs more than 8 MiB to be remembered, before it is unpacked, and on bytes that are no
 * such frames.
 */
export function unpackZstd(frames: Buffer, most: number): Buffer {
  if (mostUnpacked(frames) > most) throw new Error(`Zstandard that may hold over ${most} bytes`);
  return decoder.decodeSync(frames);
}

/**
 * How many bytes frames hold at most, by the heads of their blocks (RFC 8878, 3.1.1): the decoder
 * itself takes any amount, 32,000 times the bytes that come. At most 128 KiB over for each block.
 * Throws on bytes that are no frames.
 */
function mostUnpacked(frames: Buffer): number {
  let sum = 0;
  let at = 0;
  while (at < frames.byteLength) {
    if (frames.byteLength < at + 6 || frames.readUInt32LE(at) !== MAGIC) {
      throw new Error("not Zstandard: it does not begin as a frame does");
    }
    const descriptor = frames[at + 4]!;
    const isSingle = (descriptor & SINGLE) !== 0;
    if (!isSingle && windowOf(frames[at + 5]!) > MOST_WINDOW) {
      throw new Error("Zstandard whose window is over 8 MiB");
    }
    at += 5 + (isSingle ? 0 : 1) + dictionaryBytes(descriptor) + sizeBytes(descriptor, isSingle);
    for (let isLast = false; !isLast; ) {
      if (at + 3 > frames.byteLength) throw new Error("Zstandard that was cut short");
      const head = frames.readUIntLE(at, 3);
      isLast = (head & 1) === 1;
      const kind = (head >> 1) & 3;
      const size = head >> 3;
      if (kind > COMPRESSED) throw new Error("Zstandard with a block of no known kind");
      sum += kind === COMPRESSED ? BLOCK_BYTES : size;
      at += 3 + (kind === REPEATED ? 1 : size);
    }
    if ((descriptor & 0b0000_0100) !== 0) at += 4;
  }
  return sum;
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

function dictionaryBytes(descriptor: number): number {
  return [0, 1, 2, 4][descriptor & 3]!;
}

function sizeBytes(descriptor: number, isSingle: boolean): number {
  return [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
}
