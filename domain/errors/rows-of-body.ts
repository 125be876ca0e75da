import { derivedId } from "../../platform/ids.ts";
import { momentOf, readBeacon, type Beacon, type BeaconEvent } from "../../schemas/messages/beacon.ts";
import { NIL_SIGNATURE, type BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import { makeCutter, type Cutter } from "./cut-text.ts";
import { describeError } from "./describe-error.ts";
import { remember } from "./remember.ts";

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

/** A client's clock is believed within these bounds around the receipt. */
const OLDEST_MS = 24 * 3_600_000;
const FURTHEST_AHEAD_MS = 5 * 60_000;

const LIMITS = { message: 8_192, url: 2_048, short: 200, environment: 64, tags: 64, breadcrumbs: 100 } as const;

/**
 * The rows of table `beacon_events` for one accepted body: events read again, stacks parsed, grouped, cut to the limits.
 * The same entry at the same place always gives the same rows. Events that the edge rejected give none.
 */
export function rowsOfBody(entry: BeaconEntry, place: EntryPlace): BeaconEventRow[] {
  const reading = readBeacon(parsed(entry.body));
  if (reading.kind === "invalid") return [];
  const envelope = envelopeOf(reading.beacon, entry, place);
  return reading.events.map(({ index, event }, position) => rowOf(event, envelope, entry.receivedAt, {
    index: place.firstIndex + position,
    eventId: event.event_id?.toLowerCase() ?? derivedId(place.edgeId, String(place.sequence), String(place.entryIndex), String(index)),
  }));
}

/** The edge has parsed these bytes before; what it would not have taken gives no events. */
function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString().replace(/^\ufeff/, ""));
  } catch {
    return null;
  }
}

type Envelope = Pick<
  BeaconEventRow,
  "log_id" | "partition" | "offset" | "organization_id" | "service_id" | "received_at" | "session_id" | "user_id" | "release" | "environment" | "sdk"
> & { truncated: boolean };

function envelopeOf(beacon: Beacon, entry: BeaconEntry, place: EntryPlace): Envelope {
  const cut = makeCutter();
  return {
    log_id: place.logId,
    partition: place.partition,
    offset: String(place.offset),
    organization_id: entry.organizationId,
    service_id: entry.serviceId,
    received_at: clickhouseMoment(entry.receivedAt),
    session_id: cut.text(beacon.session_id, LIMITS.short),
    user_id: cut.text(beacon.user?.id == null ? "" : String(beacon.user.id), LIMITS.short),
    release: cut.text(beacon.release, LIMITS.short),
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

function rowOf(event: BeaconEvent, { truncated, ...envelope }: Envelope, receivedAt: number, { index, eventId }: { index: number; eventId: string }): BeaconEventRow {
  const cut = makeCutter();
  const message = cut.text(event.message, LIMITS.message);
  const breadcrumbs = event.breadcrumbs ?? [];
  // The latest breadcrumbs tell how it came to the error.
  const crumbs = breadcrumbs.slice(-LIMITS.breadcrumbs);
  if (crumbs.length < breadcrumbs.length) cut.lost();
  const vital = event.type === "vital";
  const described = vital ? NO_ERROR : describeError(event, message, envelope.release, cut);
  return {
    ...envelope,
    index,
    signature_id: vital ? NIL_SIGNATURE : signatureId(`${envelope.service_id} ${described.grouping_version} ${described.fingerprint}`),
    event_id: eventId,
    event_id_given: event.event_id != null,
    type: event.type,
    occurred_at: clickhouseMoment(occurredAt(event.timestamp, receivedAt)),
    message,
    ...described,
    level: cut.text(event.level, LIMITS.short) || (event.type === "error" ? "error" : "info"),
    breadcrumbs: crumbs.length === 0 ? "[]" : JSON.stringify(crumbs),
    tags: tagsOf(event.tags ?? {}, cut),
    url: cut.text(event.url, LIMITS.url),
    name: vital ? cut.text(event.name, LIMITS.short) : "",
    value: vital ? (event.value ?? 0) : 0,
    truncated: truncated || cut.truncated(),
  };
}

const NO_ERROR = {
  grouping_version: "", fingerprint: "", grouping_parts: "[]", error_type: "", culprit: "", category: "" as const, handled: true, stack: "", frames: "[]", causes: "[]",
};

/** The id of a signature follows from what makes it one, so that no processor has to look it up. */
const signatureId = remember(20_000, (text) => derivedId(...text.split(" ")));

function occurredAt(timestamp: string | number | null | undefined, receivedAt: number): number {
  const moment = timestamp == null ? null : momentOf(timestamp);
  return moment !== null && moment >= receivedAt - OLDEST_MS && moment <= receivedAt + FURTHEST_AHEAD_MS ? moment : receivedAt;
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
  cut.lost();
  return cut.text([...text.slice(0, LIMITS.short * 2)].slice(0, LIMITS.short).join(""), Infinity);
}

function clickhouseMoment(milliseconds: number): string {
  const iso = new Date(milliseconds).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}`;
}
