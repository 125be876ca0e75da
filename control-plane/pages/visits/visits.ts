import type { FastifyReply, FastifyRequest } from "fastify";
import { isLedTo } from "../../../domain/status-pages/custom-domain.ts";
import { makeFindPage, type PageSettings } from "../../../domain/status-pages/find-page.ts";
import { judgeVisitor, type Judgement, type Visitor } from "../../../domain/status-pages/judge-visitor.ts";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config.ts";
import type { Log } from "../../../platform/log.ts";
import type { Database } from "../../../platform/postgres/database.ts";
import type { Tenants } from "../../../platform/postgres/tenants.ts";
import type { PageLanguage } from "../../../schemas/vocabulary.ts";
import { chooseLanguage } from "./choose-language.ts";
import { makeDrawings } from "./drawings.tsx";
import type { Held, KeptModels } from "./kept-models.ts";
import { pageLanguage } from "../messages/all.ts";
import type { NamedPage } from "./page-name.ts";
import { sendDrawn } from "./send-drawn.ts";
import type { StyleSheets } from "../looks/style.ts";
import type { View } from "./views.tsx";
import { visitorOf } from "../access/visitor-of.ts";

export interface VisitNeeds {
  database: Database;
  tenants: Tenants;
  clickhouse: ClickHouse;
  clock: Clock;
  config: Config;
  log: Log;
  /** Pages, and what they show first. */
  kept: KeptModels;
  /** What else they can be asked for. */
  parts: KeptModels;
  sheets: StyleSheets;
  /** Path of the pages' script, with its version. */
  script: string;
  addressOf(request: FastifyRequest): string;
  answerNotFound(reply: FastifyReply): FastifyReply;
  /** Asks for a page's password, or tells a program that it needs one. */
  answerLocked(reply: FastifyReply, locked: { settings: PageSettings; named: NamedPage; language: PageLanguage; forPrograms: boolean }): FastifyReply;
}

type PageRequest = FastifyRequest<{ Params: Record<string, string>; Querystring: Record<string, unknown> }>;

/** Shared caches may answer for a moment, go on while they ask again, and for a day while we do not answer. */
const FOR_EVERYBODY = "public, max-age=1, stale-while-revalidate=10, stale-if-error=86400";

export interface Visits {
  /** Answers a request for a view of a page, to visitors who may see it; others get what `otherwise` gives, as if there were no such page. */
  answer<Model>(view: View<Model>, named: NamedPage | null, request: PageRequest, reply: FastifyReply, otherwise?: (reply: FastifyReply) => FastifyReply | Promise<FastifyReply>): Promise<FastifyReply>;
  /** The page of a name and what this visitor is to it; null when there is none for them, which neither time nor a failure tells from no page at all. */
  admit(named: NamedPage | null, request: FastifyRequest): Promise<Admission | null>;
}

/** A page that a visitor may see, or may ask for with a password. */
interface Admission {
  settings: PageSettings;
  judgement: Exclude<Judgement, { kind: "hidden" }>;
  visitor: Visitor;
  /** As of what was read. */
  staleSince: number | null;
}

/**
 * How a page is visited: its settings say who may see it and how it looks, a view reads its model, and what is drawn of a model is
 * kept, compressed, for as long as the model is. Nothing is drawn for who may not see it.
 */
export function makeVisits(needs: VisitNeeds): Visits {
  const { database, tenants, clickhouse, clock, log, kept, parts, addressOf, answerNotFound, answerLocked } = needs;
  const drawings = makeDrawings(needs);
  const findPage = makeFindPage(database);

  async function heldSettingsOf({ name }: NamedPage): Promise<Held<PageSettings | null> & { looked: boolean }> {
    const key = "slug" in name ? `slug ${name.slug}` : `host ${name.host}`;
    let looked = false;
    const held = await kept.get(
      key,
      (settings: PageSettings | null) => settings?.page.organizationId ?? null,
      () => {
        looked = true;
        return findPage(name);
      },
    );
    return { ...held, looked };
  }

  async function admit(named: NamedPage | null, request: FastifyRequest): Promise<Admission | null> {
    if (!named) return null;
    const { model: settings, staleSince, looked } = await heldSettingsOf(named);
    const visitor = visitorOf(request, settings?.page ?? null, { addressOf, now: clock.now() });
    const judgement = judgeVisitor(settings?.page ?? null, visitor);
    if (settings && judgement.kind !== "hidden" && !isStrangersHost(named, settings)) return { settings, judgement, visitor, staleSince };
    // A page that is kept in memory is looked for like one that is not there.
    if (!looked) await findPage(named.name);
    return null;
  }

  return {
    admit,
    async answer(view, named, request, reply, otherwise = answerNotFound) {
      const admission = await admit(named, request);
      if (!named || !admission) return otherwise(reply);
      const { settings, judgement, visitor } = admission;
      const { page } = settings;
      const { language, chosen } = languageOf(settings, request);
      if (judgement.kind === "password") return answerLocked(reply, { settings, named, language, forPrograms: view.forPrograms });

      const now = new Date(clock.now());
      const key = view.keyOf(request, now);
      if (key === null) return answerNotFound(reply);
      const held = await (key === "" ? kept : parts).get(`${page.id} ${view.reads} ${key}`, () => page.organizationId, () =>
        view.read({ queries: tenants.of(page.organizationId), clickhouse, log, now }, settings, key),
      );
      const { model } = held;
      // Who may see it and how it looks may have changed as well as what it tells.
      const staleSince = admission.staleSince ?? held.staleSince;
      if (model === null) return answerNotFound(reply);
      void reply.headers(sharing(settings, judgement));
      const access = page.visibility === "private" ? visitor.access : null;
      const drawn = await drawings.draw(view, { model, staleSince }, { settings, named, key, language, chosen, access, preview: judgement.as === "preview" });
      return sendDrawn(request, reply, drawn);
    },
  };
}

/** Who may keep the answer, and who may tell others of it. */
function sharing({ page }: PageSettings, { as }: Judgement & { kind: "shown" }): Record<string, string> {
  const vary = `Accept-Encoding${page.matchVisitorLanguage ? ", Accept-Language" : ""}`;
  if (as === "everybody") {
    return {
      Vary: vary,
      "Cache-Control": FOR_EVERYBODY,
      "Referrer-Policy": "strict-origin-when-cross-origin",
      // Dashboards of others read badges, feeds and the summary; of a page that not everybody sees no other site hears.
      "Access-Control-Allow-Origin": "*",
      ...(page.visibility !== "public" && { "X-Robots-Tag": "noindex" }),
    };
  }
  // An address with a token is a key, which a link's target shall not hear.
  return { Vary: `${vary}, Cookie`, "Cache-Control": as === "few" ? "private, no-cache" : "no-store", "Referrer-Policy": "same-origin", "X-Robots-Tag": "noindex" };
}

/** Whether a page is asked for below the name that belongs to another: nobody shall speak in its owner's name. */
function isStrangersHost({ host }: NamedPage, { page }: PageSettings): boolean {
  return host !== null && !isLedTo(page, host);
}

function languageOf({ page }: PageSettings, { query, headers }: PageRequest): { language: PageLanguage; chosen: boolean } {
  const own = pageLanguage(page.language);
  if (!page.matchVisitorLanguage) return { language: own, chosen: false };
  const chosen = typeof query.lang === "string" ? query.lang : null;
  const language = chooseLanguage(own, { chosen, accepted: headers["accept-language"] });
  return { language, chosen: chosen === language };
}
