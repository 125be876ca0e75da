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
const NO_COMPRESSION = 0;
const HEAD_BYTES = 32;
const ENTRY_BYTES = 52;

/** The same few services and monitors come again and again; turning their ids into bytes costs more than all the rest of an entry. */
const uuidBytes = new Map<string, Buffer>();
const UUIDS_KEPT = 50_000;

function writeUuid(bytes: Buffer, at: number, uuid: string): void {
  let known = uuidBytes.get(uuid);
  if (known === undefined) {
    known = uuidToBytes(uuid);
    if (uuidBytes.size >= UUIDS_KEPT) uuidBytes.clear();
    uuidBytes.set(uuid, known);
  }
  // Sixteen steps cost less than the call of set().
  for (let index = 0; index < 16; index++) bytes[at + index] = known[index]!;
}

/** How many entries a frame's head names, without reading the frame: no more than fit into its bytes, whatever these are, and at least one. */
export function entriesIn(bytes: Buffer): number {
  const most = Math.floor((bytes.byteLength - HEAD_BYTES) / ENTRY_BYTES);
  return most <= 1 ? 1 : Math.max(1, Math.min(most, bytes.readUInt32LE(4)));
}

/** Bytes that an entry with this body adds to a frame. */
export function entrySize(bodyBytes: number): number {
  return ENTRY_BYTES + bodyBytes;
}

/** A frame that entries are still added to. */
export interface OpenFrame {
  bytes: Buffer;
  view: DataView;
  /** Where the next entry goes. */
  end: number;
  entries: number;
}

/** `expectedBytes` is what its entries will about take; it grows beyond. */
export function openFrame(edgeId: string, expectedBytes: number): OpenFrame {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + expectedBytes);
  const view = viewOf(bytes);
  view.setUint16(0, MAGIC, true);
  bytes[2] = VERSION;
  bytes[3] = NO_COMPRESSION;
  writeUuid(bytes, 8, edgeId);
  return { bytes, view, end: HEAD_BYTES, entries: 0 };
}

/** Copies the entry and its body, which may be written over afterwards. */
export function addEntry(frame: OpenFrame, { requestNumber, receivedAt, detached, organizationId, subjectId, body }: FrameEntry): void {
  const at = frame.end;
  const end = at + ENTRY_BYTES + body.byteLength;
  if (end > frame.bytes.byteLength) grow(frame, end);
  const { bytes, view } = frame;
  view.setUint32(at, body.byteLength, true);
  view.setUint32(at + 4, requestNumber, true);
  view.setFloat64(at + 8, receivedAt, true);
  view.setUint32(at + 16, detached ? 1 : 0, true);
  writeUuid(bytes, at + 20, organizationId);
  writeUuid(bytes, at + 36, subjectId);
  if (body.byteLength > 0) bytes.set(body, at + ENTRY_BYTES);
  frame.end = end;
  frame.entries += 1;
}

function grow(frame: OpenFrame, atLeast: number): void {
  const bytes = Buffer.allocUnsafe(Math.max(atLeast, frame.bytes.byteLength * 2));
  frame.bytes.copy(bytes, 0, 0, frame.end);
  frame.bytes = bytes;
  frame.view = viewOf(bytes);
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** The frame's bytes; nothing may be added any more. */
export function closeFrame({ bytes, view, end, entries }: OpenFrame, sequence: bigint): Buffer {
  view.setUint32(4, entries, true);
  view.setBigUint64(24, sequence, true);
  return bytes.subarray(0, end);
}

export function encodeFrame({ edgeId, sequence }: FrameHead, entries: FrameEntry[]): Buffer {
  const frame = openFrame(edgeId, entries.reduce((sum, { body }) => sum + entrySize(body.byteLength), 0));
  for (const entry of entries) addEntry(frame, entry);
  return closeFrame(frame, sequence);
}

/** A frame that a newer Pharos wrote. It is whole: a version that understands it can process it. */
export class NewerFrame extends Error {
  constructor(what: string) {
    super(`${what}; start a newer version`);
    this.name = "NewerFrame";
  }
}

function refuseNewer(version: number, compression: number): void {
  if (version === 0) throw new Error("not a frame: its layout version is 0, which no Pharos wrote");
  if (version > VERSION) throw new NewerFrame(`frame layout version ${version} is newer than this Pharos understands (${VERSION})`);
  if (compression !== NO_COMPRESSION) throw new NewerFrame(`frame compression ${compression} is not known to this Pharos (${NO_COMPRESSION})`);
}

/** Reads only the head, which is all that deduplication needs. Throws `NewerFrame` on a frame of a newer Pharos, another Error on bytes that are no frame. */
export function decodeHead(frame: Uint8Array): FrameHead & { entries: number } {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (frame.byteLength < HEAD_BYTES || view.getUint16(0, true) !== MAGIC) throw new Error("not a frame: its first bytes are not the magic number");
  refuseNewer(frame[2]!, frame[3]!);
  return { edgeId: uuidFromBytes(frame.subarray(8, 24)), sequence: view.getBigUint64(24, true), entries: view.getUint32(4, true) };
}

/** Reads the head and checks that all entries are there, without reading them. Throws as `decodeFrame` does. */
export function checkFrame(frame: Uint8Array): FrameHead {
  const { entries, ...head } = decodeHead(frame);
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  let at = HEAD_BYTES;
  for (let index = 0; index < entries; index++) {
    if (at + ENTRY_BYTES > frame.byteLength) throw new Error(`frame cut short in entry ${index} of ${entries}`);
    at += ENTRY_BYTES + view.getUint32(at, true);
    if (at > frame.byteLength) throw new Error(`frame cut short in the body of entry ${index} of ${entries}`);
  }
  return head;
}

/** Bodies are views into the frame's bytes, not copies. Throws as `decodeHead` does, and on a frame that was cut short. */
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
