import type { FastifyReply, FastifyRequest } from "fastify";
import type { Drawn } from "./drawn.ts";

/**
 * Sends what was drawn in the best encoding that the visitor takes, or 304 when they have it (RFC 9110, 13.1: a tag decides before a date).
 * Headers that others share are the caller's.
 */
export function sendDrawn(request: FastifyRequest, reply: FastifyReply, drawn: Drawn): FastifyReply {
  const { "accept-encoding": accepted, "if-none-match": tags, "if-modified-since": since } = request.headers;
  const taken = takenCodings(typeof accepted === "string" ? accepted : "");
  const encoding = drawn.br && taken.br ? "br" : drawn.gzip && taken.gzip ? "gzip" : null;
  const tag = `"${drawn.hash}${encoding === null ? "" : `-${encoding}`}"`;
  void reply.header("ETag", tag).header("Last-Modified", drawn.lastModified).headers(drawn.headers);
  if (tags === undefined ? isSince(since, drawn.changedAt) : hasTag(tags, drawn.hash)) return reply.code(304).send();
  if (encoding !== null) void reply.header("Content-Encoding", encoding);
  return reply.header("Content-Type", drawn.type).send(encoding === "br" ? drawn.br : encoding === "gzip" ? drawn.gzip : drawn.body);
}

interface Codings {
  br: boolean;
  gzip: boolean;
}

/** Browsers of the whole world send a handful of these headers. */
const known = new Map<string, Codings>();
const MOST_KNOWN = 1_000;

/** Which codings an `Accept-Encoding` names and does not refuse. */
function takenCodings(accepted: string): Codings {
  let codings = known.get(accepted);
  if (!codings) {
    const named = new Set(accepted.split(",").map((part) => part.trim().toLowerCase()).filter((part) => !/;\s*q=0(?:\.0*)?$/.test(part)).map((part) => part.split(";")[0]!.trim()));
    codings = { br: named.has("br"), gzip: named.has("gzip") };
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(accepted, codings);
  }
  return codings;
}

/** Compared weakly and without the encoding: the body behind it is the same. */
function hasTag(tags: string, hash: string): boolean {
  return tags.trim() === "*" || tags.split(",").some((tag) => tag.trim().replace(/^W\//, "").replace(/^"|"$/g, "").replace(/-(?:br|gzip)$/, "") === hash);
}

function isSince(since: string | undefined, changedAt: number): boolean {
  if (since === undefined) return false;
  const moment = Date.parse(since);
  return Number.isFinite(moment) && changedAt * 1000 <= moment;
}
