import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import httpProxy from "@fastify/http-proxy";
import type { Clock } from "../platform/clock.ts";
import { Failure } from "../platform/failures.ts";
import { endOfMinute, UNLIMITED } from "../platform/rate-limit.ts";
import type { Authentication } from "./authenticate.ts";

/** The ingest endpoints, which the edge serves. */
const PREFIXES = ["/api/beacon", "/api/heartbeat", "/api/metrics/ingest"];

/** With a slash at its end too, as the edge takes it. */
const BEACON = /^\/api\/beacon\/?(?:\?|$)/;

/** All that Node's parser knows and people send; which are offered is the edge's to say. */
const METHODS = ["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT", "OPTIONS", "QUERY", "TRACE"];

interface ForwardNeeds extends Pick<Authentication, "countStranger"> {
  /** The client's address. */
  addressOf(request: FastifyRequest): string;
  clock: Clock;
}

/**
 * Forwards the ingest endpoints to an edge, so that one address serves everything. Bodies pass through untouched,
 * packed or not, and so do answers with their headers; the edge learns the client's address from `X-Forwarded-For`.
 * What never came to the edge has the rate headers that the edge would have given.
 */
export async function forwardIngest(app: FastifyInstance, edgeAddress: string, { countStranger, addressOf, clock }: ForwardNeeds): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook("onRequest", async (request, reply) => {
      // No ingest address has such a step, and the library refuses it as a fault of its own.
      if (/\.\.|%2e/i.test(request.url.split("?")[0]!)) throw new Failure("NOT_FOUND", "There is nothing at this address.", { fix: "/docs lists every endpoint." });
      // A page of any origin has to be able to read what went wrong here, too.
      if (request.url.startsWith("/api/beacon")) void reply.header("Access-Control-Allow-Origin", "*");
      // The edge takes any content type, Fastify only those that are spelled well; the edge is told the one that was sent.
      // Of QUERY it wants one.
      if (request.headers["content-type"] !== undefined || request.method === "QUERY") request.headers["content-type"] = "application/octet-stream";
    });
    scope.setErrorHandler((error, request, reply) => {
      if (BEACON.test(request.url)) void reply.headers({ "X-RateLimit-Limit": UNLIMITED, "X-RateLimit-Remaining": UNLIMITED, "X-RateLimit-Reset": endOfMinute(clock.now()) });
      else countStranger(request, reply);
      throw error;
    });
    // Read whole first, by none of the parsers that look into a body: bodies are small here (Fastify holds the limit), and
    // were the connection's own stream handed on, an edge out of reach would break the connection that carries the answer.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, async (_request: FastifyRequest, bytes: Buffer) => Readable.from([bytes], { objectMode: false }));
    for (const prefix of PREFIXES) {
      await scope.register(httpProxy, {
        upstream: edgeAddress,
        prefix,
        rewritePrefix: prefix,
        disableRequestLogging: true,
        httpMethods: METHODS,
        proxyPayloads: false,
        replyOptions: {
          // The library would ask again on 503; whether to try again is the sender's decision.
          retryDelay: () => null,
          rewriteRequestHeaders: (request, headers) => ({
            ...forwarded(headers),
            ...contentTypeOf(request.raw.rawHeaders),
            "x-request-id": request.id,
            // As judged here: the edge believes this process, and what stood there may be anybody's word.
            "x-forwarded-for": addressOf(request as FastifyRequest),
          }),
        },
      });
    }
  });
}

/** Headers that are between a client and us (RFC 9110 §7.6.1), and `Expect`, which we have met by reading the body. */
const HOP_BY_HOP = ["connection", "expect", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"];

const NOT_FORWARDED = new Set([...HOP_BY_HOP, "content-type"]);

function forwarded(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_FORWARDED.has(name)));
}

/** The content type as it was sent; none when none was. */
function contentTypeOf(rawHeaders: readonly string[]): IncomingHttpHeaders {
  const at = rawHeaders.findIndex((each, n) => n % 2 === 0 && each.toLowerCase() === "content-type");
  return at === -1 ? {} : { "content-type": rawHeaders[at + 1] };
}
