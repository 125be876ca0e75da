import type { FastifyInstance } from "fastify";
import httpProxy from "@fastify/http-proxy";
import { BODY_LIMIT, tooLarge } from "./read-body.ts";

/** The ingest endpoints, which the edge serves. */
const PREFIXES = ["/api/beacon", "/api/heartbeat", "/api/metrics/ingest"];

/**
 * Forwards the ingest endpoints to an edge, so that one address serves everything. Bodies pass through untouched,
 * packed or not, and so do answers with their headers; the edge learns the client's address from `X-Forwarded-For`.
 */
export async function forwardIngest(app: FastifyInstance, edgeAddress: string): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook("onRequest", async (request, reply) => {
      // A page of any origin has to be able to read what went wrong here, too.
      if (request.url.startsWith("/api/beacon")) reply.header("Access-Control-Allow-Origin", "*");
      // More than any ingest endpoint takes: the edge would cut the connection in the middle of the body.
      if (Number(request.headers["content-length"] ?? 0) > BODY_LIMIT) throw tooLarge();
    });
    for (const prefix of PREFIXES) {
      await scope.register(httpProxy, {
        upstream: edgeAddress,
        prefix,
        rewritePrefix: prefix,
        disableRequestLogging: true,
        replyOptions: {
          rewriteRequestHeaders: (request, headers) => ({
            ...headers,
            "x-request-id": request.id,
            "x-forwarded-for": [headers["x-forwarded-for"], request.socket.remoteAddress].flat().filter(Boolean).join(", "),
          }),
        },
      });
    }
  });
}
