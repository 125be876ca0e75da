/** Castagnoli's polynomial, bits reversed (RFC 3720, appendix B.4). */
const POLYNOMIAL = 0x82f6_3b78;

/** TABLES[n][byte]: what a byte does to the sum n bytes later. Sixteen of them take sixteen bytes in a step without waiting for each other. */
const TABLES = makeTables();
const [T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15] = TABLES as [...FourTables, ...FourTables, ...FourTables, ...FourTables];

const NO_WORDS = new Int32Array(0);

type FourTables = [Int32Array, Int32Array, Int32Array, Int32Array];

function makeTables(): Int32Array[] {
  const tables = Array.from({ length: 16 }, () => new Int32Array(256));
  const first = tables[0]!;
  for (let byte = 0; byte < 256; byte++) {
    let sum = byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1;
    first[byte] = sum;
  }
  for (let at = 1; at < tables.length; at++) {
    const before = tables[at - 1]!;
    for (let byte = 0; byte < 256; byte++) tables[at]![byte] = (before[byte]! >>> 8) ^ first[before[byte]! & 0xff]!;
  }
  return tables;
}

/** CRC-32C of the bytes; `before` is the sum of the bytes that stand before them, so that parts can be summed one after the other. */
export function crc32c(bytes: Uint8Array, before = 0): number {
  const { length } = bytes;
  let sum = ~before;
  let at = 0;
  // Words are read where they are aligned; a view on a shared buffer may begin anywhere.
  for (const aligned = Math.min(length, -bytes.byteOffset & 3); at < aligned; at++) sum = T0[(sum ^ bytes[at]!) & 0xff]! ^ (sum >>> 8);
  const words = length - at < 16 ? NO_WORDS : new Int32Array(bytes.buffer, bytes.byteOffset + at, ((length - at) >>> 4) << 2);
  for (let word = 0; word < words.length; word += 4) {
    const a = words[word]! ^ sum;
    const b = words[word + 1]!;
    const c = words[word + 2]!;
    const d = words[word + 3]!;
    sum =
      T15[a & 0xff]! ^ T14[(a >>> 8) & 0xff]! ^ T13[(a >>> 16) & 0xff]! ^ T12[a >>> 24]! ^
      T11[b & 0xff]! ^ T10[(b >>> 8) & 0xff]! ^ T9[(b >>> 16) & 0xff]! ^ T8[b >>> 24]! ^
      T7[c & 0xff]! ^ T6[(c >>> 8) & 0xff]! ^ T5[(c >>> 16) & 0xff]! ^ T4[c >>> 24]! ^
      T3[d & 0xff]! ^ T2[(d >>> 8) & 0xff]! ^ T1[(d >>> 16) & 0xff]! ^ T0[d >>> 24]!;
  }
  at += words.byteLength;
  for (; at < length; at++) sum = T0[(sum ^ bytes[at]!) & 0xff]! ^ (sum >>> 8);
  return ~sum >>> 0;
}
