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

export interface ExchangeHead {
  requestId: string;
  apiKey: string;
  bearer: string;
  contentEncoding: string;
  contentLength: number;
  origin: string;
  prefer: string;
  forwardedFor: string;
  socketAddress: string;
}

/** One request and its one answer. Once the peer is gone, answers are dropped silently. */
export interface Exchange {
  readonly head: ExchangeHead;
  rate: RateState | null;
  /** Every response of the beacon allows every origin; the origin list is judged by our own 403. */
  openToOrigins: boolean;
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

let counter = 0;
const PROCESS_TAG = Math.random().toString(36).slice(2, 8);

export interface Door {
  /** Called once for each exchange, when it is answered or its peer is gone. */
  onEnd(): void;
  /** While closing, each answer also ends its connection, so that keep-alive clients go elsewhere. */
  closing(): boolean;
}

/** Reads all that is needed of the request now: uWebSockets.js takes it back when the handler returns. */
export function openExchange(response: HttpResponse, request: HttpRequest, door: Door): Exchange {
  const given = request.getHeader("x-request-id");
  const length = request.getHeader("content-length");
  let done = false;
  const mine: Record<Room, number> = { pieces: 0, whole: 0 };
  const head: ExchangeHead = {
    requestId: given !== "" && SANE_REQUEST_ID.test(given) ? given : `${PROCESS_TAG}-${(counter = (counter + 1) >>> 0).toString(36)}`,
    apiKey: request.getHeader("x-api-key"),
    bearer: readBearer(request.getHeader("authorization")),
    contentEncoding: request.getHeader("content-encoding"),
    contentLength: length === "" ? 0 : Number(length),
    origin: request.getHeader("origin"),
    prefer: request.getHeader("prefer"),
    forwardedFor: request.getHeader("x-forwarded-for"),
    get socketAddress() {
      return done ? "" : Buffer.from(response.getRemoteAddressAsText()).toString();
    },
  };
  function end(): void {
    done = true;
    heldBytes.pieces -= mine.pieces;
    heldBytes.whole -= mine.whole;
    door.onEnd();
  }
  response.onAborted(() => {
    if (!done) end();
  });

  const exchange: Exchange = {
    head,
    rate: null,
    openToOrigins: false,
    reply(status, body, headers, contentType = "application/json; charset=utf-8") {
      if (done) return;
      end();
      response.cork(() => {
        response.writeStatus(STATUS_LINES[status] ?? String(status));
        if (body !== "") response.writeHeader("Content-Type", contentType);
        response.writeHeader("X-Request-Id", head.requestId);
        if (exchange.rate) {
          response.writeHeader("X-RateLimit-Limit", String(exchange.rate.limit));
          response.writeHeader("X-RateLimit-Remaining", String(exchange.rate.remaining));
          response.writeHeader("X-RateLimit-Reset", String(exchange.rate.resetAtSeconds));
        }
        if (exchange.openToOrigins) {
          response.writeHeader("Access-Control-Allow-Origin", "*");
          response.writeHeader("Access-Control-Expose-Headers", "X-Request-Id, Retry-After");
        }
        if (headers) for (const [name, value] of headers) response.writeHeader(name, value);
        // What is left of a refused body would otherwise be read as the next request.
        response.end(body, status === 413 || door.closing());
      });
    },
    fail(failure, headers = []) {
      const { retryAfter } = failure.details;
      const all = retryAfter === undefined ? headers : [...headers, ["Retry-After", String(retryAfter)] as const];
      exchange.reply(FAILURE_STATUS[failure.code], JSON.stringify(failureBody(failure, head.requestId)), all);
    },
    cut() {
      if (done) return;
      end();
      response.close();
    },
    hold(room, bytes) {
      if (done) return true;
      if (heldBytes[room] + bytes > ROOM_BYTES[room]) return false;
      heldBytes[room] += bytes;
      mine[room] += bytes;
      return true;
    },
  };
  return exchange;
}

function readBearer(authorization: string): string {
  return /^bearer /i.test(authorization) ? authorization.slice(7).trim() : "";
}

/**
 * Hands over the request's body, unpacked, once it is whole; refuses it by `fail` when it is larger than
 * `limit` bytes (before or after unpacking), broken or in an unknown encoding. A body that came in one piece
 * is handed over without a copy and is only valid during the call: keep a copy of what must stay.
 */
export function receiveBody(response: HttpResponse, exchange: Exchange, limit: number, onBody: (body: Uint8Array) => void): void {
  const { contentEncoding, contentLength } = exchange.head;
  const gzip = contentEncoding === "gzip" || contentEncoding === "x-gzip";
  let refusal: Failure | null = null;
  if (contentEncoding !== "" && contentEncoding !== "identity" && !gzip) refusal = unknownEncoding(contentEncoding);
  else if (contentLength > limit) refusal = tooLarge(limit);

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
