import { compressSync, uncompressSync } from "lz4-napi";

/**
 * LZ4's frame format (lz4_Frame_format.md 1.6), which is what Kafka calls lz4. Little-endian:
 *   0 magic (4) · 4 flags (1) · 5 largest block (1) · 6 checksum of the two (1)
 *   then blocks: length, its highest bit set when the block is as it was (4) · bytes; 0 ends them
 * Blocks are packed and unpacked one by one: the native functions for whole frames grow their
 * output as they go, which costs twice as much for 500 KB.
 */
const MAGIC = 0x184d2204;
const HEAD_BYTES = 7;
const RAW = 0x8000_0000;
/** Version 1 and blocks that stand alone, which is all that Kafka reads. */
const FLAGS = 0b0110_0000;
/** The sizes of blocks that the format knows, with the checksum that a head of ours then has. */
const BLOCKS = [
  { code: 0x40, bytes: 64 * 1024, checksum: 0x82 },
  { code: 0x50, bytes: 256 * 1024, checksum: 0xfb },
  { code: 0x60, bytes: 1024 * 1024, checksum: 0x51 },
  { code: 0x70, bytes: 4 * 1024 * 1024, checksum: 0x73 },
] as const;
const [, , , LARGEST] = BLOCKS;
const END = Buffer.alloc(4);

/** Packs bytes into a frame, to no less than a part in `mostGrowth` of them. */
export function packLz4(plain: Buffer, mostGrowth: number): Buffer {
  const size = BLOCKS.find(({ bytes }) => bytes >= plain.byteLength) ?? LARGEST;
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(MAGIC, 0);
  head.set([FLAGS, size.code, size.checksum], 4);
  const parts: Buffer[] = [head];
  for (let at = 0; at < plain.byteLength; at += size.bytes) {
    const block = plain.subarray(at, at + size.bytes);
    // Four bytes with the length of what was packed stand before it: the place for its own length.
    const packed = compressSync(block);
    const bytes = packed.byteLength - 4;
    const raw = bytes >= block.byteLength || bytes * mostGrowth < block.byteLength;
    packed.writeUInt32LE(raw ? RAW + block.byteLength : bytes, 0);
    if (raw) parts.push(packed.subarray(0, 4), block);
    else parts.push(packed);
  }
  return Buffer.concat([...parts, END]);
}

/**
 * Unpacks a frame of whoever writes to Kafka; checksums are passed over, for Kafka has its own.
 * Throws on one that holds more than `most` bytes, before it takes much more memory than that, and
 * on bytes that are no such frame.
 */
export function unpackLz4(frame: Buffer, most: number): Buffer {
  if (frame.byteLength < HEAD_BYTES || frame.readUInt32LE(0) !== MAGIC) {
    throw new Error("not LZ4: it does not begin as a frame does");
  }
  const flags = frame[4]!;
  const size = BLOCKS.find(({ code }) => code === frame[5]);
  // All but a checksum of the blocks, the length of the content and its checksum.
  if ((flags & ~0b0001_1100) !== FLAGS || !size) {
    throw new Error("LZ4 of a kind that Kafka does not use");
  }
  const sumBytes = flags & 0b0001_0000 ? 4 : 0;
  const parts: Buffer[] = [];
  let unpacked = 0;
  for (let at = HEAD_BYTES + (flags & 0b0000_1000 ? 8 : 0); ; ) {
    if (at + 4 > frame.byteLength) throw new Error("LZ4 that was cut short");
    const length = frame.readUInt32LE(at);
    if (length === 0) return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    const from = at + 4;
    at = from + (length % RAW);
    if (at > frame.byteLength) throw new Error("LZ4 that was cut short");
    const block = frame.subarray(from, at);
    const part = length >= RAW ? block : unpackBlock(block, Math.min(size.bytes, most - unpacked));
    unpacked += part.byteLength;
    if (unpacked > most) throw tooLarge(most);
    parts.push(part);
    at += sumBytes;
  }
}

/** The native function takes the memory that the number before the block says, and no more. */
function unpackBlock(block: Buffer, most: number): Buffer {
  const numbered = Buffer.allocUnsafe(4 + block.byteLength);
  numbered.writeUInt32LE(most, 0);
  numbered.set(block, 4);
  return uncompressSync(numbered);
}

function tooLarge(most: number): Error {
  return new Error(`LZ4 that holds more than ${most} bytes`);
}
