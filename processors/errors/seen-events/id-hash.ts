/** An event id counts within its service alone: another organization must not use it up. */
export interface GivenId {
  service_id: string;
  event_id: string;
}

/**
 * Hashes ids to 64 bits each: two numbers in the result, the lower half first, as ClickHouse sends
 * a UInt64. The upper half is MurmurHash3 (x86, 32 bits), the lower one xxHash32, both of the
 * service's 16 bytes and then the event's, with seed 0. Case does not matter. `id_hash` in
 * schemas/clickhouse/0007_seen_event_ids.sql is the same hash.
 */
export function hashGivenIds(ids: readonly GivenId[]): Uint32Array {
  const hashes = new Uint32Array(2 * ids.length);
  const service = { id: "", ...beginHash("00000000-0000-0000-0000-000000000000") };
  for (let at = 0; at < ids.length; at++) {
    const { service_id: serviceId, event_id: eventId } = ids[at]!;
    // Neighbours mostly are of one service, and its half of the work is the same.
    if (serviceId !== service.id) Object.assign(service, { id: serviceId }, beginHash(serviceId));
    endHash(service, eventId, hashes, 2 * at);
  }
  return hashes;
}

/** Both hashes after the service's 16 bytes. */
interface HalfHash {
  murmur: number;
  one: number;
  two: number;
  three: number;
  four: number;
}

const PRIME_1 = 0x9e3779b1;
const PRIME_2 = 0x85ebca77;
const PRIME_3 = 0xc2b2ae3d;
/** Bytes of two UUIDs. */
const LENGTH = 32;

function beginHash(id: string): HalfHash {
  const a = wordAt(id, 0, 4);
  const b = wordAt(id, 9, 14);
  const c = wordAt(id, 19, 24);
  const d = wordAt(id, 28, 32);
  return {
    murmur: murmurRound(murmurRound(murmurRound(murmurRound(0, a), b), c), d),
    one: xxRound((PRIME_1 + PRIME_2) | 0, a),
    two: xxRound(PRIME_2, b),
    three: xxRound(0, c),
    four: xxRound(-PRIME_1, d),
  };
}

function endHash(half: HalfHash, id: string, into: Uint32Array, at: number): void {
  const a = wordAt(id, 0, 4);
  const b = wordAt(id, 9, 14);
  const c = wordAt(id, 19, 24);
  const d = wordAt(id, 28, 32);
  const early = rotated(xxRound(half.one, a), 1) + rotated(xxRound(half.two, b), 7);
  const late = rotated(xxRound(half.three, c), 12) + rotated(xxRound(half.four, d), 18);
  into[at] = xxEnd(early + late);
  const { murmur } = half;
  into[at + 1] = murmurEnd(murmurRound(murmurRound(murmurRound(murmurRound(murmur, a), b), c), d));
}

const rotated = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

function murmurRound(hash: number, word: number): number {
  const mixed = Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
  return (Math.imul(rotated(hash ^ mixed, 13), 5) + 0xe6546b64) | 0;
}

function murmurEnd(hash: number): number {
  let end = hash ^ LENGTH;
  end = Math.imul(end ^ (end >>> 16), 0x85ebca6b);
  end = Math.imul(end ^ (end >>> 13), 0xc2b2ae35);
  return end ^ (end >>> 16);
}

function xxRound(lane: number, word: number): number {
  return Math.imul(rotated((lane + Math.imul(word, PRIME_2)) | 0, 13), PRIME_1);
}

function xxEnd(lanes: number): number {
  let end = (lanes + LENGTH) | 0;
  end = Math.imul(end ^ (end >>> 15), PRIME_2);
  end = Math.imul(end ^ (end >>> 13), PRIME_3);
  return end ^ (end >>> 16);
}

const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => digitOf(String.fromCharCode(code)));

function digitOf(character: string): number {
  return Number.parseInt(character, 16) || 0;
}

/** Reads four digits here and four there: four bytes of a UUID, the first one lowest. */
function wordAt(id: string, here: number, there: number): number {
  const low = byteAt(id, here) | (byteAt(id, here + 2) << 8);
  return low | (byteAt(id, there) << 16) | (byteAt(id, there + 2) << 24);
}

function byteAt(id: string, at: number): number {
  return (DIGITS[id.charCodeAt(at)]! << 4) | DIGITS[id.charCodeAt(at + 1)]!;
}
