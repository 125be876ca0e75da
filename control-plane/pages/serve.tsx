import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { PAGE_CHANGES } from "../../domain/status-pages/announce-changes.ts";
import { listPublicPages } from "../../domain/status-pages/read-public-page.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { listenTo } from "../../platform/postgres/listen.ts";
import type { Tenants } from "../../platform/postgres/tenants.ts";
import { publicUrl } from "../../platform/public-url.ts";
import { remember } from "../../platform/remember.ts";
import { PROJECT_ROOT } from "../../platform/root.ts";
import { PAGE_LANGUAGES, type PageLanguage } from "../../schemas/vocabulary.ts";
import { failureOf } from "../failure-reply.ts";
import { chooseLanguage } from "./visits/choose-language.ts";
import { finishDrawing, uncompressed, type Drawn } from "./visits/drawn.ts";
import { readFonts } from "./looks/fonts.ts";
import { makeKeptModels } from "./visits/kept-models.ts";
import { MessagePage } from "./plain/message-page.tsx";
import { makePageNames } from "./visits/page-name.ts";
import { sendDrawn } from "./visits/send-drawn.ts";
import { spare } from "./visits/spare.ts";
import { StartPage } from "./plain/start-page.tsx";
import { makeAnswerLocked, serveStatusPages } from "./status-pages.tsx";
import { plainStyle, readStyleSheets } from "./looks/style.ts";
import { serveSubscriptions } from "./subscribing/subscriptions.tsx";
import { home } from "./visits/views.tsx";
import { makeViewLimit } from "./visits/view-limit.ts";
import { makeVisits } from "./visits/visits.ts";

/** Of the plain pages: nothing may run, and nothing but our own style sheet and images may load. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'self'";

/** Pages that the start page names. */
const MAX_LISTED_PAGES = 50;

/** A service whose metrics flap changes its page many times a second; visitors see it within this. */
const PAUSE_BETWEEN_DROPS_MS = 250;

interface PagesNeeds {
  database: Database;
  /** For hearing of changes. */
  databaseUrl: string;
  tenants: Tenants;
  clickhouse: ClickHouse;
  clock: Clock;
  config: Config;
  log: Log;
  /** The client's, past proxies. */
  addressOf(request: FastifyRequest): string;
  /** Whether the whole process is ready; null when nobody knows. */
  isReady(): Promise<boolean | null>;
}

export interface Pages {
  answerNotFound(reply: FastifyReply): FastifyReply;
  /** What an organization's pages show may have changed. */
  dropOf(organizationId: string): void;
}

/** The pages for people: the start page and the public status pages, whole from the server, without need of a script. */
export async function servePages(app: FastifyInstance, needs: PagesNeeds): Promise<Pages> {
  const { database, databaseUrl, clock, config, log, addressOf, isReady } = needs;
  const sheets = await readStyleSheets();
  const assets = await readAssets(plainStyle(sheets), clock.now());
  const { styles, script } = assets;

  /** What was said about caches and referrers before stays. */
  function sendDocument(reply: FastifyReply, status: number, document: string): FastifyReply {
    if (!reply.hasHeader("Referrer-Policy")) void reply.header("Referrer-Policy", "strict-origin-when-cross-origin");
    if (!reply.hasHeader("Cache-Control")) void reply.header("Cache-Control", "no-cache");
    return reply.code(status).header("Content-Type", "text/html; charset=utf-8").header("Content-Security-Policy", CONTENT_SECURITY_POLICY).send(document);
  }

  const send = (reply: FastifyReply, status: number, page: VNode) => sendDocument(reply, status, draw(page));

  /** Drawn once for each language: whoever guesses at names asks for many. */
  const notFound = remember((language) => draw(<MessagePage language={language as PageLanguage} says="not_found" styles={styles} />), PAGE_LANGUAGES.length);

  function answerNotFound(reply: FastifyReply): FastifyReply {
    return sendDocument(reply, 404, notFound(languageFor(reply)));
  }

  /** People get a page, not JSON, when a database is away. */
  function answerFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const failure = failureOf(error);
    log.error({ requestId: request.id, path: request.url.split("?")[0], err: error }, "a page could not be shown");
    const away = failure.code === "UNAVAILABLE";
    if (away) void reply.header("Retry-After", failure.details.retryAfter ?? 5);
    return send(reply, away ? 503 : 500, <MessagePage language={languageFor(reply)} says="unavailable" styles={styles} />);
  }

  const maxBytes = config.PAGE_CACHE_MB * 1_048_576;
  const kept = makeKeptModels({ clock, log, maxBytes });
  // Apart, because there are thousands of months and incidents to ask for, and what a page shows first shall outlive that.
  const parts = makeKeptModels({ clock, log, maxBytes: maxBytes / 4 });
  const drop = (organizationId: string | null) => {
    kept.drop(organizationId);
    parts.drop(organizationId);
  };
  const dropSparingly = spare(drop, PAUSE_BETWEEN_DROPS_MS);
  const listening = listenTo({ connectionString: databaseUrl, channel: PAGE_CHANGES, onNotify: (organizationId) => dropSparingly(organizationId ?? null), log });
  app.addHook("onClose", () => listening.stop());

  const names = makePageNames(publicUrl(config), config.PUBLIC_URL);
  const page = { send, answerNotFound, answerFailure, styles };
  const answerLocked = makeAnswerLocked(page);
  const visits = makeVisits({ ...needs, ...page, answerLocked, kept, parts, sheets, script });
  const limitViews = makeViewLimit(needs);
  await app.register(async (scope) => {
    scope.setErrorHandler(answerFailure);
    scope.addHook("onRequest", limitViews);
    await serveStatusPages(scope, { ...needs, ...page, names, visits });
    const answerStart = async (reply: FastifyReply) => {
      const [pages, ready] = await Promise.all([listPublicPages(database, MAX_LISTED_PAGES), isReady()]);
      return send(reply, 200, <StartPage pages={pages} ready={ready} styles={styles} />);
    };
    scope.get<{ Params: Record<string, string>; Querystring: Record<string, unknown> }>("/", (request, reply) => visits.answer(home, names.ofHost(request), request, reply, answerStart));
  });
  serveAssets(app, assets);
  await serveSubscriptions(app, { database, clock, config, addressOf, limitViews, ...page });
  return { answerNotFound, dropOf: drop };
}

function draw(page: VNode): string {
  return `<!doctype html>${renderToString(page)}`;
}

/** Of what belongs to no page; caches are told. */
function languageFor(reply: FastifyReply): PageLanguage {
  void reply.header("Vary", "Accept-Language");
  return chooseLanguage("en", { chosen: null, accepted: reply.request.headers["accept-language"] });
}

interface Assets {
  /** Path of the plain pages' style sheet, with its version. */
  styles: string;
  script: string;
  /** By path, without the version. */
  files: Map<string, Drawn>;
}

/** Whoever has one of a version never asks again. */
const FOR_EVER = { "Cache-Control": "public, max-age=31536000, immutable" };

async function readAssets(css: string, now: number): Promise<Assets> {
  const [js, fonts] = await Promise.all([readFile(join(PROJECT_ROOT, "control-plane/pages/documents/page.client.js")), readFonts()]);
  const texts = [
    { path: "/assets/page.css", type: "text/css; charset=utf-8", body: Buffer.from(css) },
    { path: "/assets/page.js", type: "text/javascript; charset=utf-8", body: js },
  ];
  const drawn = await Promise.all(texts.map(async ({ path, type, body }): Promise<[string, Drawn]> => [path, await finishDrawing({ type, body, headers: FOR_EVER }, { before: undefined, now })]));
  // Compressed already.
  const plain = [...fonts].map(([name, body]): [string, Drawn] => [`/assets/fonts/${name}`, uncompressed({ type: "font/woff2", body, headers: FOR_EVER }, now)]);
  const versioned = (path: string) => `${path}?v=${new Map(drawn).get(path)!.hash.slice(0, 12)}`;
  return { styles: versioned("/assets/page.css"), script: versioned("/assets/page.js"), files: new Map([...drawn, ...plain]) };
}

function serveAssets(scope: FastifyInstance, { files }: Assets): void {
  for (const [path, drawn] of files) scope.get(path, async (request, reply) => sendDrawn(request, reply, drawn));
}
