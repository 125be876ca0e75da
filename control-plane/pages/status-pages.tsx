import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { VNode } from "preact";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import type { Database } from "../../platform/postgres/database.ts";
import type { makePageNames, NamedPage } from "./visits/page-name.ts";
import { pageAddresses } from "./documents/addresses.ts";
import { PROGRAM_VIEWS } from "./visits/program-views.ts";
import { makeUnlock, prepareUnlock, UnlockPage } from "./access/unlock.tsx";
import { history, home, incident, type View } from "./visits/views.tsx";
import type { Visits, VisitNeeds } from "./visits/visits.ts";

interface StatusPagesNeeds {
  database: Database;
  clock: Clock;
  config: Config;
  names: ReturnType<typeof makePageNames>;
  visits: Visits;
  styles: string;
  addressOf(request: FastifyRequest): string;
  send(reply: FastifyReply, status: number, page: VNode): FastifyReply;
  answerNotFound(reply: FastifyReply): FastifyReply;
}

interface PageRequest {
  Params: Record<string, string>;
  Querystring: Record<string, unknown>;
}

/** What somebody gets who has not given a page's password: the question, or for a program the reason. */
export function makeAnswerLocked({ send, styles }: Pick<StatusPagesNeeds, "send" | "styles">): VisitNeeds["answerLocked"] {
  return (reply, { settings: { page }, named, language, forPrograms }) => {
    void reply.header("Cache-Control", "no-store").header("X-Robots-Tag", "noindex").header("Referrer-Policy", "no-referrer");
    if (forPrograms) return reply.code(401).header("Content-Type", "text/plain; charset=utf-8").send("This page needs a password.\n");
    const { unlock: action } = pageAddresses({ origin: "", base: named.base, access: null });
    return send(reply, 401, <UnlockPage language={language} styles={styles} action={action} hint={page.passwordHint} error={null} />);
  };
}

/** The views of status pages: below `/pages/{slug}`, and at the root of a host name that leads to a page. */
export async function serveStatusPages(scope: FastifyInstance, needs: StatusPagesNeeds): Promise<void> {
  const { names, visits } = needs;
  const ofSlug = (request: FastifyRequest<PageRequest>) => names.ofSlug(request.params.slug!, request);
  const ofHost = (request: FastifyRequest<PageRequest>) => names.ofHost(request);

  // Its place at the root of a host name is the start page's otherwise.
  scope.get<PageRequest>("/pages/:slug", (request, reply) => visits.answer(home, ofSlug(request), request, reply));
  // As people type it.
  scope.get<PageRequest>("/pages/:slug/", async (request, reply) => reply.redirect(`/pages/${encodeURIComponent(request.params.slug!)}${request.url.includes("?") ? request.url.slice(request.url.indexOf("?")) : ""}`, 301));
  const serve = <Model,>(view: View<Model>) => {
    scope.get<PageRequest>(`/pages/:slug${view.path}`, (request, reply) => visits.answer(view, ofSlug(request), request, reply));
    scope.get<PageRequest>(view.path, (request, reply) => visits.answer(view, ofHost(request), request, reply));
  };
  serve(incident);
  serve(history);
  // Each with a model of its own kind.
  for (const view of PROGRAM_VIEWS) serve(view as View<unknown>);

  await scope.register(async (locks) => {
    prepareUnlock(locks);
    const unlock = makeUnlock(needs);
    const answer = async (named: NamedPage | null, request: FastifyRequest<PageRequest>, reply: FastifyReply) => {
      const admission = await visits.admit(named, request);
      if (!named || !admission) return needs.answerNotFound(reply);
      const { page } = admission.settings;
      const { unlock: action, home } = pageAddresses({ origin: "", base: named.base, access: null });
      // Also where a reload leads after a wrong password.
      if (admission.judgement.kind === "shown" || request.method !== "POST") return reply.redirect(home, 303);
      return unlock(request, reply, { page, base: named.base, action });
    };
    for (const method of ["GET", "POST"] as const) {
      locks.route<PageRequest>({ method, url: "/pages/:slug/unlock", handler: (request, reply) => answer(ofSlug(request), request, reply) });
      locks.route<PageRequest>({ method, url: "/unlock", handler: (request, reply) => answer(ofHost(request), request, reply) });
    }
  });
}
