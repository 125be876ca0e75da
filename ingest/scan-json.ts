/** What was seen in the string that was scanned last: an escape, or bytes beyond ASCII. */
export const seen = { escape: false, beyondAscii: false };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Deeper bodies are left to JSON.parse. */
const MAX_DEPTH = 16;

/** By byte: 1 may stand in a string as it is, 2 too but is no ASCII, 0 ends the run. */
const IN_STRING = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x80 ? 2 : byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0));
const AFTER_BACKSLASH = new Set(Buffer.from('"\\/bfnrt'));

/*
 * The functions below say where a piece of JSON that begins at `at` ends, or -1 when it is no JSON (or too deep). They take what
 * JSON.parse takes, nothing more; that the bytes are UTF-8 is not looked at.
 */

/** Past blanks. */
export function afterBlanks(bytes: Uint8Array, at: number): number {
  let next = at;
  for (; next < bytes.length; next++) {
    const byte = bytes[next]!;
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
  }
  return next;
}

/** `at` is its opening quote; fills `seen`. */
export function afterString(bytes: Uint8Array, at: number): number {
  seen.escape = false;
  let classes = 0;
  let next = at + 1;
  const { length } = bytes;
  while (next < length) {
    const byte = bytes[next]!;
    const kind = IN_STRING[byte]!;
    if (kind !== 0) {
      classes |= kind;
      next += 1;
    } else if (byte === QUOTE) {
      seen.beyondAscii = (classes & 2) !== 0;
      return next + 1;
    } else if (byte === BACKSLASH) {
      seen.escape = true;
      next = afterEscape(bytes, next + 1);
      if (next === -1) return -1;
    } else return -1;
  }
  return -1;
}

function afterEscape(bytes: Uint8Array, at: number): number {
  if (at >= bytes.length) return -1;
  if (bytes[at] !== 0x75) return AFTER_BACKSLASH.has(bytes[at]!) ? at + 1 : -1;
  if (at + 4 >= bytes.length) return -1;
  for (let digit = at + 1; digit <= at + 4; digit++) if (!isHex(bytes[digit]!)) return -1;
  return at + 5;
}

export function isHex(byte: number): boolean {
  return isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** Any value; `beyond.ascii` is set when one of its strings holds such bytes. */
export function afterValue(bytes: Uint8Array, at: number, beyond: { ascii: boolean }, depth = 0): number {
  if (at >= bytes.length || depth > MAX_DEPTH) return -1;
  switch (bytes[at]) {
    case QUOTE: {
      const end = afterString(bytes, at);
      if (end !== -1 && seen.beyondAscii) beyond.ascii = true;
      return end;
    }
    case 0x7b: // {
      return afterMembers(bytes, at, 0x7d, beyond, depth);
    case 0x5b: // [
      return afterMembers(bytes, at, 0x5d, beyond, depth);
    case 0x74: // t
      return afterWord(bytes, at, "true");
    case 0x66: // f
      return afterWord(bytes, at, "false");
    case 0x6e: // n
      return afterWord(bytes, at, "null");
    default:
      return afterNumber(bytes, at);
  }
}

/** An array or, when it ends by a brace, an object. */
function afterMembers(bytes: Uint8Array, at: number, closing: number, beyond: { ascii: boolean }, depth: number): number {
  let next = afterBlanks(bytes, at + 1);
  if (bytes[next] === closing) return next + 1;
  while (next < bytes.length) {
    if (closing === 0x7d) {
      if (bytes[next] !== QUOTE) return -1;
      next = afterString(bytes, next);
      if (next === -1) return -1;
      if (seen.beyondAscii) beyond.ascii = true;
      next = afterColon(bytes, next);
      if (next === -1) return -1;
    }
    next = afterValue(bytes, next, beyond, depth + 1);
    if (next === -1) return -1;
    next = afterBlanks(bytes, next);
    if (bytes[next] === closing) return next + 1;
    if (bytes[next] !== 0x2c) return -1;
    next = afterBlanks(bytes, next + 1);
  }
  return -1;
}

/** The colon after a member's name and the blanks around it: where the value begins. */
export function afterColon(bytes: Uint8Array, at: number): number {
  const colon = afterBlanks(bytes, at);
  return bytes[colon] === 0x3a ? afterBlanks(bytes, colon + 1) : -1;
}

function afterWord(bytes: Uint8Array, at: number, word: string): number {
  return isText(bytes, at, at + word.length, word) ? at + word.length : -1;
}

/** Whether exactly this ASCII text stands from `at` to `end`. */
export function isText(bytes: Uint8Array, at: number, end: number, text: string): boolean {
  if (end - at !== text.length || end > bytes.length) return false;
  for (let index = 0; index < text.length; index++) if (bytes[at + index] !== text.charCodeAt(index)) return false;
  return true;
}

function afterNumber(bytes: Uint8Array, at: number): number {
  let next = bytes[at] === 0x2d ? at + 1 : at;
  if (!isDigit(bytes[next])) return -1;
  next = bytes[next] === 0x30 ? next + 1 : afterDigits(bytes, next);
  if (bytes[next] === 0x2e) {
    if (!isDigit(bytes[next + 1])) return -1;
    next = afterDigits(bytes, next + 1);
  }
  if (next < bytes.length && (bytes[next]! | 0x20) === 0x65) {
    const sign = bytes[next + 1];
    const digits = sign === 0x2b || sign === 0x2d ? next + 2 : next + 1;
    if (!isDigit(bytes[digits])) return -1;
    next = afterDigits(bytes, digits);
  }
  return next;
}

function afterDigits(bytes: Uint8Array, at: number): number {
  let next = at;
  while (next < bytes.length && isDigit(bytes[next])) next += 1;
  return next;
}
