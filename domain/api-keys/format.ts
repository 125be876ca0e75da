import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { randomBase62, toBase62 } from "../../platform/ids.ts";

/** `psk_`, 34 random base62 characters, then 6 of their CRC-32: a mistyped key is refused without a look-up. */
const WELL_FORMED = /^psk_[0-9A-Za-z]{40}$/;
const RANDOM_LENGTH = 34;
const CHECKSUM_LENGTH = 6;

/** Characters kept for display. */
const PREFIX_LENGTH = 12;

interface NewApiKey {
  /** Shown to its maker once, never stored. */
  key: string;
  prefix: string;
  hash: Buffer;
}

export function makeApiKey(): NewApiKey {
  const random = randomBase62(RANDOM_LENGTH);
  const key = `psk_${random}${checksum(random)}`;
  return { key, prefix: key.slice(0, PREFIX_LENGTH), hash: hashApiKey(key) };
}

/** True when the text has a key's form and its checksum fits; says nothing about whether the key exists. */
export function isWellFormedApiKey(text: string): boolean {
  return WELL_FORMED.test(text) && checksum(text.slice(4, 4 + RANDOM_LENGTH)) === text.slice(4 + RANDOM_LENGTH);
}

/** SHA-256, as keys are stored. A key has 200 random bits, so nothing slower is needed. */
export function hashApiKey(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function checksum(random: string): string {
  return toBase62(crc32(random), CHECKSUM_LENGTH);
}
