import { PassThrough, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Failure } from "../platform/failures.ts";
import { pointer } from "./explain-issue.ts";

/** Bytes of a JSON body, before and after unpacking (conventions §1). */
export const BODY_LIMIT = 1_048_576;

/** Deeper than any request of ours; what walks a body by recursion is safe below it. */
const MAX_DEPTH = 64;

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * A body's stream, unpacked as its `Content-Encoding` says: plain or gzip. UNSUPPORTED_MEDIA_TYPE for other encodings;
 * the stream fails with PAYLOAD_TOO_LARGE when what is packed is larger than the limit (Fastify measures what comes out).
 */
export function unpack(payload: Readable, encoding: string | undefined, limit: number): Readable {
  const name = (encoding ?? "identity").trim().toLowerCase();
  if (name === "identity" || name === "") return payload;
  if (name !== "gzip" && name !== "x-gzip") {
    throw new Failure("UNSUPPORTED_MEDIA_TYPE", `The content encoding "${name.slice(0, 50)}" is not supported.`, { fix: "Send the body plain or with Content-Encoding: gzip." });
  }
  const gunzip = createGunzip();
  // Fastify compares the bytes that came in with Content-Length by this counter.
  const unpacked = Object.assign(new PassThrough(), { receivedEncodedLength: 0 });
  payload.on("data", (chunk: Buffer) => {
    unpacked.receivedEncodedLength += chunk.length;
    if (unpacked.receivedEncodedLength > limit) gunzip.destroy(tooLarge());
  });
  payload.on("error", (error) => gunzip.destroy(error));
  gunzip.on("error", (error) => unpacked.destroy(error instanceof Failure ? error : brokenGzip()));
  unpacked.on("close", () => gunzip.destroy());
  payload.pipe(gunzip).pipe(unpacked);
  return unpacked;
}

export function tooLarge(): Failure {
  return new Failure("PAYLOAD_TOO_LARGE", `The body is larger than ${BODY_LIMIT / 1024} KiB, compressed or unpacked.`, { fix: "Send less at once." });
}

function brokenGzip(): Failure {
  return new Failure("INVALID_REQUEST", "The body is not valid gzip.", { fix: "Compress the whole body once with gzip, or leave out the Content-Encoding header." });
}

/** A JSON body's value. INVALID_JSON for what is empty, no UTF-8 or no JSON; INVALID_REQUEST for what nothing here can store. */
export function parseBody(bytes: Buffer): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw new Failure("INVALID_JSON", "The body is not valid UTF-8.", { fix: "Encode the JSON as UTF-8." });
  }
  if (text.trim() === "") throw new Failure("INVALID_JSON", "The body is empty; a JSON object is required.");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Failure("INVALID_JSON", `The body is not valid JSON: ${error instanceof Error ? error.message : "it cannot be parsed"}.`);
  }
  // Null would pass for no body at all.
  if (value === null) throw new Failure("INVALID_JSON", "The body is null; a JSON object is required.");
  requireStorable(value);
  return value;
}

/**
 * Refuses, with its place, what PostgreSQL cannot store in a text (NUL, half a surrogate pair), field names that
 * would change an object's prototype, and nesting beyond all reason. INVALID_REQUEST.
 */
export function requireStorable(value: unknown, path: readonly PropertyKey[] = []): void {
  if (typeof value === "string") return requireStorableText(value, path);
  if (typeof value !== "object" || value === null) return;
  if (path.length >= MAX_DEPTH) throw new Failure("INVALID_REQUEST", `The body is nested more than ${MAX_DEPTH} levels deep.`, { path: pointer(path) });
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) requireStorable(value[at], [...path, at]);
    return;
  }
  for (const [name, inner] of Object.entries(value)) {
    const place = [...path, name];
    if (name === "__proto__" || (name === "constructor" && typeof inner === "object" && inner !== null && "prototype" in inner)) {
      throw new Failure("INVALID_REQUEST", `A field may not be called "${name}".`, { path: pointer(place) });
    }
    requireStorableText(name, path);
    requireStorable(inner, place);
  }
}

function requireStorableText(text: string, path: readonly PropertyKey[]): void {
  if (/\0|\p{Surrogate}/u.test(text)) {
    throw new Failure("INVALID_REQUEST", "A text may hold neither the NUL character nor half of a surrogate pair.", { path: pointer(path), fix: "Remove or replace these characters." });
  }
}
