import { derivedId, isUuid } from "../../platform/ids.ts";
import { momentOf, readBeacon, type Beacon, type BeaconEvent } from "../../schemas/messages/beacon.ts";
import { NIL_SIGNATURE, type BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import { makeCutter, type Cutter } from "./cut-text.ts";
import { describeError, type Described } from "./describe-error.ts";
import { signatureId } from "./signature-id.ts";
import type { ScriptMaps } from "./symbolicate.ts";
import { isDeeperThan, readJson } from "../../schemas/messages/read-json.ts";

/** One accepted request, as the edge put it into the log. */
export interface BeaconEntry {
  body: Uint8Array;
  /** Milliseconds since the epoch, by the edge's clock. */
  receivedAt: number;
  organizationId: string;
  serviceId: string;
}

/** Where the entry stands in the log; `firstIndex` is the index of its first row within the record. */
export interface EntryPlace {
  logId: string;
  partition: number;
  offset: bigint;
  edgeId: string;
  sequence: bigint;
  entryIndex: number;
  firstIndex: number;
}

/** The maps for events of a service's release ("" for none), whose scripts may tell their debug ids; null for none. */
export type MapsOf = (serviceId: string, release: string, debugIds: Record<string, string> | null) => ScriptMaps | null;

const noMaps: MapsOf = () => null;

/** A client's clock is believed within these bounds around the receipt. */
const OLDEST_MS = 24 * 3_600_000;
const FURTHEST_AHEAD_MS = 5 * 60_000;

const LIMITS = { message: 8_192, url: 2_048, short: 200, environment: 64, tags: 64, breadcrumbs: 100, crumbDepth: 16, debugIds: 100 } as const;

/**
 * The rows of table `beacon_events` for one accepted body: events read again, stacks parsed, grouped, cut to the limits.
 * The same entry at the same place, with the same maps, always gives the same rows. Events that the edge rejected give none.
 */
export function rowsOfBody(entry: BeaconEntry, place: EntryPlace, mapsOf: MapsOf = noMaps): BeaconEventRow[] {
  const reading = readBeacon(parsed(entry.body));
  if (reading.kind === "invalid") return [];
  const envelope = envelopeOf(reading.beacon, entry, place, mapsOf);
  return reading.events.map(({ index, event }, position) => rowOf(event, envelope, place.firstIndex + position, index));
}

/** The edge has parsed these bytes before; what it would not have taken gives no events. */
function parsed(body: Uint8Array): unknown {
  try {
    return readJson(body);
  } catch {
    return null;
  }
}

/** What all rows of a body share. */
interface Envelope {
  entry: BeaconEntry;
  place: EntryPlace;
  offset: string;
  receivedAt: string;
  sessionId: string;
  userId: string;
  release: string;
  /** Of an event that names no debug ids. */
  maps: ScriptMaps | null;
  mapsOf: MapsOf;
  environment: string;
  sdk: string;
  truncated: boolean;
}

function envelopeOf(beacon: Beacon, entry: BeaconEntry, place: EntryPlace, mapsOf: MapsOf): Envelope {
  const cut = makeCutter();
  const release = cut.text(beacon.release, LIMITS.short);
  return {
    entry,
    place,
    offset: String(place.offset),
    receivedAt: clickhouseMoment(entry.receivedAt),
    sessionId: cut.text(beacon.session_id, LIMITS.short),
    userId: cut.text(String(beacon.user?.id ?? ""), LIMITS.short),
    release,
    maps: mapsOf(entry.serviceId, release, null),
    mapsOf,
    environment: cut.text(beacon.environment, LIMITS.environment) || "production",
    sdk: cut.text(nameOfSdk(beacon.sdk), LIMITS.short),
    truncated: cut.truncated(),
  };
}

function nameOfSdk(sdk: unknown): string {
  if (typeof sdk === "string") return sdk;
  if (typeof sdk !== "object" || sdk === null) return "";
  const { name, version } = sdk as { name?: unknown; version?: unknown };
  return [name, version].filter((part) => typeof part === "string").join("/");
}

/** Every field by name and no spreading: this runs for each event of the service, and spreading took most of its time. */
function rowOf(event: BeaconEvent, envelope: Envelope, index: number, eventIndex: number): BeaconEventRow {
  const { entry, place } = envelope;
  const cut = makeCutter();
  const vital = event.type === "vital";
  const message = cut.text(event.message, LIMITS.message);
  const debugIds = event.debug_ids ? debugIdsOf(event, cut) : null;
  const error = vital ? NO_ERROR : describeError(event, message, { release: envelope.release, maps: debugIds ? envelope.mapsOf(entry.serviceId, envelope.release, debugIds) : envelope.maps }, cut);
  return {
    log_id: place.logId,
    partition: place.partition,
    offset: envelope.offset,
    index,
    organization_id: entry.organizationId,
    service_id: entry.serviceId,
    signature_id: vital ? NIL_SIGNATURE : signatureId(entry.serviceId, error.version, error.fingerprint),
    event_id: event.event_id?.toLowerCase() ?? derivedId(place.edgeId, String(place.sequence), String(place.entryIndex), String(eventIndex)),
    event_id_given: typeof event.event_id === "string",
    type: event.type,
    received_at: envelope.receivedAt,
    occurred_at: occurredAt(event.timestamp, envelope),
    session_id: envelope.sessionId,
    user_id: envelope.userId,
    release: envelope.release,
    environment: envelope.environment,
    grouping_version: error.version,
    fingerprint: error.fingerprint,
    grouping_parts: error.parts,
    error_type: error.type,
    message,
    culprit: error.culprit,
    category: error.category,
    handled: error.handled,
    level: cut.text(event.level, LIMITS.short) || (event.type === "error" ? "error" : "info"),
    stack: error.stack,
    frames: error.frames,
    debug_ids: debugIds === null || vital ? "" : JSON.stringify(debugIds),
    causes: error.causes,
    breadcrumbs: crumbsOf(event.breadcrumbs, cut),
    tags: event.tags ? tagsOf(event.tags, cut) : {},
    url: cut.text(event.url, LIMITS.url),
    sdk: envelope.sdk,
    name: vital ? cut.text(event.name, LIMITS.short) : "",
    value: vital ? (event.value ?? 0) : 0,
    truncated: cut.truncated() || envelope.truncated,
    detailed: true,
  };
}

/** By script, of those that the stacks name: a page has many more. Null when none is valid. */
function debugIdsOf({ debug_ids: given, stack, causes }: BeaconEvent, cut: Cutter): Record<string, string> | null {
  const stacks = [stack ?? "", ...(causes ?? []).map((cause) => cause.stack ?? "")];
  const valid = Object.entries(given!).filter(([url, id]) => url.length <= LIMITS.url && isUuid(id) && stacks.some((text) => text.includes(url)));
  return valid.length === 0 ? null : Object.fromEntries(cut.list(valid, LIMITS.debugIds).map(([url, id]) => [url, id.toLowerCase()]));
}

/** JSON; the latest breadcrumbs tell how it came to the error. One nested without reason is left out: writing it would overflow the stack. */
function crumbsOf(breadcrumbs: unknown[] | null | undefined, cut: Cutter): string {
  if (!breadcrumbs || breadcrumbs.length === 0) return "[]";
  if (breadcrumbs.length > LIMITS.breadcrumbs) cut.lost();
  const shallow = breadcrumbs.slice(-LIMITS.breadcrumbs).filter((crumb) => !isDeeperThan(crumb, LIMITS.crumbDepth));
  if (shallow.length < Math.min(breadcrumbs.length, LIMITS.breadcrumbs)) cut.lost();
  return JSON.stringify(shallow);
}

const NO_ERROR: Described = { version: "", fingerprint: "", parts: "", type: "", culprit: "", category: "", handled: true, stack: "", frames: "", causes: "[]" };

function occurredAt(timestamp: string | number | null | undefined, { entry, receivedAt }: Envelope): string {
  const moment = momentOf(timestamp);
  const believed = moment !== null && moment >= entry.receivedAt - OLDEST_MS && moment <= entry.receivedAt + FURTHEST_AHEAD_MS;
  return believed ? clickhouseMoment(moment) : receivedAt;
}

function tagsOf(tags: NonNullable<BeaconEvent["tags"]>, cut: Cutter): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of cut.list(Object.entries(tags), LIMITS.tags)) {
    // Defined, not assigned: a tag may be called __proto__.
    if (value !== null) Object.defineProperty(kept, cutTag(name, cut), { value: cutTag(String(value), cut), enumerable: true, configurable: true, writable: true });
  }
  return kept;
}

/** Tags are limited in characters, not in bytes. */
function cutTag(text: string, cut: Cutter): string {
  if (text.length <= LIMITS.short) return cut.text(text, Infinity);
  // A character takes at most two units of UTF-16.
  const kept = Array.from(text.slice(0, LIMITS.short * 2)).slice(0, LIMITS.short).join("");
  if (kept.length < text.length) cut.lost();
  return cut.text(kept, Infinity);
}

/** The second that was written last: the moments of neighbours share it. */
let lastSecond = Number.NaN;
let lastPrefix = "";

function clickhouseMoment(milliseconds: number): string {
  const whole = Math.trunc(milliseconds);
  const rest = ((whole % 1_000) + 1_000) % 1_000;
  const second = whole - rest;
  if (second !== lastSecond) {
    const iso = new Date(second).toISOString();
    lastPrefix = `${iso.slice(0, 10)} ${iso.slice(11, 20)}`;
    lastSecond = second;
  }
  return lastPrefix + (rest < 10 ? `00${rest}` : rest < 100 ? `0${rest}` : rest);
}
