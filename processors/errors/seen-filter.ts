/** Says of an event id "perhaps seen" or "certainly not seen" in the last hour; bounded in memory, whatever comes. */
export interface SeenFilter {
  perhapsSeen(id: string, receivedAt: number): boolean;
  add(id: string, receivedAt: number): void;
}

/** Ids count for an hour; a generation takes 20 minutes of them, so four cover any hour and are dropped whole. */
const GENERATION_MS = 20 * 60_000;
const GENERATIONS = 4;
/** 2^25 bits, 4 MiB: one in a hundred answers is a false "perhaps" at 3.5 million ids a generation, more beyond; it only costs a look-up. */
const BITS = 2 ** 25;
const HASHES = 5;

/** A Bloom filter in generations. Memory: 16 MiB a partition when all are in use, touched only as ids come. */
export function makeSeenFilter(): SeenFilter {
  const generations = new Map<number, Uint8Array>();

  function generationOf(receivedAt: number): Uint8Array {
    const number = Math.floor(receivedAt / GENERATION_MS);
    let bits = generations.get(number);
    if (!bits) {
      bits = new Uint8Array(BITS / 8);
      generations.set(number, bits);
      while (generations.size > GENERATIONS) generations.delete(Math.min(...generations.keys()));
    }
    return bits;
  }

  return {
    perhapsSeen(id, receivedAt) {
      const newest = Math.floor(receivedAt / GENERATION_MS);
      const places = placesOf(id);
      for (const [number, bits] of generations) {
        if (number > newest || number <= newest - GENERATIONS) continue;
        if (places.every((place) => (bits[place >>> 3]! & (1 << (place & 7))) !== 0)) return true;
      }
      return false;
    },
    add(id, receivedAt) {
      const bits = generationOf(receivedAt);
      for (const place of placesOf(id)) bits[place >>> 3]! |= 1 << (place & 7);
    },
  };
}

/** Double hashing over two FNV-1a sums of the id (Kirsch and Mitzenmacher, 2006). Ids compare without case. */
function placesOf(id: string): number[] {
  let first = 0x811c9dc5;
  let second = 0x01000193;
  for (let at = 0; at < id.length; at++) {
    const code = id.charCodeAt(at) | 0x20;
    first = Math.imul(first ^ code, 0x01000193);
    second = Math.imul(second + code, 0x85ebca6b) ^ (second >>> 13);
  }
  second |= 1;
  const places: number[] = [];
  for (let hash = 0; hash < HASHES; hash++) places.push((first + Math.imul(hash, second)) & (BITS - 1));
  return places;
}
