import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Actor } from "../domain/actor.ts";
import { countRequest, tooManyRequests } from "../domain/api-keys/count-request.ts";
import { isWellFormedApiKey } from "../domain/api-keys/format.ts";
import { invalidity } from "../domain/api-keys/judge.ts";
import type { FoundApiKey } from "../domain/api-keys/find.ts";
import { clientNetwork, type ClientAddress } from "../platform/client-address.ts";
import type { Clock } from "../platform/clock.ts";
import type { Config } from "../platform/config.ts";
import { Failure } from "../platform/failures.ts";
import { TooManyLoads } from "../platform/load-together.ts";
import { isPostgresAway } from "../platform/postgres/database.ts";
import type { RateLimit, RateState } from "../platform/rate-limit.ts";
import type { Plan } from "../schemas/vocabulary.ts";
import type { KnownKeys } from "./known-keys.ts";

/** Who calls: the holder of a valid API key. */
export interface Caller {
  actor: Actor;
  scopes: readonly string[];
  plan: Plan;
}

interface AuthenticateNeeds {
  keys: KnownKeys;
  rateLimit: RateLimit;
  clientAddress: ClientAddress;
  clock: Clock;
  config: Config;
}

/** What became of a request's key, with the rate headers of its answer. */
type Judged = { headers: Record<string, number> } & ({ caller: Caller } | { failure: unknown });

export interface Authentication {
  /** Judges a request's key and counts the request, once however often it is asked. Never rejects. */
  judge(request: Asking): Promise<Judged>;
  /** The caller, after counting the request; UNAUTHENTICATED, RATE_LIMITED or UNAVAILABLE. */
  requireCaller(request: FastifyRequest, reply: FastifyReply): Promise<Caller>;
  /** Counts a request that names no key, by its client's address; RATE_LIMITED. */
  countStranger(request: FastifyRequest, reply: FastifyReply): void;
  /**
   * Refuses a request for which no key needs to be looked up, and counts it. That is a request without a well-formed key, or one
   * with an unknown key from an address past its limit. Gives the failure and the rate headers. Null for all others, which are not counted.
   */
  refuseAtOnce(request: Asking): { failure: Failure; headers: Record<string, number> } | null;
}

type Asking = Pick<IncomingMessage, "headers" | "socket">;

/** Every answer to a counted request carries its rate headers, refusals too. */
export function makeAuthentication({ keys, rateLimit, clientAddress, clock, config }: AuthenticateNeeds): Authentication {
  /** Of requests that were judged before they came to Fastify. */
  const judged = new WeakMap<Asking, Promise<Judged>>();

  function addressOf(request: Asking): string {
    return clientAddress(request.socket.remoteAddress ?? "", joined(request.headers["x-forwarded-for"]));
  }

  function strangerName(request: Asking): string {
    return `anonymous/${clientNetwork(addressOf(request))}`;
  }

  function countStranger(request: FastifyRequest, reply: FastifyReply): void {
    const state = rateLimit.take(strangerName(request), config.RATE_LIMIT_ANONYMOUS);
    void reply.headers(rateHeaders(state));
    if (!state.allowed) throw tooManyRequests(state);
  }

  async function findKey(text: string): Promise<FoundApiKey | null> {
    return keys.find(text).catch((error: unknown) => {
      // Not 401: callers throw their key away on that.
      if (isPostgresAway(error)) throw new Failure("UNAVAILABLE", "This key is not known here yet and the database that knows it is away.", { retryAfter: 5 });
      if (error instanceof TooManyLoads) throw new Failure("UNAVAILABLE", "This key is not known here yet and too many are being looked up.", { retryAfter: 1, fix: "Send it again." });
      throw error;
    });
  }

  function judge(request: Asking): Promise<Judged> {
    let judging = judged.get(request);
    if (!judging) judged.set(request, (judging = judgeKey(request)));
    return judging;
  }

  async function judgeKey(request: Asking): Promise<Judged> {
    let headers: Record<string, number> = {};
    /** `ownLimit` is the key's own, of a request with one. */
    function count(state: RateState, ownLimit?: number): void {
      headers = rateHeaders(state);
      if (!state.allowed) throw tooManyRequests(state, ownLimit);
    }
    const countAsStranger = () => count(rateLimit.take(strangerName(request), config.RATE_LIMIT_ANONYMOUS));
    try {
      return { caller: await requireKey(request, { count, countAsStranger }), headers };
    } catch (failure) {
      return { failure, headers };
    }
  }

  async function requireKey(request: Asking, { count, countAsStranger }: { count(state: RateState, ownLimit: number): void; countAsStranger(): void }): Promise<Caller> {
    const text = joined(request.headers["x-api-key"]) ?? "";
    const wellFormed = isWellFormedApiKey(text);
    // Counted before the look-up, so that an address past its limit costs none; a valid key takes it back. Who only joins a
    // look-up counts after it: a key's first requests may come all at once.
    const counted = wellFormed && keys.needsLookUp(text);
    if (counted) countAsStranger();
    const countOnce = () => counted || countAsStranger();
    const key = !wellFormed
      ? null
      : await findKey(text).catch((error: unknown) => {
          countOnce();
          throw error;
        });
    const refusal = key === null ? unknownKey(text, request.headers.authorization) : invalidity(key, clock.now());
    if (key === null || refusal) {
      countOnce();
      throw refusal!;
    }
    if (counted) rateLimit.giveBack(strangerName(request));
    const limit = config.RATE_LIMIT_STANDARD[key.plan];
    count(countRequest(rateLimit, "key/", key, limit), limit);
    keys.noteUse(key.id);
    const address = addressOf(request);
    const actor: Actor = {
      organizationId: key.organizationId,
      type: "api_key",
      id: key.id,
      name: key.name,
      ip: address === "" ? null : address,
      userAgent: storable(request.headers["user-agent"]),
    };
    return { actor, scopes: key.scopes, plan: key.plan };
  }

  return {
    countStranger,
    refuseAtOnce(request) {
      const text = joined(request.headers["x-api-key"]) ?? "";
      if (isWellFormedApiKey(text) && (keys.mayExist(text) || !rateLimit.isSpent(strangerName(request), config.RATE_LIMIT_ANONYMOUS))) return null;
      const state = rateLimit.take(strangerName(request), config.RATE_LIMIT_ANONYMOUS);
      return { failure: state.allowed ? unknownKey(text, request.headers.authorization) : tooManyRequests(state), headers: rateHeaders(state) };
    },
    judge,
    async requireCaller(request, reply) {
      const found = await judge(request.raw);
      void reply.headers(found.headers);
      if ("failure" in found) throw found.failure;
      return found.caller;
    },
  };
}

function rateHeaders({ limit, remaining, resetAtSeconds }: RateState): Record<string, number> {
  return { "X-RateLimit-Limit": limit, "X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": resetAtSeconds };
}

function unknownKey(text: string, authorization: string | undefined): Failure {
  if (text !== "") {
    const fix = isWellFormedApiKey(text) ? "Check that it is a key of this service and was not deleted." : "Check that it was copied whole: psk_ and 40 characters.";
    return new Failure("UNAUTHENTICATED", "This API key is not known.", { fix });
  }
  const fix = /^bearer /i.test(authorization ?? "") ? "Below /api/v1 the key is sent in the X-API-Key header, not as Authorization: Bearer." : "Send your API key in the X-API-Key header.";
  return new Failure("UNAUTHENTICATED", "An API key is required.", { fix });
}

/** A header that came more than once counts as the list of its values. */
function joined(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(", ") : header;
}

/** Header bytes are read as Latin-1, so only NUL could not be stored; the length is the sender's choice. */
function storable(userAgent: string | undefined): string | null {
  return userAgent?.replaceAll("\0", "").slice(0, 500) ?? null;
}
