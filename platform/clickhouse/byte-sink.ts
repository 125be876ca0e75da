/**
 * Bytes written one after another, in chunks: what grew by being copied would touch its memory many times. `bytes` is the chunk that
 * is open, written up to `at`.
 */
export interface ByteSink {
  bytes: Buffer;
  at: number;
  /** The chunks that are full, in their order. */
  full: Buffer[];
  /** Bytes in the full chunks. */
  fullBytes: number;
  /** How many bytes may still be written behind the full chunks. */
  left: number;
  /** Memory of chunks that nobody uses any more, warm: the kernel gives new memory page by page, which costs more than filling it. */
  spare: Buffer[];
}

const CHUNK = 512 * 1024;
/** 16 MiB of chunks are kept: as much as the largest inserts of a busy pipeline take. */
const MOST_SPARE = 32;
/** Texts up to this many characters are written by hand when they are ASCII: the way into native code costs more than they do. */
const BY_HAND = 24;
/** From here on a text is measured before room is made for it; three bytes a character would be too much to ask for. */
const MEASURED = 65_536;

/** `limit` in bytes; chunks are taken from `spare` as long as there are some. */
export function makeByteSink(limit: number, spare: Buffer[]): ByteSink {
  return { bytes: spare.pop() ?? Buffer.allocUnsafeSlow(CHUNK), at: 0, full: [], fullBytes: 0, left: limit, spare };
}

/** All that was written, in one or more pieces; a `RangeError` beyond the limit. Nothing may be written after this. */
export function writtenBytes(sink: ByteSink): Buffer[] {
  closeChunk(sink);
  return sink.full;
}

/** How many bytes were written up to now. */
export function writtenCount({ fullBytes, at }: ByteSink): number {
  return fullBytes + at;
}

/** Gives chunks back, when nobody reads them any more. */
export function keepSpare(spare: Buffer[], chunks: readonly Uint8Array[]): void {
  for (const { buffer } of chunks) if (buffer.byteLength === CHUNK && spare.length < MOST_SPARE) spare.push(Buffer.from(buffer));
}

/** Makes room for so many bytes behind `at`, in one piece; a `RangeError` beyond the limit. */
export function reserve(sink: ByteSink, count: number): void {
  if (sink.at + count > sink.bytes.length) nextChunk(sink, count);
}

function nextChunk(sink: ByteSink, count: number): void {
  closeChunk(sink);
  sink.bytes = count > CHUNK ? Buffer.allocUnsafeSlow(count) : (sink.spare.pop() ?? Buffer.allocUnsafeSlow(CHUNK));
  sink.at = 0;
}

function closeChunk(sink: ByteSink): void {
  sink.full.push(sink.bytes.subarray(0, sink.at));
  sink.fullBytes += sink.at;
  sink.left -= sink.at;
  if (sink.left < 0) throw new RangeError("the rows take more bytes than one insert may have");
}

/** An unsigned LEB128 number, as in front of every text and list. */
export function writeCount(sink: ByteSink, count: number): void {
  reserve(sink, 5);
  sink.at = putCount(sink.bytes, sink.at, count);
}

function putCount(bytes: Buffer, at: number, count: number): number {
  let rest = count;
  while (rest > 127) {
    bytes[at++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  bytes[at++] = rest;
  return at;
}

/** A text's length in bytes and its UTF-8; halves of surrogate pairs, which UTF-8 cannot hold, become U+FFFD. */
export function writeText(sink: ByteSink, text: string): void {
  const { length } = text;
  if (length > BY_HAND || !writeShortAscii(sink, text)) writeEncoded(sink, text);
}

function writeShortAscii(sink: ByteSink, text: string): boolean {
  const { length } = text;
  reserve(sink, length + 1);
  const { bytes } = sink;
  let at = sink.at;
  bytes[at++] = length;
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code > 127) return false;
    bytes[at++] = code;
  }
  sink.at = at;
  return true;
}

function writeEncoded(sink: ByteSink, text: string): void {
  const most = text.length < MEASURED ? text.length * 3 : Buffer.byteLength(text);
  reserve(sink, most + 10);
  const { bytes, at } = sink;
  // Most texts are ASCII: their length in characters tells how long the count in front of them will be.
  const guess = bytesOfCount(text.length);
  const written = bytes.write(text, at + guess, "utf8");
  const room = bytesOfCount(written);
  if (room !== guess) bytes.copyWithin(at + room, at + guess, at + guess + written);
  sink.at = putCount(bytes, at, written) + written;
}

function bytesOfCount(count: number): number {
  let size = 1;
  for (let rest = count; rest > 127; rest >>>= 7) size++;
  return size;
}

/** Writes again what stands in a chunk from `from` to `to`. */
export function repeatBytes(sink: ByteSink, chunk: Buffer, from: number, to: number): void {
  const count = to - from;
  reserve(sink, count);
  const { bytes, at } = sink;
  if (count > 64) chunk.copy(bytes, at, from, to);
  else for (let index = 0; index < count; index++) bytes[at + index] = chunk[from + index]!;
  sink.at = at + count;
}

/** A whole number of at most 53 bits as eight bytes, the lowest first. */
export function writeInt64(sink: ByteSink, value: number): void {
  reserve(sink, 8);
  writeInt32(sink, value);
  writeInt32(sink, Math.floor(value / 0x1_0000_0000));
}

/** The lowest 32 bits of a whole number, the lowest byte first. */
export function writeInt32(sink: ByteSink, value: number): void {
  reserve(sink, 4);
  const { bytes, at } = sink;
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
  sink.at = at + 4;
}

export function writeByte(sink: ByteSink, value: number): void {
  reserve(sink, 1);
  sink.bytes[sink.at++] = value;
}
