/**
 * The partition of a key, as Kafka's default partitioner chooses it: murmur2 over the UTF-8 bytes,
 * the sign bit cleared, modulo the number of partitions (org.apache.kafka.common.utils.Utils.murmur2).
 */
export function murmur2Partition(key: string, partitions: number): number {
  return (murmur2(bytesOf(key)) & 0x7fff_ffff) % partitions;
}

/** Written over by each call: keys are nearly always ids of a few ASCII characters, and an edge hashes one for each request. */
const short = new Uint8Array(64);
/** One view for each length, so that no call makes an object. */
const shortOf = Array.from({ length: short.byteLength + 1 }, (_, length) => short.subarray(0, length));

function bytesOf(key: string): Uint8Array {
  if (key.length > short.byteLength) return Buffer.from(key);
  for (let at = 0; at < key.length; at++) {
    const code = key.charCodeAt(at);
    if (code > 0x7f) return Buffer.from(key);
    short[at] = code;
  }
  return shortOf[key.length]!;
}

const M = 0x5bd1e995;

function murmur2(bytes: Uint8Array): number {
  const { length } = bytes;
  let hash = 0x9747b28c ^ length;
  const whole = length & ~3;
  for (let at = 0; at < whole; at += 4) {
    let word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    word = Math.imul(word, M);
    word ^= word >>> 24;
    word = Math.imul(word, M);
    hash = Math.imul(hash, M) ^ word;
  }
  const rest = length - whole;
  if (rest === 3) hash ^= bytes[whole + 2]! << 16;
  if (rest >= 2) hash ^= bytes[whole + 1]! << 8;
  if (rest >= 1) {
    hash ^= bytes[whole]!;
    hash = Math.imul(hash, M);
  }
  hash ^= hash >>> 13;
  hash = Math.imul(hash, M);
  hash ^= hash >>> 15;
  return hash;
}
