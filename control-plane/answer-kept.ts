import type { IncomingMessage, ServerResponse } from "node:http";
import { scopeRefusal } from "../domain/api-keys/judge.ts";
import type { ContentVersions } from "../domain/organizations/content-version.ts";
import type { Authentication } from "./authenticate.ts";
import type { KeptAnswers } from "./kept-answers.ts";
import { scopesOf } from "./openapi.ts";
import type { Route } from "./route.ts";
import { API_ROOT } from "./route-table.ts";

/** An answer that stays right until its organization's content changes. */
export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

interface KeptAnsweringNeeds {
  routes: readonly Route[];
  kept: KeptAnswers<KeptAnswer>;
  versions: ContentVersions;
  judge: Authentication["judge"];
  requestIdOf(request: IncomingMessage): string;
}

export interface KeptAnswering {
  /** Whether the request asks for what may be kept. */
  mayAnswer(request: IncomingMessage): boolean;
  /** Answers when the answer is kept and the caller may have it; else false, and nothing was sent. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
}

/**
 * Answers from what is kept, before Fastify makes a request of it: that would cost more than all the
 * rest. Judges the key and asks for the version like any other request; whatever it does not find
 * is Fastify's, which finds the request judged and counted.
 */
export function makeKeptAnswering({ routes, kept, versions, judge, requestIdOf }: KeptAnsweringNeeds): KeptAnswering {
  const scopesAt = new Map(routes.filter(({ keptUntilChange }) => keptUntilChange).map((route) => [API_ROOT + route.path, scopesOf(route)]));

  async function find(request: IncomingMessage): Promise<{ answer: KeptAnswer; rate: Record<string, number> } | null> {
    const judged = await judge(request);
    if ("failure" in judged) return null;
    const { scopes, actor } = judged.caller;
    if (scopeRefusal(scopes, scopesAt.get(pathOf(request))!)) return null;
    const version = await versions.read(actor.organizationId);
    const answer = await kept.peek(actor.organizationId, request.url!, version);
    return answer && { answer, rate: judged.headers };
  }

  return {
    mayAnswer: (request) => request.method === "GET" && scopesAt.has(pathOf(request)),
    async answer(request, response) {
      // What fails here fails again where it is told and logged.
      const found = await find(request).catch(() => null);
      if (!found) return false;
      const { status, headers, body } = found.answer;
      response.writeHead(status, {
        "X-Request-Id": requestIdOf(request),
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        ...found.rate,
        ...headers,
        "Content-Length": body.length,
      });
      response.end(body);
      return true;
    },
  };
}

/** The path of a request, without its query. */
export function pathOf({ url }: IncomingMessage): string {
  const query = url!.indexOf("?");
  return query === -1 ? url! : url!.slice(0, query);
}
