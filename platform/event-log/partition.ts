/**
 * The partition of a key, as Kafka's default partitioner chooses it: murmur2 over the UTF-8 bytes,
 * the sign bit cleared, modulo the number of partitions (org.apache.kafka.common.utils.Utils.murmur2).
 */
export function murmur2Partition(key: string, partitions: number): number {
  return (murmur2(Buffer.from(key)) & 0x7fff_ffff) % partitions;
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
