import type { FastifyReply, FastifyRequest } from "fastify";
import { clientNetwork } from "../../../platform/client-address.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config.ts";
import { Failure } from "../../../platform/failures.ts";
import { makeRateLimit } from "../../../platform/rate-limit.ts";
import { failureReply } from "../../failure-reply.ts";

interface ViewLimitNeeds {
  clock: Clock;
  config: Pick<Config, "RATE_LIMIT_PAGE_VIEWS">;
  /** The client's, past proxies. */
  addressOf(request: FastifyRequest): string;
}

/**
 * Makes an onRequest hook that counts requests for pages by client, of IPv6 by its /64, in this process. Past the limit it answers 429 from
 * memory, before anything is looked for: a sentence for people, JSON for programs.
 */
export function makeViewLimit({ clock, config, addressOf }: ViewLimitNeeds): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined> {
  const rateLimit = makeRateLimit({ clock });
  const most = config.RATE_LIMIT_PAGE_VIEWS;
  return async (request, reply) => {
    if (most === 0) return undefined;
    const { allowed, retryAfterSeconds } = rateLimit.take(clientNetwork(addressOf(request), 64), most);
    if (allowed) return undefined;
    const failure = new Failure("RATE_LIMITED", "Too many requests from your network in this minute.", { retryAfter: retryAfterSeconds, fix: `Wait ${retryAfterSeconds} s.` });
    const { status, headers, body } = failureReply(failure, request.id);
    void reply.code(status).headers(headers).header("Cache-Control", "no-store");
    if (!request.headers.accept?.includes("text/html")) return reply.send(body);
    return reply.header("Content-Type", "text/plain; charset=utf-8").send(`${failure.message} Wait ${retryAfterSeconds} s.\n`);
  };
}
