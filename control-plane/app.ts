import type { IncomingMessage } from "node:http";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { scopeRefusal } from "../domain/api-keys/judge.ts";
import { makeContentVersions } from "../domain/organizations/content-version.ts";
import { makeClientAddress, vouchedAddress } from "../platform/client-address.ts";
import { Failure } from "../platform/failures.ts";
import { newId } from "../platform/ids.ts";
import type { Metrics } from "../platform/metrics.ts";
import type { Database } from "../platform/postgres/database.ts";
import type { Tenants } from "../platform/postgres/tenants.ts";
import type { Probes } from "../platform/probes.ts";
import { publicUrl } from "../platform/public-url.ts";
import { makeRateLimit } from "../platform/rate-limit.ts";
import { makeKeptAnswering, type KeptAnswer } from "./answer-kept.ts";
import { makeAuthentication, type Authentication, type Caller } from "./authenticate.ts";
import { failureOf, failureReply } from "./failure-reply.ts";
import { forwardIngest } from "./forward-ingest.ts";
import { makeKeptAnswers } from "./kept-answers.ts";
import { makeKnownKeys } from "./known-keys.ts";
import { registerOpenApi, scopesOf } from "./openapi.ts";
import { servePages, type Pages } from "./pages/serve.tsx";
import { BODY_LIMIT } from "./read-body.ts";
import { makeStrangersRefusingServer } from "./refuse-strangers.ts";
import { registerRoutes } from "./register-routes.ts";
import { makeTxtResolver } from "../platform/resolve-txt.ts";
import type { ControlPlaneNeeds, Route } from "./route.ts";
import { API_ROOT, makeRouteTable, type RouteTable } from "./route-table.ts";
import { serveDocs } from "./serve-docs.ts";
import { serveSdk } from "./serve-sdk.ts";
import { startSourceMapIndexing } from "./source-map-indexing.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set below /api/v1 before anything else happens; null elsewhere. */
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    route?: Route;
  }
}

export interface ControlPlaneOptions extends Omit<ControlPlaneNeeds, "indexSourceMap" | "resolveTxt"> {
  /** Of all organizations: for finding keys, and for pages. Handlers get their caller's from `tenants`. */
  database: Database;
  /** For connections outside the pool, such as LISTEN. */
  databaseUrl: string;
  tenants: Tenants;
  /** Everything below /api/v1. */
  routes: readonly Route[];
  /** An edge to forward the ingest endpoints to, such as `http://127.0.0.1:8081`; null when they are served elsewhere. */
  edge: { address: string } | null;
  /** Hears how long each answer took; without it nobody does. */
  metrics?: Pick<Metrics, "httpDuration">;
  /** Answers `/livez`, `/readyz` and `/metrics`; without it nothing does. */
  probes?: Probes;
}

const SANE_REQUEST_ID = /^[\w.-]{1,128}$/;

/** Is left out of an address of the REST API: who joins addresses by hand often leaves one. Pages keep theirs, for their links are relative. */
const SLASH_AT_END = new RegExp(`^(?<path>${API_ROOT}/[^?]*[^/?])/(?=\\?|$)`);

/** Answers that are kept, of all organizations together. */
const KEPT_BYTES = 32 * 1024 * 1024;

/** How long a request's bytes may take to arrive. */
const REQUEST_TIMEOUT_MS = 120_000;

/** As long as Node takes a request's head: however long a part of a path is, it is no more than unknown. */
const MAX_PARAM_LENGTH = 16_384;

/**
 * The control plane as a Fastify app that does not listen yet. A request below /api/v1 is authenticated and counted
 * first, then its scope is judged, then its body is read and validated; any failure becomes one shape of answer.
 */
export async function buildControlPlane(options: ControlPlaneOptions): Promise<FastifyInstance> {
  const { database, clock, config, log, edge, probes } = options;
  const clientAddress = makeClientAddress(config.TRUSTED_PROXIES);
  const keys = makeKnownKeys({ database, clock, log });
  const authentication = makeAuthentication({ keys, rateLimit: makeRateLimit({ clock }), clientAddress, clock, config });
  const versions = makeContentVersions(database);
  const kept = makeKeptAnswers<KeptAnswer>(KEPT_BYTES);
  const keptAnswering = makeKeptAnswering({ routes: options.routes, kept, versions, judge: authentication.judge, requestIdOf });
  const table = makeRouteTable();
  const indexing = startSourceMapIndexing(log);

  function answerFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const failure = failureOf(error);
    const about = { requestId: request.id, method: request.method, path: request.url.split("?")[0], err: error };
    if (failure.code === "INTERNAL") log.error(about, "a request failed");
    else if (failure.code === "UNAVAILABLE") log.warn(about, "a request could not be answered");
    const { status, headers, body } = failureReply(failure, request.id);
    return reply.code(status).headers(headers).send(body);
  }

  function noteAnswer({ method = "" }: Pick<IncomingMessage, "method">, route: string | undefined, status: number, seconds: number): void {
    options.metrics?.httpDuration.observe({ method, route: route ?? "none", status: `${Math.floor(status / 100)}xx` }, seconds);
  }

  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT,
    serverFactory: (handle) => makeStrangersRefusingServer(handle, { refuseAtOnce: authentication.refuseAtOnce, keptAnswering, requestIdOf, noteAnswer, requestTimeout: REQUEST_TIMEOUT_MS }),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    rewriteUrl: ({ url = "" }) => url.replace(SLASH_AT_END, "$<path>"),
    // While stopping, what arrives on an open connection is still answered; the connection then ends.
    return503OnClosing: false,
    genReqId: requestIdOf,
    frameworkErrors: (error, request, reply) => {
      void reply.header("X-Request-Id", request.id);
      void answerFailure(countedOr(error, () => authentication.countStranger(request, reply)), request, reply);
    },
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.end(rawRefusal(error.code));
      else socket.destroy(error);
    },
  });
  app.decorateRequest("caller", null);
  app.addHook("onRequest", async (request, reply) => {
    void reply.header("X-Request-Id", request.id).header("X-Content-Type-Options", "nosniff");
  });
  app.addHook("onResponse", async (request, reply) => noteAnswer(request, request.routeOptions.url, reply.statusCode, reply.elapsedTime / 1_000));
  app.addHook("onClose", () => keys.close());
  app.addHook("onClose", async () => indexing.close());
  app.setErrorHandler(answerFailure);

  const addressOf = (request: FastifyRequest) => clientAddress(request.socket.remoteAddress ?? "", header(request, "x-forwarded-for"));
  // Before the table hears of routes: what an edge offers is the edge's to say.
  if (edge) await forwardIngest(app, edge.address, { countStranger: authentication.countStranger, addressOf, clock });
  app.addHook("onRoute", ({ method, url }) => table.add([method].flat(), url));
  await registerOpenApi(app, config.PUBLIC_URL ?? "/");
  const pages = await servePages(app, { ...options, addressOf, isReady: () => isReady(probes) });
  await app.register(async (api) => registerApi(api, { options: { ...options, versions, kept, indexSourceMap: indexing.indexFile, resolveTxt: makeTxtResolver(config) }, authentication, table, pages }), { prefix: API_ROOT });
  await serveDocs(app);
  await serveSdk(app, publicUrl(config));
  if (probes) serveProbes(app, probes, (request) => vouchedAddress(clientAddress, request.socket.remoteAddress ?? "", header(request, "x-forwarded-for")));
  app.setNotFoundHandler((request, reply) => answerUnknownPath(request, reply, { authentication, pages, table }));
  return app;
}

/** Everything below /api/v1: nobody gets further than the first hook without a valid key. */
function registerApi(
  api: FastifyInstance,
  { options, authentication, table, pages }: { options: Parameters<typeof registerRoutes>[1]; authentication: Authentication; table: RouteTable; pages: Pages },
): void {
  api.addHook("onRequest", async (request, reply) => {
    void reply.header("Cache-Control", "no-store");
    request.caller = await authentication.requireCaller(request, reply);
    // Before the body is looked at: whatever it is, the address is wrong.
    if (request.is404) return answerUnknown(request, reply, table);
    const { route } = request.routeOptions.config;
    const refusal = route && scopeRefusal(request.caller.scopes, scopesOf(route));
    if (refusal) throw refusal;
    return undefined;
  });
  // Other processes hear of it from Postgres; whoever was answered here sees it here at once.
  api.addHook("onSend", async (request, reply) => {
    if (request.caller && request.method !== "GET" && request.method !== "HEAD" && reply.statusCode < 400) pages.dropOf(request.caller.actor.organizationId);
  });
  api.setNotFoundHandler((request, reply) => answerUnknown(request, reply, table));
  registerRoutes(api, options);
}

/** OPTIONS is answered with the methods that are offered; else NOT_FOUND, or METHOD_NOT_ALLOWED with the `Allow` header. */
function answerUnknown(request: FastifyRequest, reply: FastifyReply, table: RouteTable): FastifyReply {
  const methods = table.methodsAt(request.url.split("?")[0]!);
  if (methods.length === 0 || methods.includes(request.method)) throw new Failure("NOT_FOUND", "There is nothing at this address.", { fix: "/docs lists every endpoint." });
  void reply.header("Allow", [...methods, "OPTIONS"].join(", "));
  if (request.method === "OPTIONS") return reply.code(204).send();
  throw new Failure("METHOD_NOT_ALLOWED", `${request.method} is not offered here.`, { fix: `Use ${methods.join(" or ")}.` });
}

function answerUnknownPath(request: FastifyRequest, reply: FastifyReply, { authentication, pages, table }: { authentication: Authentication; pages: Pages; table: RouteTable }): FastifyReply {
  const wantsPage = (request.method === "GET" || request.method === "HEAD") && (header(request, "accept") ?? "").includes("text/html");
  if (wantsPage && !request.url.startsWith("/api/")) return pages.answerNotFound(reply);
  if (request.url.startsWith("/api/")) authentication.countStranger(request, reply);
  return answerUnknown(request, reply, table);
}

function serveProbes(app: FastifyInstance, probes: Probes, addressOf: (request: FastifyRequest) => string): void {
  for (const path of ["/livez", "/readyz", "/metrics"]) {
    app.get(path, async (request, reply) => {
      const answer = (await probes(path, addressOf(request)))!;
      return reply.code(answer.status).header("Content-Type", answer.contentType).header("Cache-Control", "no-store").send(answer.body);
    });
  }
}

async function isReady(probes: Probes | undefined): Promise<boolean | null> {
  const answer = await probes?.("/readyz", "");
  return answer ? answer.status === 200 : null;
}

function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && SANE_REQUEST_ID.test(given) ? given : newId();
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** The refusal of counting, when there is one, else `error`. */
function countedOr(error: unknown, count: () => void): unknown {
  try {
    count();
    return error;
  } catch (refusal) {
    return refusal;
  }
}

/** An answer to bytes that are no HTTP request; there is neither a request nor a reply yet. */
function rawRefusal(code: string | undefined): string {
  const [line, sentence] =
    code === "HPE_HEADER_OVERFLOW"
      ? ["431 Request Header Fields Too Large", "The request's headers are too large."]
      : code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? ["408 Request Timeout", "The request took too long to arrive."]
        : ["400 Bad Request", "This is no valid HTTP request."];
  const requestId = newId();
  const { body } = failureReply(new Failure("INVALID_REQUEST", sentence), requestId);
  return `HTTP/1.1 ${line}\r\nContent-Type: application/json; charset=utf-8\r\nX-Request-Id: ${requestId}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}
