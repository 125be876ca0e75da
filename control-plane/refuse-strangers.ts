import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { pathOf, type KeptAnswering } from "./answer-kept.ts";
import type { Authentication } from "./authenticate.ts";
import { failureReply } from "./failure-reply.ts";
import { API_ROOT } from "./route-table.ts";

/** Kept open between requests: longer than proxies keep theirs, so that none sends on a connection that we just ended. */
const KEEP_ALIVE_MS = 72_000;

interface StrangersRefusingNeeds extends Pick<Authentication, "refuseAtOnce"> {
  keptAnswering: KeptAnswering;
  requestIdOf(request: IncomingMessage): string;
  /** Hears of the answers that are given here: the route, or none for what was refused before one was looked for. */
  noteAnswer(request: IncomingMessage, route: string | undefined, status: number, seconds: number): void;
  /** How long a request's bytes may take to arrive, in ms. */
  requestTimeout: number;
}

/**
 * A server that refuses by itself, below the API's root, what needs no look-up to be refused. Guesses at API keys come by the
 * thousand at once, everybody else waits meanwhile, and `handle`, which is Fastify's, takes much longer to refuse. It also
 * answers by itself what is kept.
 */
export function makeStrangersRefusingServer(handle: RequestListener, { refuseAtOnce, keptAnswering, requestIdOf, noteAnswer, requestTimeout }: StrangersRefusingNeeds): Server {
  function refuse(request: IncomingMessage, response: ServerResponse): boolean {
    const refusal = isBelowApi(request.url!) ? refuseAtOnce(request) : null;
    if (!refusal) return false;
    const requestId = requestIdOf(request);
    const { status, headers, body } = failureReply(refusal.failure, requestId);
    const bytes = Buffer.from(body);
    response.writeHead(status, { ...refusal.headers, ...headers, "X-Request-Id": requestId, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Content-Length": bytes.length });
    response.end(request.method === "HEAD" ? undefined : bytes);
    noteAnswer(request, undefined, status, 0);
    return true;
  }
  async function answerKept(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.now();
    if (await keptAnswering.answer(request, response)) noteAnswer(request, pathOf(request), response.statusCode, (performance.now() - began) / 1_000);
    else handle(request, response);
  }
  return createServer({ requestTimeout, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    if (refuse(request, response)) return;
    if (keptAnswering.mayAnswer(request)) void answerKept(request, response);
    else handle(request, response);
  });
}

function isBelowApi(url: string): boolean {
  return url.startsWith(`${API_ROOT}/`);
}
