import { existsSync } from "node:fs";
import { open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Topic } from "../../../schemas/vocabulary.ts";
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import { StartFailure } from "../../start-failure.ts";
import { openStore, readRecords, type PartitionState, type Store } from "../embedded/store.ts";
import { makeWriter } from "../embedded/writer.ts";
import { decodeFrame, decodeHead } from "../frame.ts";

/** What a slot holds of one partition: frames that the log does not have yet, in the order of their making. */
export interface SpoolLane {
  readonly topic: Topic;
  readonly partition: number;
  /** Offset in the slot of the first frame to be sent; below it everything is in the log. */
  next: number;
  /** Frames that are being written. */
  writing: number;
  unsentBytes: number;
  /** When the oldest entry of the first unsent frame was received, ms since the epoch; null when there is none. */
  oldestAt: number | null;
  draining: boolean;
  /** The log took the last frames that were sent, and more are left. */
  flowing: boolean;
}

/**
 * A slot's frames on disk: an embedded log of its own. How far it was sent is written down along with later writes only, so
 * after a death some frames are sent again; their numbers make that harmless.
 */
export interface SlotStore {
  readonly lanes: readonly SpoolLane[];
  /** Throws RangeError for a partition that the slot was not made with. */
  lane(topic: Topic, partition: number): SpoolLane;
  /** Edges whose frames were read here. */
  readonly edgeIds: ReadonlySet<string>;
  frames(lane: SpoolLane): number;
  /** Nothing is unsent, and nothing is being written. */
  isEmpty(lane: SpoolLane): boolean;
  /** Something can be read and sent. */
  hasReady(lane: SpoolLane): boolean;
  /** Resolves once the frame is on the disk; rejects with LogUnavailable, and then it is not there. */
  append(lane: SpoolLane, frame: Buffer, receivedAt: number): Promise<void>;
  /** The next frames to be sent, at least one unless the last commit cannot be seen yet. */
  read(lane: SpoolLane, maxBytes: number): Buffer[];
  /** The log has these first frames. */
  noteSent(lane: SpoolLane, frames: readonly Buffer[]): void;
  /** Bytes of the file, which grows with the frames and does not shrink by itself. */
  fileBytes(): Promise<number>;
  /** Waits for writes; a slot without unsent frames leaves no file behind. */
  close(): Promise<void>;
}

/** Our position in the slot's log. */
const GROUP = "spool";
/** What is sent may go at once. */
const RETENTION = { retentionBytes: 0, retentionMs: 0 };
/** Stands near the beginning of the first page. */
const LMDB_MAGIC = Buffer.from([0xde, 0xc0, 0xef, 0xbe]);
const FILES = ["data.mdb", "lock.mdb"];

/** Whether a slot's folder has a file that may hold frames. */
export function hasFile(folder: string): boolean {
  return existsSync(join(folder, "data.mdb"));
}

/** Throws StartFailure when the file is damaged or the folder cannot be written to. */
export async function openSlotStore({ folder, partitions, clock, log }: { folder: string; partitions: number; clock: Clock; log: Log }): Promise<SlotStore> {
  await refuseForeignFile(folder);
  const store = await openStore(folder, partitions);
  const writer = makeWriter({ store, limits: RETENTION, folder, clock, log });
  const edgeIds = new Set<string>();
  const states = new Map<SpoolLane, PartitionState>(store.all.map((state) => [openLane(store, state), state]));
  const lanes = [...states.keys()];
  const byName = new Map(lanes.map((lane) => [`${lane.topic}/${lane.partition}`, lane]));
  const stateOf = (lane: SpoolLane) => states.get(lane)!;
  const hasReady = (lane: SpoolLane) => lane.next < stateOf(lane).end;
  const isEmpty = (lane: SpoolLane) => lane.writing === 0 && !hasReady(lane);

  function read(lane: SpoolLane, maxBytes: number): Buffer[] {
    const records = readRecords(store.environment, stateOf(lane), lane.next, maxBytes);
    // LMDB may read from a snapshot of before the last commit.
    if (records.length === 0) store.environment.resetReadTxn();
    const frames = records.map(({ value }) => value);
    if (frames[0]) lane.oldestAt = decodeFrame(frames[0]).entries[0]?.receivedAt ?? lane.oldestAt;
    for (const frame of frames) edgeIds.add(decodeHead(frame).edgeId);
    return frames;
  }

  for (const lane of lanes) if (hasReady(lane)) read(lane, 0);
  let closing: Promise<void> | null = null;

  async function close(): Promise<void> {
    await writer.close();
    await store.environment.close();
    if (lanes.every(isEmpty)) for (const name of FILES) await rm(join(folder, name), { force: true });
  }

  return {
    lanes,
    edgeIds,
    isEmpty,
    hasReady,
    read,
    lane(topic, partition) {
      const lane = byName.get(`${topic}/${partition}`);
      if (!lane) throw new RangeError(`the spool ${folder} has no partition ${topic}/${partition}`);
      return lane;
    },
    frames: (lane) => lane.writing + stateOf(lane).end - lane.next,
    async append(lane, frame, receivedAt) {
      lane.writing += 1;
      lane.unsentBytes += frame.byteLength;
      lane.oldestAt ??= receivedAt;
      try {
        await writer.append(stateOf(lane), frame);
        lane.writing -= 1;
      } catch (error) {
        lane.writing -= 1;
        lane.unsentBytes -= frame.byteLength;
        if (isEmpty(lane)) lane.oldestAt = null;
        throw error;
      }
    },
    noteSent(lane, frames) {
      lane.next += frames.length;
      for (const frame of frames) lane.unsentBytes -= frame.byteLength;
      writer.notePosition(GROUP, stateOf(lane), lane.next);
      if (!isEmpty(lane)) return;
      lane.oldestAt = null;
      lane.unsentBytes = 0;
    },
    fileBytes: async () => (await stat(join(folder, "data.mdb"))).size,
    close: () => (closing ??= close()),
  };
}

/** A file that LMDB did not write ends the process with SIGSEGV when it is opened. */
async function refuseForeignFile(folder: string): Promise<void> {
  if (!hasFile(folder)) return;
  const file = await open(join(folder, "data.mdb"));
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    // An empty one was made by a process that died right then.
    if (bytesRead === 0 || buffer.subarray(0, bytesRead).includes(LMDB_MAGIC)) return;
  } finally {
    await file.close();
  }
  throw new StartFailure(`The spool's file ${join(folder, "data.mdb")} is damaged.`, { fix: "Restore it from a backup, or move its folder away: what was accepted and not yet sent is lost with it." });
}

function openLane(store: Store, state: PartitionState): SpoolLane {
  const { topic, partition, first, end, bytes, marks } = state;
  const position = store.groups.get(GROUP)?.get(state.name) ?? first;
  const next = position > end ? first : Math.max(position, first);
  // Counted from the mark before the position, so perhaps a little too much.
  const sentBytes = marks.findLast(({ offset }) => offset <= next)?.bytes ?? 0;
  return { topic, partition, next, writing: 0, unsentBytes: next < end ? bytes - sentBytes : 0, oldestAt: null, draining: false, flowing: false };
}
