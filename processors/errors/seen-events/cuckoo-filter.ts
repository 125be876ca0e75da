/** A set of 64-bit hashes in two bytes each that answers "perhaps" or "certainly not". */
export interface CuckooFilter {
  /**
   * Adds a hash, given as its two halves (unsigned, 32 bits each). It never fails and never grows.
   * More than `capacity` hashes give more false answers, never a wrong "certainly not".
   */
  add(low: number, high: number): void;
  /** Returns false only for a hash that was not added. */
  mayContain(low: number, high: number): boolean;
  /** Returns how many slots are taken. */
  size(): number;
  /** How many hashes fit before the next ones need many moves. */
  readonly capacity: number;
  readonly bytes: number;
}

const SLOTS = 4;
/** The share of slots that four-slot buckets take without trouble. Trouble begins at about 95 %. */
const LOAD = 0.93;
/** Below that load nearly every search for a slot ends sooner, unless ids were made to collide. */
const MOST_MOVES = 500;
const EMPTY = 0;
/** In a bucket's first slot: the bucket got more than it has room for, and stands for any hash. */
const OVERFLOWED = 0xffff;

/**
 * Makes a filter for `ids` hashes: 2.15 bytes each, and 1.1e-4 false answers when it is full.
 *
 * A cuckoo filter (Fan, Andersen, Kaminsky, Mitzenmacher, CoNEXT 2014) with 16-bit tags. The two
 * buckets of a tag add up to a number that follows from the tag alone, so there can be any number
 * of buckets. A client can choose ids that all fall into one bucket. When no slot is found, the
 * bucket is marked as overflowed, and each hash that falls there is "perhaps" in.
 */
export function makeCuckooFilter(ids: number): CuckooFilter {
  const buckets = Math.max(1, Math.ceil(ids / (SLOTS * LOAD)));
  const slots = new Uint16Array(buckets * SLOTS);
  const scale = buckets / 2 ** 32;
  let taken = 0;

  return {
    add(low, high) {
      const tag = tagOf(low);
      const first = (high * scale) | 0;
      if (holdsTag(slots, first, tag)) return;
      const second = otherBucket(buckets, first, tag);
      if (holdsTag(slots, second, tag)) return;
      const isPut = putTag(slots, first, tag) || putTag(slots, second, tag);
      if (isPut || moveOthers(slots, buckets, second, tag)) taken += 1;
    },
    mayContain(low, high) {
      const tag = tagOf(low);
      const first = (high * scale) | 0;
      return holdsTag(slots, first, tag) || holdsTag(slots, otherBucket(buckets, first, tag), tag);
    },
    size: () => taken,
    capacity: Math.floor(buckets * SLOTS * LOAD),
    bytes: slots.byteLength,
  };
}

/** Returns the hash's last 16 bits, without the two values that mean something else. */
function tagOf(low: number): number {
  const tag = low & 0xffff;
  if (tag === EMPTY) return 1;
  return tag === OVERFLOWED ? OVERFLOWED - 1 : tag;
}

/** Returns the other bucket of a tag. The other one's other bucket is the first again. */
function otherBucket(buckets: number, bucket: number, tag: number): number {
  const sum = ((Math.imul(tag, 0x9e3779b1) >>> 0) * (buckets / 2 ** 32)) | 0;
  const other = sum - bucket;
  return other < 0 ? other + buckets : other;
}

function holdsTag(slots: Uint16Array, bucket: number, tag: number): boolean {
  const at = bucket * SLOTS;
  const first = slots[at]!;
  if (first === tag || first === OVERFLOWED) return true;
  return slots[at + 1] === tag || slots[at + 2] === tag || slots[at + 3] === tag;
}

function putTag(slots: Uint16Array, bucket: number, tag: number): boolean {
  const at = bucket * SLOTS;
  for (let slot = at; slot < at + SLOTS; slot++) {
    if (slots[slot] !== EMPTY) continue;
    slots[slot] = tag;
    return true;
  }
  return false;
}

let random = 0x9e3779b9;

/**
 * Puts a tag of which both buckets are full, and moves others on until one finds room. Returns
 * false when none does: the bucket where the search ended is then overflowed.
 */
function moveOthers(slots: Uint16Array, buckets: number, from: number, added: number): boolean {
  let bucket = from;
  let tag = added;
  for (let move = 0; move < MOST_MOVES; move++) {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
    const slot = bucket * SLOTS + (random >>> 30);
    const moved = slots[slot]!;
    slots[slot] = tag;
    tag = moved;
    bucket = otherBucket(buckets, bucket, tag);
    if (slots[bucket * SLOTS] === OVERFLOWED) return false;
    if (putTag(slots, bucket, tag)) return true;
  }
  slots[bucket * SLOTS] = OVERFLOWED;
  return false;
}
