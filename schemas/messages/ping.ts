import { z } from "zod";
import { PING_STATUSES, type PingStatus } from "../vocabulary.ts";
import { readJson } from "./read-json.ts";

/** Texts longer than these are cut, never refused. A message within the edge's limit for bodies is never longer. */
const MESSAGE_LIMIT = 10 * 1024;
const RUN_ID_LIMIT = 200;
/** Exit codes are 32 bits; Windows shows them unsigned. */
const EXIT_CODE_RANGE = { from: -(2 ** 31), to: 2 ** 32 - 1 };
/** About 24 days, the largest that the monitor's column holds. */
const LONGEST_DURATION_MS = 2 ** 31 - 1;

/** A ping as it was understood. */
export interface Ping {
  status: PingStatus;
  run_id: string | null;
  /** A signed 32-bit number. */
  exit_code: number | null;
  duration_ms: number | null;
  message: string | null;
}

export type PingReading =
  | { kind: "read"; ping: Ping }
  | { kind: "invalid"; code: "INVALID_JSON" | "INVALID_REQUEST"; error: string; path?: string; fix?: string };

/** The body of a ping for the OpenAPI document; `readSentPing` does the checking. */
export const PingBody = z
  .object({
    status: z.enum(PING_STATUSES).optional().meta({ description: "ok (default): the job finished. start: it began. fail: it failed, the monitor goes down at once. log: kept, changes nothing." }),
    run_id: z.string().nullish().meta({ description: "Names one run: its start and its ok or fail belong together whatever their order, and a ping that was sent again counts once. Cut at 200 characters." }),
    exit_code: z.int().nullish().meta({ description: "Anything other than 0 makes the ping a fail, whatever status says." }),
    duration_ms: z.number().min(0).nullish().meta({ description: "How long the run took; without it the time since the run's start is taken." }),
    message: z.string().nullish().meta({ description: "Output of the job or a note, kept whole: a body of more than 10 KiB is refused with 413." }),
  })
  .meta({ description: "Optional: an empty body or null is an ok. Unknown fields are ignored.", example: { status: "ok", run_id: "2026-05-04", exit_code: 0, duration_ms: 5300 } });

const EMPTY_PING: Ping = { status: "ok", run_id: null, exit_code: null, duration_ms: null, message: null };
const FIX = 'Send no body, the output of the job as text, or a JSON object such as {"status": "ok", "message": "output of the job"}.';

/** Bytes that are no UTF-8 are shown as such: what a job prints is not to be lost for its encoding. */
const decoder = new TextDecoder("utf-8");

/**
 * Reads a ping's body (bytes, already unpacked) as it stands in the log: nothing, or a JSON object. Empty is an `ok`;
 * unknown fields are ignored, too long texts are cut. The same bytes always give the same ping, in every version.
 */
export function readPing(body: Uint8Array): PingReading {
  if (body.byteLength === 0 || body.every(isBlank)) return { kind: "read", ping: EMPTY_PING };
  const json = tryJson(body);
  if (json === undefined) return { kind: "invalid", code: "INVALID_JSON", error: "The body is not valid JSON.", fix: FIX };
  if (typeof json !== "object" || json === null || Array.isArray(json)) return invalid("", "The body must be a JSON object.");
  return readFields(json);
}

/**
 * Reads a ping's body as people send it, whatever its content type: as `readPing` does, and a form of the same fields
 * as `curl -d status=fail` sends it, or a text, which is one of the statuses or becomes the message. `null` is an `ok`.
 */
export function readSentPing(body: Uint8Array): PingReading {
  // Most are these, and need not be decoded twice.
  if (isLoggable(body)) return readPing(body);
  const text = decoder.decode(body).trim();
  if (text === "" || text.startsWith("{")) return readPing(body);
  const json = tryJson(body);
  if (json === undefined) return FORM.test(text) ? readFields(fieldsOfForm(text)) : readText(text);
  if (json === null) return { kind: "read", ping: EMPTY_PING };
  if (typeof json === "string") return readText(json);
  // An exit code perhaps: taken for a message, a failure would pass for an ok.
  if (typeof json === "number") return invalid("", "A number alone does not say what it is.", 'Send {"exit_code": 1}, or exit_code=1.');
  return invalid("", "The body must be a JSON object.");
}

/** Space, tab, line feed, carriage return: what JSON allows around a value. */
function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function tryJson(body: Uint8Array): unknown {
  try {
    return readJson(body);
  } catch {
    return undefined;
  }
}

/** A ping's body for the log: nothing and a JSON object as they came, anything else as the object that it means. */
export function loggedPing(body: Uint8Array, ping: Ping): Uint8Array {
  return isLoggable(body) ? body : Buffer.from(JSON.stringify(ping));
}

const OPENING_BRACE = 0x7b;

function isLoggable(body: Uint8Array): boolean {
  return body.byteLength === 0 || body[0] === OPENING_BRACE;
}

function readText(text: string): PingReading {
  return readFields(isPingStatus(text) ? { status: text } : { message: text });
}

/** Only of known fields: a text that happens to hold `=` and `&` stays a text. */
const FIELD = `(?:${Object.keys(PingBody.shape).join("|")})=[^&]*`;
const FORM = new RegExp(`^${FIELD}(?:&${FIELD})*$`);
const NUMBER = /^-?\d+(?:\.\d+)?$/;

function fieldsOfForm(text: string): Record<string, unknown> {
  const fields: Record<string, unknown> = Object.fromEntries(new URLSearchParams(text));
  for (const name of ["exit_code", "duration_ms"]) {
    const value = fields[name];
    if (typeof value === "string" && NUMBER.test(value)) fields[name] = Number(value);
  }
  return fields;
}

function readFields(value: { status?: unknown; run_id?: unknown; exit_code?: unknown; duration_ms?: unknown; message?: unknown }): PingReading {
  const { status = "ok", run_id = null, exit_code = null, duration_ms = null, message = null } = value;
  if (!isPingStatus(status)) return invalid("/status", `status must be one of ${PING_STATUSES.join(", ")}.`);
  if (run_id !== null && typeof run_id !== "string") return invalid("/run_id", "run_id must be a string.");
  if (exit_code !== null && !isExitCode(exit_code)) return invalid("/exit_code", "exit_code must be a whole number of 32 bits.");
  if (duration_ms !== null && !(typeof duration_ms === "number" && duration_ms >= 0)) return invalid("/duration_ms", "duration_ms must be a number of milliseconds, 0 or more.");
  if (message !== null && typeof message !== "string") return invalid("/message", "message must be a string.");
  return {
    kind: "read",
    ping: {
      status: exit_code !== null && exit_code !== 0 ? "fail" : status,
      run_id: run_id === null ? null : storable(run_id, RUN_ID_LIMIT),
      exit_code: exit_code === null ? null : exit_code | 0,
      duration_ms: duration_ms === null ? null : Math.min(Math.round(duration_ms), LONGEST_DURATION_MS),
      message: message === null ? null : storable(message, MESSAGE_LIMIT),
    },
  };
}

function isPingStatus(value: unknown): value is PingStatus {
  return PING_STATUSES.includes(value as PingStatus);
}

function isExitCode(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= EXIT_CODE_RANGE.from && (value as number) <= EXIT_CODE_RANGE.to;
}

/** Postgres takes neither NUL nor halves of surrogate pairs, and a job's output may hold both (the cut makes halves too). */
function storable(text: string, limit: number): string {
  return text.slice(0, limit).replace(/\0|\p{Surrogate}/gu, "\uFFFD");
}

function invalid(path: string, error: string, fix = FIX): PingReading {
  return { kind: "invalid", code: "INVALID_REQUEST", error, path, fix };
}
