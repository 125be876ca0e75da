import { setImmediate as nextTurn } from "node:timers/promises";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import { oldestSlotFor, SLOT_MS, slotOf, type SeenGenerations } from "./generations.ts";

/** Whose ids are read: of a log as rows name it, and of a partition. */
export interface WarmUpSource {
  clickhouse: ClickHouse;
  logId: string;
  partition: number;
  now: number;
  /** Ends the work early, because nobody needs the filter any more. */
  stopped(): boolean;
}

/** Eight times as many bytes are read at once, and stand in ClickHouse's memory too. */
const IDS_AT_ONCE = 1_000_000;
/** How long this thread adds hashes before others have a turn. */
const TURN_MS = 4;
const HASH_BYTES = 8;
/** At most so many hashes are added without a look at the time. */
const HASHES_OF_STEP = 8_192;
/** More ids may come to the newest slot. To those before comes only what is late. */
const SPARE = 1.25;
const LITTLE_SPARE = 1.01;

/**
 * Fills a filter with the ids that ClickHouse holds of a partition's newest hour, by their hashes
 * alone. Older ids are not covered then. Returns how many ids it read. Rejects when ClickHouse
 * does, and may be repeated.
 */
export async function warmUp(source: WarmUpSource, filter: SeenGenerations): Promise<number> {
  const { now } = source;
  const newest = await newestSlot(source);
  // A processor that is behind goes on where the ids end, and not now.
  const isBehind = newest !== null && newest + SLOT_MS <= now;
  const first = oldestSlotFor(isBehind ? newest : now);
  // Without any id of the past, nothing is left out.
  if (newest !== null) filter.startAt(first);
  let read = 0;
  for (const { slot, ids } of await countSlots(source, first)) {
    const spare = newest !== null && slot < newest ? LITTLE_SPARE : SPARE;
    filter.expect(Math.min(slot, slotOf(now)), spare * ids);
    const pieces = Math.ceil(ids / IDS_AT_ONCE);
    for (let piece = 0; piece < pieces && !source.stopped(); piece++) {
      read += await addPiece(source, filter, { slot, piece, pieces });
    }
  }
  return read;
}

const OF_PARTITION = "log_id = {log:String} AND partition = {partition:UInt16}";

/** Returns the newest slot that has ids and is not in the future. */
async function newestSlot(source: WarmUpSource): Promise<number | null> {
  const { clickhouse, logId, partition, now } = source;
  // Read backwards in the table's order: a few granules of a day's ids.
  const [row] = await clickhouse.query<{ moment: number }>(
    `SELECT toUnixTimestamp(slot) AS moment FROM seen_event_ids
     WHERE ${OF_PARTITION} AND slot <= toDateTime({now:Int64}, 'UTC')
     ORDER BY log_id DESC, partition DESC, slot DESC LIMIT 1`,
    { log: logId, partition, now: Math.floor(now / 1_000) },
  );
  return row ? row.moment * 1_000 : null;
}

interface SlotCount {
  slot: number;
  ids: number;
}

async function countSlots(source: WarmUpSource, first: number): Promise<SlotCount[]> {
  const { clickhouse, logId, partition } = source;
  const rows = await clickhouse.query<{ moment: number; ids: string }>(
    `SELECT toUnixTimestamp(slot) AS moment, count() AS ids FROM seen_event_ids
     WHERE ${OF_PARTITION} AND slot >= toDateTime({first:Int64}, 'UTC')
     GROUP BY slot ORDER BY slot`,
    { log: logId, partition, first: first / 1_000 },
  );
  return rows.map(({ moment, ids }) => ({ slot: moment * 1_000, ids: Number(ids) }));
}

/** One of `pieces` equal parts of the hashes' range. */
interface Piece {
  slot: number;
  piece: number;
  pieces: number;
}

/** Adds one piece of a slot. Neighbours in the table are neighbours in the filter too. */
async function addPiece(
  source: WarmUpSource,
  filter: SeenGenerations,
  { slot, piece, pieces }: Piece,
): Promise<number> {
  const { clickhouse, logId, partition, stopped } = source;
  const begin = (part: number): bigint => (BigInt(part) << 64n) / BigInt(pieces);
  const hashes = clickhouse.stream(
    `SELECT id_hash FROM seen_event_ids
     WHERE ${OF_PARTITION} AND slot = toDateTime({slot:Int64}, 'UTC')
       AND id_hash BETWEEN {from:UInt64} AND {to:UInt64}`,
    { log: logId, partition, slot: slot / 1_000, from: begin(piece), to: begin(piece + 1) - 1n },
  );
  let added = 0;
  let turn = performance.now();
  for await (const words of wholeHashes(hashes)) {
    if (stopped()) return added;
    for (let at = 0; at < words.length; at += 2) filter.add(words[at]!, words[at + 1]!, slot);
    added += words.length / 2;
    if (performance.now() - turn < TURN_MS) continue;
    await nextTurn();
    turn = performance.now();
  }
  return added;
}

/**
 * Cuts bytes into hashes of two words each, little-endian as all machines are that Node runs on. A
 * piece may end within a hash.
 */
async function* wholeHashes(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint32Array> {
  const buffer = new Uint8Array(HASHES_OF_STEP * HASH_BYTES);
  let filled = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.byteLength; ) {
      const taken = Math.min(piece.byteLength - at, buffer.byteLength - filled);
      buffer.set(piece.subarray(at, at + taken), filled);
      at += taken;
      filled += taken;
      if (filled < buffer.byteLength) continue;
      yield new Uint32Array(buffer.buffer);
      filled = 0;
    }
  }
  if (filled % HASH_BYTES !== 0) throw new Error("ClickHouse's answer ends within a hash.");
  yield new Uint32Array(buffer.buffer, 0, filled / 4);
}
