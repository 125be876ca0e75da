import { uuidFromBytes, uuidToBytes } from "../ids.ts";

/**
 * A frame: many accepted requests of one edge in one record of the log. It carries each request's own
 * bytes, never re-serialised. All numbers little-endian.
 *
 *   offset  size
 *   0       2     magic 0x5046 ("FP")
 *   2       1     layout version, 1
 *   3       1     compression, 0 = none
 *   4       4     number of entries
 *   8       16    edge id (uuid bytes)
 *   24      8     sequence of the frame in (edge, partition), from 1
 *   32      …     entries, each:
 *           4       length of body (b)
 *           4       request number, unique in the edge since its start (replies name it)
 *           8       received at, ms since the epoch (float64)
 *           1       flags: 1 = nobody waits for the answer
 *           3       zero
 *           16      organization id (uuid bytes)
 *           16      subject id: the service (beacons, metrics) or monitor (heartbeats)
 *           b       the body's bytes
 */
export interface FrameHead {
  edgeId: string;
  sequence: bigint;
}

export interface FrameEntry {
  requestNumber: number;
  /** Milliseconds since the epoch, by the edge's clock. */
  receivedAt: number;
  /** The sender does not wait for the evaluation. */
  detached: boolean;
  organizationId: string;
  subjectId: string;
  body: Uint8Array;
}

const MAGIC = 0x5046;
const VERSION = 1;
const HEAD_BYTES = 32;
const ENTRY_BYTES = 52;

/** The same few services and monitors come again and again; turning their ids into bytes costs more than all the rest of an entry. */
const uuidBytes = new Map<string, Buffer>();
const UUIDS_KEPT = 50_000;

function uuidBytesOf(uuid: string): Buffer {
  let bytes = uuidBytes.get(uuid);
  if (bytes === undefined) {
    bytes = uuidToBytes(uuid);
    if (uuidBytes.size >= UUIDS_KEPT) uuidBytes.clear();
    uuidBytes.set(uuid, bytes);
  }
  return bytes;
}

/** Bytes that an entry with this body adds to a frame. */
export function entrySize(bodyBytes: number): number {
  return ENTRY_BYTES + bodyBytes;
}

export function encodeFrame(head: FrameHead, entries: FrameEntry[]): Buffer {
  let size = HEAD_BYTES;
  for (const entry of entries) size += entrySize(entry.body.byteLength);
  const frame = Buffer.allocUnsafe(size);
  frame.writeUInt16LE(MAGIC, 0);
  frame[2] = VERSION;
  frame[3] = 0;
  frame.writeUInt32LE(entries.length, 4);
  frame.set(uuidBytesOf(head.edgeId), 8);
  frame.writeBigUInt64LE(head.sequence, 24);
  let at = HEAD_BYTES;
  for (const entry of entries) {
    frame.writeUInt32LE(entry.body.byteLength, at);
    frame.writeUInt32LE(entry.requestNumber, at + 4);
    frame.writeDoubleLE(entry.receivedAt, at + 8);
    frame.writeUInt32LE(entry.detached ? 1 : 0, at + 16);
    frame.set(uuidBytesOf(entry.organizationId), at + 20);
    frame.set(uuidBytesOf(entry.subjectId), at + 36);
    frame.set(entry.body, at + ENTRY_BYTES);
    at += ENTRY_BYTES + entry.body.byteLength;
  }
  return frame;
}

/** Reads only the head, which is all that de-duplication needs. Throws on bytes that are no frame. */
export function decodeHead(frame: Uint8Array): FrameHead & { entries: number } {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (frame.byteLength < HEAD_BYTES || view.getUint16(0, true) !== MAGIC) throw new Error("not a frame: its first bytes are not the magic number");
  if (frame[2] !== VERSION) throw new Error(`frame layout version ${frame[2]} is not known to this Pharos`);
  return { edgeId: uuidFromBytes(frame.subarray(8, 24)), sequence: view.getBigUint64(24, true), entries: view.getUint32(4, true) };
}

/** Bodies are views into the frame's bytes, not copies. Throws on bytes that are no frame. */
export function decodeFrame(frame: Uint8Array): { head: FrameHead; entries: FrameEntry[] } {
  const { entries: count, ...head } = decodeHead(frame);
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const entries: FrameEntry[] = [];
  let at = HEAD_BYTES;
  for (let index = 0; index < count; index++) {
    if (at + ENTRY_BYTES > frame.byteLength) throw new Error(`frame cut short in entry ${index} of ${count}`);
    const length = view.getUint32(at, true);
    const bodyAt = at + ENTRY_BYTES;
    if (bodyAt + length > frame.byteLength) throw new Error(`frame cut short in the body of entry ${index} of ${count}`);
    entries.push({
      requestNumber: view.getUint32(at + 4, true),
      receivedAt: view.getFloat64(at + 8, true),
      detached: (view.getUint32(at + 16, true) & 1) === 1,
      organizationId: uuidFromBytes(frame.subarray(at + 20, at + 36)),
      subjectId: uuidFromBytes(frame.subarray(at + 36, at + 52)),
      body: frame.subarray(bodyAt, bodyAt + length),
    });
    at = bodyAt + length;
  }
  return { head, entries };
}
