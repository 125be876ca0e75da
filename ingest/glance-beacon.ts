import { isUtf8 } from "node:buffer";
import { afterBlanks, afterColon, afterString, afterValue, isDigit, isHex, isText, seen } from "./scan-json.ts";

/** What the edge needs of a beacon whose events are all good. */
export interface Glance {
  key: string;
  /** The session's id, else the first that any event has, else empty; as `partitionKeyOf` says of a beacon that was parsed. */
  partitionKey: string;
  events: number;
}

const QUOTE = 0x22;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const MAX_EVENTS = 100;

/** Fields that are looked into, each with a bit of its own that tells a second one from the first. */
interface Fields {
  names: readonly string[];
  /** By length and last letter, which tell them all apart: the place among the names, or -1. */
  places: Int8Array;
}

function fieldsOf(names: readonly string[]): Fields {
  const places = new Int8Array(16 * 32).fill(-1);
  for (const [place, name] of names.entries()) places[slotOf(name.length, name.charCodeAt(name.length - 1))] = place;
  return { names, places };
}

function slotOf(length: number, lastLetter: number): number {
  return ((length & 15) << 5) | (lastLetter & 31);
}

const ENVELOPE = fieldsOf(["key", "release", "environment", "session_id", "user", "events"]);
const USER = fieldsOf(["id"]);
const EVENT = fieldsOf(["type", "event_id", "timestamp", "message", "error_type", "stack", "url", "level", "handled", "breadcrumbs", "fingerprint", "causes", "tags", "debug_ids"]);

/**
 * Looks an ordinary beacon over without making its objects, which is most of what taking one in costs. Null for anything out of the
 * ordinary, good or bad: then `readJson` and `readBeacon` have the word. What passes here passes there too (a test holds that).
 */
export function glanceBeacon(bytes: Uint8Array): Glance | null {
  const found: Found = { bytes, key: "", sessionId: "", eventId: "", events: 0, beyond: { ascii: false } };
  const end = afterObject(found, afterBlanks(bytes, 0), ENVELOPE, takeEnvelopeField);
  if (end === -1 || found.key === "" || found.events === 0 || afterBlanks(bytes, end) !== bytes.length) return null;
  if (found.beyond.ascii && !isUtf8(bytes)) return null;
  return { key: found.key, partitionKey: found.sessionId || found.eventId, events: found.events };
}

interface Found {
  bytes: Uint8Array;
  key: string;
  sessionId: string;
  /** The first that any event has. */
  eventId: string;
  events: number;
  beyond: { ascii: boolean };
}

/** Where the value of a field (its place among the names; -1 for others) ends, or -1. */
type TakeField = (found: Found, field: number, at: number) => number;

/** Goes through an object's fields. -1 too when one of `names` comes twice, or a name holds an escape and may be any. */
function afterObject(found: Found, at: number, fields: Fields, take: TakeField): number {
  const { bytes } = found;
  if (bytes[at] !== OPEN) return -1;
  let given = 0;
  let next = afterBlanks(bytes, at + 1);
  for (;;) {
    if (bytes[next] !== QUOTE) return -1;
    const nameAt = next + 1;
    next = afterString(bytes, next);
    if (next === -1 || seen.escape) return -1;
    if (seen.beyondAscii) found.beyond.ascii = true;
    const field = fieldAt(bytes, nameAt, next - 1, fields);
    if (field !== -1) {
      if ((given & (1 << field)) !== 0) return -1;
      given |= 1 << field;
    }
    next = afterColon(bytes, next);
    if (next === -1) return -1;
    next = take(found, field, next);
    if (next === -1) return -1;
    next = afterBlanks(bytes, next);
    if (bytes[next] === CLOSE) return fields !== EVENT || isWhole(given) ? next + 1 : -1;
    if (bytes[next] !== 0x2c) return -1;
    next = afterBlanks(bytes, next + 1);
  }
}

/** An event needs a type; and a message, which not every error needs but nearly every one has. */
function isWhole(given: number): boolean {
  return (given & 0b1001) === 0b1001;
}

function fieldAt(bytes: Uint8Array, at: number, end: number, { names, places }: Fields): number {
  if (end === at) return -1;
  const place = places[slotOf(end - at, bytes[end - 1]!)]!;
  return place !== -1 && isText(bytes, at, end, names[place]!) ? place : -1;
}

function takeEnvelopeField(found: Found, field: number, at: number): number {
  switch (field) {
    case 0:
      return (found.key = keyAt(found.bytes, at)) === "" ? -1 : at + found.key.length + 2;
    case 1:
    case 2:
      return afterText(found, at);
    case 3:
      return (found.sessionId = plainText(found.bytes, at)) === "" ? -1 : at + found.sessionId.length + 2;
    case 4:
      return afterObject(found, at, USER, takeUserField);
    case 5:
      return afterEvents(found, at);
    default:
      return afterValue(found.bytes, at, found.beyond);
  }
}

function takeUserField(found: Found, field: number, at: number): number {
  return field === 0 ? afterText(found, at) : afterValue(found.bytes, at, found.beyond);
}

function afterEvents(found: Found, at: number): number {
  const { bytes } = found;
  if (bytes[at] !== 0x5b) return -1;
  let next = at;
  for (;;) {
    next = afterObject(found, afterBlanks(bytes, next + 1), EVENT, takeEventField);
    if (next === -1 || found.events === MAX_EVENTS) return -1;
    found.events += 1;
    next = afterBlanks(bytes, next);
    if (bytes[next] === 0x5d) return next + 1;
    if (bytes[next] !== 0x2c) return -1;
  }
}

function takeEventField(found: Found, field: number, at: number): number {
  const { bytes } = found;
  // In the order of EVENT.
  switch (field) {
    case -1:
      return afterValue(bytes, at, found.beyond);
    case 0:
      return isText(bytes, at, at + 7, '"error"') ? at + 7 : isText(bytes, at, at + 9, '"message"') ? at + 9 : -1;
    case 1:
      return takeEventId(found, at);
    case 2:
      return isMoment(bytes, at) ? at + MOMENT.length : -1;
    case 3:
      return bytes[at + 1] === QUOTE ? -1 : afterText(found, at);
    case 4:
    case 5:
    case 6:
    case 7:
      return afterText(found, at);
    case 8:
      return bytes[at] === 0x74 || bytes[at] === 0x66 ? afterValue(bytes, at, found.beyond) : -1;
    case 9:
      return bytes[at] === 0x5b ? afterValue(bytes, at, found.beyond) : -1;
    default:
      // Those with rules of their own inside are rarer.
      return -1;
  }
}

function afterText({ bytes, beyond }: Found, at: number): number {
  if (bytes[at] !== QUOTE) return -1;
  const end = afterString(bytes, at);
  if (end !== -1 && seen.beyondAscii) beyond.ascii = true;
  return end;
}

/** A string of ASCII without escapes, or empty when it is something else. */
function plainText(bytes: Uint8Array, at: number): string {
  if (bytes[at] !== QUOTE) return "";
  const end = afterString(bytes, at);
  if (end === -1 || seen.escape || seen.beyondAscii) return "";
  return Buffer.from(bytes.buffer, bytes.byteOffset + at + 1, end - at - 2).toString("latin1");
}

/** The key of the beacon before: most senders of one service send one after the other, and a text that is kept has its hash. */
let lastKey = "";

function keyAt(bytes: Uint8Array, at: number): string {
  const end = at + 1 + lastKey.length;
  if (lastKey !== "" && bytes[at] === QUOTE && bytes[end] === QUOTE && isText(bytes, at + 1, end, lastKey)) return lastKey;
  return (lastKey = plainText(bytes, at));
}

/** A UUID in quotes; the first one's text is kept while no session has a say. */
function takeEventId(found: Found, at: number): number {
  const { bytes } = found;
  if (bytes[at] !== QUOTE || bytes[at + 37] !== QUOTE) return -1;
  for (let index = 1; index <= 36; index++) {
    const byte = bytes[at + index]!;
    const isDash = index === 9 || index === 14 || index === 19 || index === 24;
    if (isDash ? byte !== 0x2d : !isHex(byte)) return -1;
  }
  if (found.eventId === "" && found.sessionId === "") found.eventId = plainText(bytes, at);
  return at + 38;
}

/** A d stands for a digit. */
const MOMENT = new TextEncoder().encode('"dddd-dd-ddTdd:dd:dd.dddZ"');
const DAYS = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** As toISOString writes it, in quotes; every date that it says is one. */
function isMoment(bytes: Uint8Array, at: number): boolean {
  if (at + MOMENT.length > bytes.length) return false;
  for (let index = 0; index < MOMENT.length; index++) {
    const wanted = MOMENT[index]!;
    const byte = bytes[at + index]!;
    if (wanted === 0x64 ? !isDigit(byte) : byte !== wanted) return false;
  }
  const month = twoDigits(bytes, at + 6);
  const day = twoDigits(bytes, at + 9);
  return month >= 1 && month <= 12 && day >= 1 && day <= DAYS[month]! && twoDigits(bytes, at + 12) < 24 && twoDigits(bytes, at + 15) < 60 && twoDigits(bytes, at + 18) < 60;
}

function twoDigits(bytes: Uint8Array, at: number): number {
  return (bytes[at]! - 0x30) * 10 + bytes[at + 1]! - 0x30;
}
