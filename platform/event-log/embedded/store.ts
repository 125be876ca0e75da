import { existsSync } from "node:fs";
import { mkdir, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import { TOPICS, type Topic } from "../../../schemas/vocabulary.ts";
import { isUuid, newId } from "../../ids.ts";
import { StartFailure } from "../../start-failure.ts";
import type { LogRecord } from "../port.ts";
import type { Mark } from "./retention.ts";

/**
 * The embedded log's LMDB environment: one file, one tree. Keys are arrays, ordered part by part:
 *
 *   [0]                              the log itself: JSON {layout, id, partitions}
 *   [1, topic, partition, offset]    a record's bytes
 *   [2, topic, partition, offset]    a mark at that record: JSON {at, bytes} (`retention.ts`)
 *   [3, group, topic, partition]     the next offset of a group, as text; only retention reads it
 *
 * `overlappingSync: false` is what makes an awaited write durable. LMDB then does, in this order: write the pages,
 * fdatasync, write the meta page through an O_DSYNC descriptor, and only then does the write's promise resolve.
 * With the package's default (true) that promise comes before the fdatasync and only `db.flushed` follows it; both
 * cost the same here (1.4 ms for 4 × 64 KiB), and this way a reader cannot see what a power cut could take back.
 */
export type LmdbEnvironment = RootDatabase<Buffer, Key>;
type Key = (string | number)[];

const LAYOUT = 1;
/** Address space, not disk: the file grows as it is written to. */
const MAP_BYTES = 256 * 2 ** 30;
/** Pages that LMDB may have counted but never written, being free again at the end of their transaction. */
const UNWRITTEN_PAGES = 64;
const BATCH_RECORDS = 10_000;

export interface Store {
  readonly environment: LmdbEnvironment;
  readonly id: string;
  readonly partitionCount: number;
  partition(topic: Topic, partition: number): PartitionState;
  readonly all: readonly PartitionState[];
  /** Stored positions: group → `topic/partition` → next offset. */
  readonly groups: Map<string, Map<string, number>>;
}

/** What is known of a partition in memory. Offsets are plain numbers here: 2^53 records never come. */
export interface PartitionState {
  readonly name: string;
  readonly topic: Topic;
  readonly partition: number;
  /** The first kept record. */
  first: number;
  /** One past the last durable record. */
  end: number;
  /** Bytes ever appended. */
  bytes: number;
  marks: Mark[];
  /** Records below it may go. */
  cut: number;
  /** Called when the partition has grown; each takes itself out. */
  readonly waiting: Set<() => void>;
}

export const recordKey = ({ topic, partition }: PartitionState, offset: number): Key => [1, topic, partition, offset];
export const markKey = ({ topic, partition }: PartitionState, offset: number): Key => [2, topic, partition, offset];
export const positionKey = (group: string, { topic, partition }: PartitionState): Key => [3, group, topic, partition];

/** Opens the log in `folder`, or makes it with `partitions`. Throws StartFailure when the file is no log of ours. */
export async function openStore(folder: string, partitions: number): Promise<Store> {
  const file = join(folder, "data.mdb");
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const isNew = !existsSync(file);
    // Without eventTurnBatching the writer says by itself what one transaction is; with it, a failed commit would also
    // reject a promise inside the package that nobody holds, which ends the process.
    const environment = open<Buffer, Key>({ path: folder, encoding: "binary", overlappingSync: false, eventTurnBatching: false, mapSize: MAP_BYTES, maxReaders: 64 });
    if (!isNew) await refuseShortFile(environment, file);
    return await readStore(environment, partitions);
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "EACCES" || code === "EROFS" || code === "EPERM") throw new StartFailure(`The event log's folder ${folder} cannot be written to (${code}).`, { fix: "Give it to the user that runs Pharos, or set PHAROS_DATA_DIR to another folder.", cause: error });
    if (isFull(error)) throw new StartFailure(`The event log in ${folder} cannot be opened: no space is left on its disk.`, { fix: "Free some space and start again.", cause: error });
    throw corrupt(file, error instanceof Error ? error.message : String(error), error);
  }
}

/** True for a full disk, a quota, a file-size limit or a full map. */
export function isFull(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return [28, 122, 27, -30792, "ENOSPC", "EDQUOT", "EFBIG"].includes(code as number) || /No space left|quota exceeded|File too large|MDB_MAP_FULL/i.test(String(message));
}

function corrupt(file: string, reason: string, cause?: unknown): StartFailure {
  return new StartFailure(`The event log ${file} is damaged (${reason}).`, {
    fix: "Restore the data folder from a backup. Without one, move the log's folder away and start again: what was accepted but not yet processed is lost, everything else stays.",
    cause,
  });
}

/** A file that was cut off would end the process with SIGBUS at the first read beyond its end. */
async function refuseShortFile(environment: LmdbEnvironment, file: string): Promise<void> {
  const { lastPageNumber, pageSize } = environment.getStats() as { lastPageNumber: number; pageSize: number };
  const { size } = await stat(file);
  const missing = (lastPageNumber + 1) * pageSize - size;
  if (missing > UNWRITTEN_PAGES * pageSize) throw corrupt(file, `${missing} bytes are missing at its end`);
  if (missing > 0) await truncate(file, size + missing);
}

async function readStore(environment: LmdbEnvironment, partitions: number): Promise<Store> {
  const head = await readHead(environment, partitions);
  const states = new Map<string, PartitionState>();
  for (const topic of TOPICS) for (let partition = 0; partition < head.partitions; partition++) states.set(`${topic}/${partition}`, readPartition(environment, topic, partition));
  const groups = new Map<string, Map<string, number>>();
  for (const { key, value } of environment.getRange({ start: [3], end: [4] })) {
    const [, group, topic, partition] = key as [number, string, string, number];
    if (!groups.has(group)) groups.set(group, new Map());
    groups.get(group)!.set(`${topic}/${partition}`, Number(value.toString()));
  }
  return {
    environment,
    id: head.id,
    partitionCount: head.partitions,
    all: [...states.values()],
    groups,
    partition(topic, partition) {
      const state = states.get(`${topic}/${partition}`);
      if (!state) throw new RangeError(`the event log has no partition ${topic}/${partition}`);
      return state;
    },
  };
}

async function readHead(environment: LmdbEnvironment, partitions: number): Promise<{ id: string; partitions: number }> {
  const stored = environment.get([0]);
  if (!stored) {
    const made = { layout: LAYOUT, id: newId(), partitions };
    await environment.put([0], Buffer.from(JSON.stringify(made)));
    return made;
  }
  const head = JSON.parse(stored.toString()) as { layout: number; id: string; partitions: number };
  if (head.layout !== LAYOUT) throw new Error(`its layout ${head.layout} is not known to this version`);
  if (!isUuid(head.id) || !Number.isInteger(head.partitions) || head.partitions < 1) throw new Error("its head is unreadable");
  return head;
}

function readPartition(environment: LmdbEnvironment, topic: Topic, partition: number): PartitionState {
  const range = { start: [1, topic, partition], end: [1, topic, partition, Infinity] };
  const [firstKey] = environment.getKeys({ ...range, limit: 1 });
  const [lastKey] = environment.getKeys({ start: range.end, end: range.start, reverse: true, limit: 1 });
  const first = (firstKey?.[3] as number | undefined) ?? 0;
  const end = lastKey === undefined ? 0 : (lastKey[3] as number) + 1;
  const marks: Mark[] = [];
  for (const { key, value } of environment.getRange({ start: [2, topic, partition], end: [2, topic, partition, Infinity] })) {
    marks.push({ offset: key[3] as number, ...(JSON.parse(value.toString()) as { at: number; bytes: number }) });
  }
  const lastMark = marks.at(-1);
  let bytes = lastMark?.bytes ?? 0;
  for (const { value } of environment.getRange({ start: [1, topic, partition, lastMark?.offset ?? 0], end: range.end })) bytes += value.byteLength;
  return { name: `${topic}/${partition}`, topic, partition, first, end, bytes, marks, cut: first, waiting: new Set() };
}

/** Records from `from` up to `to` or `maxBytes`, at least one when there is one. Their bytes are copies. */
export function readRecords(environment: LmdbEnvironment, state: PartitionState, from: number, maxBytes: number): LogRecord[] {
  const records: LogRecord[] = [];
  let bytes = 0;
  for (const { key, value } of environment.getRange({ start: recordKey(state, from), end: recordKey(state, state.end), limit: BATCH_RECORDS })) {
    if (records.length > 0 && bytes + value.byteLength > maxBytes) break;
    bytes += value.byteLength;
    records.push({ offset: BigInt(key[3] as number), value });
  }
  return records;
}
