import { setImmediate as nextTurn } from "node:timers/promises";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import { oldestSlotFor, SLOT_MS, slotOf, type SeenGenerations } from "./generations.ts";

interface WarmUpNeeds {
  clickhouse: ClickHouse;
  /** Whose ids: a log as rows name it, and a partition. */
  logId: string;
  partition: number;
  filter: SeenGenerations;
  now: number;
  /** Ends the work early, because nobody needs the filter any more. */
  stopped(): boolean;
}

/** Bytes of hashes read at a time are eight times this, in ClickHouse's memory too. */
const IDS_AT_ONCE = 1_000_000;
/** How long this thread hashes before others have a turn. */
const TURN_MS = 4;
const HASH_BYTES = 8;
/** More ids may come to the newest slot; to those before, only what comes late. */
const SPARE = 1.25;
const LITTLE_SPARE = 1.01;

/**
 * Fills a filter with the ids that ClickHouse holds of the newest hour of a partition, by their hashes alone. Ids that came
 * before are not covered then. Returns how many it read. Rejects when ClickHouse does; it may be repeated.
 */
export async function warmUp(needs: WarmUpNeeds): Promise<number> {
  const { filter, now } = needs;
  const newest = await newestSlot(needs);
  // A processor that is behind goes on where the ids end, and not now.
  const first = oldestSlotFor(newest === null || newest + SLOT_MS > now ? now : newest);
  // Without any id of the past, nothing is left out.
  if (newest !== null) filter.startAt(first);
  let read = 0;
  for (const { slot, ids } of await countSlots(needs, first)) {
    filter.expect(Math.min(slot, slotOf(now)), (newest !== null && slot < newest ? LITTLE_SPARE : SPARE) * ids);
    const pieces = Math.ceil(ids / IDS_AT_ONCE);
    for (let piece = 0; piece < pieces && !needs.stopped(); piece++) read += await addPiece(needs, slot, piece, pieces);
  }
  return read;
}

const OF_PARTITION = "log_id = {log:String} AND partition = {partition:UInt16}";

/** Returns the newest slot that has ids and is not in the future. */
async function newestSlot({ clickhouse, logId, partition, now }: WarmUpNeeds): Promise<number | null> {
  // Read backwards in the table's order: of a day's ids a few granules.
  const [row] = await clickhouse.query<{ slot: number }>(
    `SELECT toUnixTimestamp(slot) AS slot FROM seen_event_ids
     WHERE ${OF_PARTITION} AND seen_event_ids.slot <= toDateTime({now:Int64}, 'UTC')
     ORDER BY log_id DESC, partition DESC, seen_event_ids.slot DESC LIMIT 1`,
    { log: logId, partition, now: Math.floor(now / 1_000) },
  );
  return row ? row.slot * 1_000 : null;
}

async function countSlots({ clickhouse, logId, partition }: WarmUpNeeds, first: number): Promise<{ slot: number; ids: number }[]> {
  const rows = await clickhouse.query<{ moment: number; ids: string }>(
    `SELECT toUnixTimestamp(slot) AS moment, count() AS ids FROM seen_event_ids
     WHERE ${OF_PARTITION} AND slot >= toDateTime({first:Int64}, 'UTC') GROUP BY slot ORDER BY slot`,
    { log: logId, partition, first: first / 1_000 },
  );
  return rows.map(({ moment, ids }) => ({ slot: moment * 1_000, ids: Number(ids) }));
}

/** Adds the ids of one of equal parts of the hashes' range: a table's neighbours, which are in the filter neighbours too. */
async function addPiece({ clickhouse, logId, partition, filter, stopped }: WarmUpNeeds, slot: number, piece: number, pieces: number): Promise<number> {
  const bound = (part: number): string => String((BigInt(part) << 64n) / BigInt(pieces) - (part === 0 ? 0n : 1n));
  const hashes = clickhouse.stream(
    `SELECT id_hash FROM seen_event_ids
     WHERE ${OF_PARTITION} AND slot = toDateTime({slot:Int64}, 'UTC')
       AND id_hash >= {from:UInt64} AND id_hash <= {to:UInt64}`,
    { log: logId, partition, slot: slot / 1_000, from: bound(piece), to: bound(piece + 1) },
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

/** At most so many hashes without a look at the time. */
const HASHES_OF_STEP = 8_192;

/** Cuts bytes into hashes of two words each (little-endian, as all machines are that Node runs on); a piece may end within one. */
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
  if (filled % HASH_BYTES !== 0) throw new Error(`ClickHouse sent ${filled % HASH_BYTES} bytes of a hash.`);
  yield new Uint32Array(buffer.buffer, 0, filled / 4);
}
