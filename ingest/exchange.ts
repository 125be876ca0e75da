import { gunzip } from "node:zlib";
import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { Failure, FAILURE_STATUS, failureBody } from "../platform/failures.ts";
import type { RateState } from "../platform/rate-limit.ts";
import { readJson } from "../schemas/messages/read-json.ts";

const STATUS_LINES: Record<number, string> = {
  200: "200 OK",
  202: "202 Accepted",
  204: "204 No Content",
  400: "400 Bad Request",
  401: "401 Unauthorized",
  403: "403 Forbidden",
  404: "404 Not Found",
  405: "405 Method Not Allowed",
  413: "413 Payload Too Large",
  415: "415 Unsupported Media Type",
  429: "429 Too Many Requests",
  500: "500 Internal Server Error",
  503: "503 Service Unavailable",
};

const SANE_REQUEST_ID = /^[\w.-]{1,128}$/;

/** One request and its one answer. Once the peer is gone, answers are dropped silently. */
export interface Exchange {
  /** The sender's, when it is sane, else one of ours. */
  readonly requestId: string;
  readonly contentEncoding: string;
  /** What `X-Forwarded-For` said; only read for whom no key vouches. */
  forwardedFor: string;
  rate: RateState | null;
  /** Every response of the beacon allows every origin; the origin list is judged by our own 403. */
  openToOrigins: boolean;
  /** The connection's own address; empty when it is gone. */
  socketAddress(): string;
  reply(status: number, body: string, headers?: readonly (readonly [string, string])[], contentType?: string): void;
  fail(failure: Failure, headers?: readonly (readonly [string, string])[]): void;
  /** Cuts the connection without an answer: the sender may retry. */
  cut(): void;
  /** Counts bytes of the request's body as held in memory until its end; false when there is no room for them. */
  hold(room: Room, bytes: number): boolean;
}

/** Memory for bodies of a process. What comes in one piece has room of its own, which slow senders of large bodies cannot fill. */
type Room = "pieces" | "whole";
const ROOM_BYTES: Record<Room, number> = { pieces: 96 * 1024 * 1024, whole: 96 * 1024 * 1024 };
const heldBytes: Record<Room, number> = { pieces: 0, whole: 0 };

/** Ids of ours are the process, then a number: its last two digits of base 36 come from a list, which costs less than writing them. */
const PROCESS_TAG = Math.random().toString(36).slice(2, 8);
const LAST_DIGITS = Array.from({ length: 36 * 36 }, (_, number) => number.toString(36).padStart(2, "0"));
let idStart = `${PROCESS_TAG}-`;
let idBlock = 0;
let idInBlock = 0;

function nextRequestId(): string {
  if (idInBlock === LAST_DIGITS.length) {
    idInBlock = 0;
    idBlock = (idBlock + 1) >>> 0;
    idStart = `${PROCESS_TAG}-${idBlock.toString(36)}`;
  }
  return idStart + LAST_DIGITS[idInBlock++]!;
}

export interface Door {
  /** Called once for each exchange, when it is answered or its peer is gone. */
  onEnd(): void;
  /** While closing, each answer also ends its connection, so that keep-alive clients go elsewhere. */
  closing(): boolean;
}

/** Reads what every route needs of the request; a route reads the rest itself before its handler returns, when uWebSockets.js takes it back. */
export function openExchange(response: HttpResponse, request: HttpRequest, door: Door): Exchange {
  const given = request.getHeader("x-request-id");
  const id = given !== "" && SANE_REQUEST_ID.test(given) ? given : nextRequestId();
  const exchange = new OpenExchange(response, door, id, request.getHeader("content-encoding"));
  response.onAborted(() => exchange.end());
  return exchange;
}

/** A class, because one object costs an edge a third of what an object of closures does, for each request. */
class OpenExchange implements Exchange {
  readonly requestId: string;
  readonly contentEncoding: string;
  forwardedFor = "";
  rate: RateState | null = null;
  openToOrigins = false;
  readonly response: HttpResponse;
  readonly door: Door;
  done = false;
  pieces = 0;
  whole = 0;

  constructor(response: HttpResponse, door: Door, requestId: string, contentEncoding: string) {
    this.requestId = requestId;
    this.contentEncoding = contentEncoding;
    this.response = response;
    this.door = door;
  }

  end(): void {
    if (this.done) return;
    this.done = true;
    heldBytes.pieces -= this.pieces;
    heldBytes.whole -= this.whole;
    this.door.onEnd();
  }

  socketAddress(): string {
    return this.done ? "" : Buffer.from(this.response.getRemoteAddressAsText()).toString();
  }

  reply(status: number, body: string, headers?: readonly (readonly [string, string])[], contentType = "application/json; charset=utf-8"): void {
    if (this.done) return;
    this.end();
    let head = STATUS_LINES[status] ?? String(status);
    if (body !== "") head += `\r\nContent-Type: ${contentType}`;
    head += `\r\nX-Request-Id: ${this.requestId}`;
    if (this.rate !== null) head += rateLines(this.rate);
    if (this.openToOrigins) head += OPEN_TO_ORIGINS;
    if (headers) for (const [name, value] of headers) head += `\r\n${name}: ${value}`;
    // What is left of a refused body would otherwise be read as the next request.
    send(this.response, head, body, status === 413 || this.door.closing());
  }

  fail(failure: Failure, headers: readonly (readonly [string, string])[] = []): void {
    const { retryAfter } = failure.details;
    const all = retryAfter === undefined ? headers : [...headers, ["Retry-After", String(retryAfter)] as const];
    this.reply(FAILURE_STATUS[failure.code], JSON.stringify(failureBody(failure, this.requestId)), all);
  }

  cut(): void {
    if (this.done) return;
    this.end();
    this.response.close();
  }

  hold(room: Room, bytes: number): boolean {
    if (this.done) return true;
    if (heldBytes[room] + bytes > ROOM_BYTES[room]) return false;
    heldBytes[room] += bytes;
    if (room === "whole") this.whole += bytes;
    else this.pieces += bytes;
    return true;
  }
}

const OPEN_TO_ORIGINS = "\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: X-Request-Id, Retry-After";

/** The lines of the state that was written last: one without a limit is the same object for many requests. */
let lastRate: RateState | null = null;
let lastRateLines = "";

function rateLines(rate: RateState): string {
  if (rate === lastRate) return lastRateLines;
  lastRate = rate;
  return (lastRateLines = `\r\nX-RateLimit-Limit: ${rate.limit}\r\nX-RateLimit-Remaining: ${rate.remaining}\r\nX-RateLimit-Reset: ${rate.resetAtSeconds}`);
}

let corked: HttpResponse;
let corkedHead = "";
let corkedBody = "";
let corkedClose = false;

/** cork() calls `writeCorked` before it returns, so that one function and these places serve all answers. */
function send(response: HttpResponse, head: string, body: string, close: boolean): void {
  corked = response;
  corkedHead = head;
  corkedBody = body;
  corkedClose = close;
  response.cork(writeCorked);
}

function writeCorked(): void {
  // uWebSockets.js writes the status as it is: one call for all lines, where each call costs as much as building them all.
  corked.writeStatus(corkedHead);
  corked.end(corkedBody, corkedClose);
}

/**
 * Whether a request's headers say that no body follows. Asking uWebSockets.js for a body that is
 * empty costs a handler, a buffer and a call: a twentieth of a ping.
 */
export function hasNoBody(request: HttpRequest): boolean {
  const length = request.getHeader("content-length");
  return length === "0" || (length === "" && request.getHeader("transfer-encoding") === "");
}

/**
 * Hands over the request's body, unpacked, once it is whole; refuses it by `fail` when it is larger than
 * `limit` bytes (before or after unpacking), broken or in an unknown encoding. A body that came in one piece
 * is handed over without a copy and is only valid during the call: keep a copy of what must stay.
 */
export function receiveBody(response: HttpResponse, exchange: Exchange, limit: number, onBody: (body: Uint8Array) => void): void {
  const { contentEncoding } = exchange;
  const gzip = contentEncoding === "gzip" || contentEncoding === "x-gzip";
  let refusal: Failure | null = null;
  if (contentEncoding !== "" && contentEncoding !== "identity" && !gzip) refusal = unknownEncoding(contentEncoding);

  let parts: Buffer[] | null = null;
  let bytes = 0;
  response.onData((chunk, isLast) => {
    if (refusal) {
      // A refused body is read to its end where it is short, so that the sender gets to see the answer.
      bytes += chunk.byteLength;
      if (isLast || bytes > limit) exchange.fail(refusal);
      return;
    }
    bytes += chunk.byteLength;
    if (bytes > limit) {
      refusal = tooLarge(limit);
      parts = null;
      exchange.fail(refusal);
      return;
    }
    if (!exchange.hold(parts === null && isLast ? "whole" : "pieces", chunk.byteLength)) {
      refusal = noRoom();
      parts = null;
      if (isLast) exchange.fail(refusal);
      return;
    }
    if (parts === null && isLast) {
      finish(new Uint8Array(chunk));
      return;
    }
    (parts ??= []).push(Buffer.from(new Uint8Array(chunk)));
    if (isLast) finish(Buffer.concat(parts, bytes));
  });

  function finish(body: Uint8Array): void {
    if (!gzip) return onBody(body);
    gunzip(Buffer.from(body), { maxOutputLength: limit }, (error, unpacked) => {
      if (!error && exchange.hold("whole", unpacked.byteLength)) onBody(unpacked);
      else if (!error) exchange.fail(noRoom());
      else if ("code" in error && error.code === "ERR_BUFFER_TOO_LARGE") exchange.fail(tooLarge(limit));
      else exchange.fail(new Failure("INVALID_REQUEST", "The body is not valid gzip.", { fix: "Compress the whole body once with gzip, or leave out the Content-Encoding header." }));
    });
  }
}

function noRoom(): Failure {
  return new Failure("UNAVAILABLE", "Too many requests are being taken in at this moment.", { retryAfter: 1, fix: "Send it again." });
}

function tooLarge(limit: number): Failure {
  return new Failure("PAYLOAD_TOO_LARGE", `The body is larger than ${limit / 1024} KiB, compressed or unpacked.`, { fix: "Send less at once." });
}

function unknownEncoding(encoding: string): Failure {
  return new Failure("UNSUPPORTED_MEDIA_TYPE", `The content encoding "${encoding.slice(0, 50)}" is not supported.`, { fix: "Send the body plain or with Content-Encoding: gzip." });
}

/** Parses a body as JSON, refusing what is empty, no UTF-8 or no JSON with INVALID_JSON. */
export function parseJson(body: Uint8Array): unknown {
  if (body.byteLength === 0) throw new Failure("INVALID_JSON", "The body is empty; a JSON object is required.");
  try {
    return readJson(body);
  } catch (error) {
    if (error instanceof TypeError) throw new Failure("INVALID_JSON", "The body is not valid UTF-8.", { fix: "Encode the JSON as UTF-8." });
    throw new Failure("INVALID_JSON", `The body is not valid JSON: ${error instanceof Error ? error.message : "it cannot be parsed"}.`);
  }
}
