import { z } from "zod";
import { BEACON_EVENT_TYPES, type BeaconEventType } from "../vocabulary.ts";

/**
 * The body of POST /api/beacon (conventions §8), as clients send it. A null counts as absent everywhere,
 * and fields that are not listed are ignored: clients are older or newer than the server.
 */
export interface Beacon {
  key: string;
  release?: string | null;
  /** `production` when absent. */
  environment?: string | null;
  session_id?: string | null;
  user?: { id?: string | number | null } | null;
  /** A name, or any object that describes the client. */
  sdk?: unknown;
  events: unknown[];
}

export interface BeaconEvent {
  /** Any UUID, in either case. */
  event_id?: string | null;
  type: BeaconEventType;
  /** ISO 8601 (UTC when it names no offset) or milliseconds since the epoch. */
  timestamp?: string | number | null;
  message?: string | null;
  error_type?: string | null;
  stack?: string | null;
  url?: string | null;
  handled?: boolean | null;
  level?: string | null;
  fingerprint?: string[] | null;
  causes?: BeaconCause[] | null;
  breadcrumbs?: unknown[] | null;
  tags?: Record<string, string | number | boolean | null> | null;
  /** Script URL → debug id. */
  debug_ids?: Record<string, string> | null;
  /** Vitals only. */
  name?: string | null;
  value?: number | null;
}

export interface BeaconCause {
  error_type?: string | null;
  message?: string | null;
  stack?: string | null;
}

interface RejectedEvent {
  index: number;
  /** JSON Pointer into the body. */
  path: string;
  error: string;
}

export type BeaconReading =
  | { kind: "read"; beacon: Beacon; events: { index: number; event: BeaconEvent }[]; rejected: RejectedEvent[] }
  | { kind: "invalid"; code: "INVALID_REQUEST" | "UNAUTHENTICATED"; error: string; path: string };

const MAX_BEACON_EVENTS = 100;

/**
 * Judges the parsed JSON of a beacon. One bad event is named in `rejected` and loses no neighbour; a bad envelope
 * refuses the whole body. Nothing is copied or cut: `beacon` and `events` are the given objects. Runs for every
 * request of the edge, hence by hand; `BeaconBody` says the same for the API description, and a test holds them together.
 */
export function readBeacon(value: unknown): BeaconReading {
  if (!isObject(value)) return invalid("The body must be a JSON object.", "");
  if (typeof value.key !== "string") return { kind: "invalid", code: "UNAUTHENTICATED", error: "The beacon key is missing.", path: "/key" };
  if (!isTextOrAbsent(value.release)) return invalid("release must be a text.", "/release");
  if (!isTextOrAbsent(value.environment)) return invalid("environment must be a text.", "/environment");
  if (!isTextOrAbsent(value.session_id)) return invalid("session_id must be a text.", "/session_id");
  const { user, events: given } = value;
  if (!isAbsent(user)) {
    if (!isObject(user)) return invalid("user must be an object.", "/user");
    if (!isTextOrAbsent(user.id) && typeof user.id !== "number") return invalid("user.id must be a text or a number.", "/user/id");
  }
  if (!Array.isArray(given)) return invalid("events must be an array of 1 to 100 events.", "/events");
  if (given.length === 0 || given.length > MAX_BEACON_EVENTS) return invalid(`events holds ${given.length} events; it must hold 1 to 100.`, "/events");

  const events: { index: number; event: BeaconEvent }[] = [];
  const rejected: RejectedEvent[] = [];
  for (let index = 0; index < given.length; index++) {
    const event: unknown = given[index];
    const fault = faultOf(event);
    if (fault === null) events.push({ index, event: event as BeaconEvent });
    else rejected.push({ index, path: `/events/${index}${fault.path}`, error: fault.error });
  }
  return { kind: "read", beacon: value as unknown as Beacon, events, rejected };
}

interface Fault {
  path: string;
  error: string;
}

/** What is wrong with one event, or null. */
function faultOf(event: unknown): Fault | null {
  if (!isObject(event)) return { path: "", error: "An event must be an object." };
  const { type } = event;
  if (type !== "error" && type !== "message" && type !== "vital") return { path: "/type", error: "type must be error, message or vital." };
  if (!isAbsent(event.event_id) && !isGuid(event.event_id)) return { path: "/event_id", error: "event_id must be a UUID." };
  if (!isAbsent(event.timestamp) && momentOf(event.timestamp) === null) {
    return { path: "/timestamp", error: "timestamp must be ISO 8601, such as 2026-01-31T12:00:00.000Z, or milliseconds since the epoch." };
  }
  if (!isTextOrAbsent(event.message)) return mustBeText("message");
  if (type === "vital") return faultOfVital(event) ?? faultOfDetails(event);
  if (type === "message" && !event.message) return { path: "/message", error: "A message event needs a message." };
  if (!isTextOrAbsent(event.error_type)) return mustBeText("error_type");
  if (type === "error" && isAbsent(event.message) && !event.error_type) return { path: "/message", error: "An error event needs a message or an error_type." };
  if (!isTextOrAbsent(event.stack)) return mustBeText("stack");
  if (!isAbsent(event.causes)) {
    const fault = faultOfCauses(event.causes);
    if (fault !== null) return fault;
  }
  return faultOfDetails(event);
}

function faultOfVital(event: Record<string, unknown>): Fault | null {
  if (typeof event.name !== "string" || event.name === "") return { path: "/name", error: "A vital needs a name." };
  if (typeof event.value !== "number" || !Number.isFinite(event.value)) return { path: "/value", error: "A vital needs a value that is a finite number." };
  return null;
}

/** The optional fields that every type of event shares. */
function faultOfDetails(event: Record<string, unknown>): Fault | null {
  if (!isTextOrAbsent(event.url)) return mustBeText("url");
  if (!isTextOrAbsent(event.level)) return mustBeText("level");
  const { handled, fingerprint, breadcrumbs, tags, debug_ids: debugIds } = event;
  if (!isAbsent(handled) && typeof handled !== "boolean") return { path: "/handled", error: "handled must be true or false." };
  if (!isAbsent(fingerprint)) {
    if (!Array.isArray(fingerprint)) return { path: "/fingerprint", error: "fingerprint must be an array of texts." };
    for (let at = 0; at < fingerprint.length; at++) {
      if (typeof fingerprint[at] !== "string") return { path: `/fingerprint/${at}`, error: "fingerprint must be an array of texts." };
    }
  }
  if (!isAbsent(breadcrumbs) && !Array.isArray(breadcrumbs)) return { path: "/breadcrumbs", error: "breadcrumbs must be an array." };
  if (!isAbsent(tags)) {
    if (!isObject(tags)) return { path: "/tags", error: "tags must be an object." };
    for (const name of Object.keys(tags)) {
      if (typeof tags[name] === "object" && tags[name] !== null) return { path: `/tags/${pointerStep(name)}`, error: "A tag must be a text, a number, true, false or null." };
    }
  }
  if (!isAbsent(debugIds)) {
    if (!isObject(debugIds)) return { path: "/debug_ids", error: "debug_ids must be an object of script URLs and ids." };
    for (const url of Object.keys(debugIds)) if (typeof debugIds[url] !== "string") return { path: `/debug_ids/${pointerStep(url)}`, error: "A debug id must be a text." };
  }
  return null;
}

function faultOfCauses(causes: unknown): Fault | null {
  if (!Array.isArray(causes)) return { path: "/causes", error: "causes must be an array." };
  for (let at = 0; at < causes.length; at++) {
    const cause: unknown = causes[at];
    if (!isObject(cause)) return { path: `/causes/${at}`, error: "A cause must be an object." };
    for (const field of ["error_type", "message", "stack"]) {
      if (!isTextOrAbsent(cause[field])) return { path: `/causes/${at}/${field}`, error: `${field} must be a text.` };
    }
  }
  return null;
}

const ISO = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/i;
/** The range of a JavaScript Date. */
const MAX_MOMENT = 8_640_000_000_000_000;

/** Milliseconds since the epoch of a timestamp, or null when it is none. The process's time zone has no say. */
export function momentOf(timestamp: unknown): number | null {
  if (typeof timestamp === "number") return Math.abs(timestamp) <= MAX_MOMENT ? timestamp : null;
  if (typeof timestamp !== "string") return null;
  const match = ISO.exec(timestamp);
  if (match === null) return null;
  // A date alone is read as UTC by the language, a date with a time and no offset as local time.
  const moment = Date.parse(timestamp.length > 10 && match[1] === undefined ? `${timestamp}Z` : timestamp);
  return Number.isNaN(moment) ? null : moment;
}

function invalid(error: string, path: string): BeaconReading {
  return { kind: "invalid", code: "INVALID_REQUEST", error, path };
}

function mustBeText(field: string): Fault {
  return { path: `/${field}`, error: `${field} must be a text.` };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function isTextOrAbsent(value: unknown): boolean {
  return typeof value === "string" || isAbsent(value);
}

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function isGuid(value: unknown): boolean {
  return typeof value === "string" && value.length === 36 && GUID.test(value);
}

/** RFC 6901 escaping of one step. */
function pointerStep(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

const text = z.string().nullish();
const momentText = z.string().refine((value) => momentOf(value) !== null, "must be ISO 8601").meta({ format: "date-time" });
const momentNumber = z.number().min(-MAX_MOMENT).max(MAX_MOMENT);

const Details = z.object({
  event_id: z.string().regex(GUID).nullish().meta({ format: "uuid", description: "Counts once within an hour, so a retry with the same id is safe." }),
  timestamp: z.union([momentText, momentNumber]).nullish().meta({ description: "ISO 8601 or milliseconds since the epoch; more than 24 h old or 5 min ahead, the time of receipt counts." }),
  url: text,
  handled: z.boolean().nullish(),
  level: text,
  fingerprint: z.array(z.string()).nullish().meta({ description: "Replaces the grouping; `{{default}}` stands for what it would have been." }),
  breadcrumbs: z.array(z.unknown()).nullish().meta({ description: "The last 100 are kept." }),
  tags: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).nullish().meta({ description: "64 are kept, of 200 characters each." }),
  debug_ids: z.record(z.string(), z.string()).nullish(),
});
const causes = z.array(z.object({ error_type: text, message: text, stack: text })).nullish();

const ErrorEvent = Details.extend({ type: z.literal("error"), message: text, error_type: text, stack: text, causes }).refine(
  (event) => !isAbsent(event.message) || !!event.error_type,
  { path: ["message"], error: "An error event needs a message or an error_type." },
);
const MessageEvent = Details.extend({ type: z.literal("message"), message: z.string().min(1), error_type: text, stack: text, causes });
const VitalEvent = Details.extend({ type: z.literal("vital"), message: text, name: z.string().min(1), value: z.number() });

/** One event, for the API description. */
export const BeaconEventBody = z.union([ErrorEvent, MessageEvent, VitalEvent]).meta({ description: `One of ${BEACON_EVENT_TYPES.join(", ")}.` });

/** The whole body, for the API description. `events` is judged event by event, so here it may hold anything. */
export const BeaconEnvelope = z.object({
  key: z.string().meta({ description: "The public beacon key, bpk_…" }),
  release: text,
  environment: text.meta({ description: "production when absent; usually production, staging or development." }),
  session_id: text,
  user: z.object({ id: z.union([z.string(), z.number()]).nullish() }).nullish(),
  sdk: z.unknown().optional(),
  events: z.array(z.unknown()).min(1).max(MAX_BEACON_EVENTS),
});

export const BeaconBody = BeaconEnvelope.extend({ events: z.array(BeaconEventBody).min(1).max(MAX_BEACON_EVENTS) });
