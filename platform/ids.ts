import { hash, randomBytes, randomUUID } from "node:crypto";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A random (version 4) UUID. */
export function newId(): string {
  return randomUUID();
}

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/**
 * A UUID that the same parts always give (RFC 9562 version 8, from SHA-256), for things that
 * several processors must name alike without asking each other.
 */
export function derivedId(...parts: string[]): string {
  const hex = hash("sha256", parts.join("\u0000"), "hex");
  const variant = "89ab"[Number.parseInt(hex[16]!, 16) & 3]!;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const HEX = Buffer.from("0123456789abcdef");
/** One for all: a UUID is written into it and read from it in one go, with no other work between. */
const uuidText = Buffer.from("00000000-0000-0000-0000-000000000000");

/** By hand: every entry of the log has two, and `toString("hex")` with its slices takes several times as long. */
export function uuidFromBytes(bytes: Uint8Array): string {
  let at = 0;
  for (let index = 0; index < 16; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) at++;
    const byte = bytes[index]!;
    uuidText[at++] = HEX[byte >> 4]!;
    uuidText[at++] = HEX[byte & 15]!;
  }
  return uuidText.toString("latin1");
}

export function uuidToBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll("-", ""), "hex");
}

/** `length` characters drawn evenly from 0-9A-Za-z by rejection. */
export function randomBase62(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

/** A number below 62^length, in base 62, padded with zeros to `length`. */
export function toBase62(value: number, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = BASE62[rest % 62]! + text;
  return text;
}
