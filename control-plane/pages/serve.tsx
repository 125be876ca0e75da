import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { listPublicPages, readPublicPage } from "../../domain/status-pages/read-public-page.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { PROJECT_ROOT } from "../../platform/root.ts";
import { failureOf } from "../failure-reply.ts";
import { MessagePage } from "./message-page.tsx";
import { StartPage } from "./start-page.tsx";
import { StatusPage } from "./status-page.tsx";
import { serveSubscriptions } from "./subscriptions.tsx";

/** Nothing may run, and nothing but our own style sheet and images may load. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'self'";

/** Pages that the start page names. */
const MAX_LISTED_PAGES = 50;

const SLUG = /^[a-z0-9-]{1,63}$/;

interface PagesNeeds {
  database: Database;
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
}

/** The pages for people: the start page and the public status pages, whole from the server, without a script. */
export async function servePages(app: FastifyInstance, { database, clock, config, log, addressOf, isReady }: PagesNeeds): Promise<Pages> {
  const css = await readFile(join(PROJECT_ROOT, "control-plane/pages/page.css"));
  const styles = `/assets/page.css?v=${createHash("sha256").update(css).digest("hex").slice(0, 12)}`;

  function send(reply: FastifyReply, status: number, page: VNode): FastifyReply {
    return reply
      .code(status)
      .header("Content-Type", "text/html; charset=utf-8")
      .header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
      .header("Referrer-Policy", "strict-origin-when-cross-origin")
      .header("Cache-Control", "no-cache")
      .send(`<!doctype html>${renderToString(page)}`);
  }

  function answerNotFound(reply: FastifyReply): FastifyReply {
    return send(reply, 404, <MessagePage title="There is no such page" message="The address may be mistyped, or the page was removed." styles={styles} />);
  }

  /** People get a page, not JSON, when a database is away. */
  function answerFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const failure = failureOf(error);
    log.error({ requestId: request.id, path: request.url.split("?")[0], err: error }, "a page could not be shown");
    const away = failure.code === "UNAVAILABLE";
    if (away) void reply.header("Retry-After", failure.details.retryAfter ?? 5);
    return send(reply, away ? 503 : 500, <MessagePage title="This page cannot be shown right now" message="Please try again in a few seconds." styles={styles} />);
  }

  await app.register(async (scope) => {
    scope.setErrorHandler(answerFailure);
    scope.get("/", async (_request, reply) => {
      const [pages, ready] = await Promise.all([listPublicPages(database, MAX_LISTED_PAGES), isReady()]);
      return send(reply, 200, <StartPage pages={pages} ready={ready} styles={styles} />);
    });
    scope.get<{ Params: { slug: string }; Querystring: { access?: unknown } }>("/pages/:slug", async ({ params, query }, reply) => {
      const link = typeof query.access === "string" ? { token: query.access, now: clock.now() } : undefined;
      const page = SLUG.test(params.slug) ? await readPublicPage(database, params.slug, link) : null;
      if (!page) return answerNotFound(reply);
      const access = link ? `?access=${encodeURIComponent(link.token)}` : "";
      const subscribeAt = page.showSubscribeForm && config.SMTP_URL !== null ? `/pages/${page.slug}/subscribers${access}` : null;
      return send(reply, 200, <StatusPage page={page} styles={styles} subscribeAt={subscribeAt} />);
    });
    scope.get("/assets/page.css", async (_request, reply) => {
      return reply.header("Content-Type", "text/css; charset=utf-8").header("Cache-Control", "public, max-age=31536000, immutable").send(css);
    });
  });
  await serveSubscriptions(app, { database, clock, config, addressOf, send, answerNotFound, answerFailure, styles });
  return { answerNotFound };
}
