import type { HttpRequest } from "uWebSockets.js";
import { countRequest, tooManyRequests } from "../domain/api-keys/count-request.ts";
import type { FoundApiKey } from "../domain/api-keys/find.ts";
import { invalidity, scopeRefusal } from "../domain/api-keys/judge.ts";
import { clientNetwork, type ClientAddress } from "../platform/client-address.ts";
import type { Clock } from "../platform/clock.ts";
import type { Config } from "../platform/config.ts";
import { Failure } from "../platform/failures.ts";
import { TooManyLoads } from "../platform/load-together.ts";
import { isPostgresAway } from "../platform/postgres/database.ts";
import type { RateLimit, RateState } from "../platform/rate-limit.ts";
import type { Scope } from "../schemas/vocabulary.ts";
import type { CredentialCache } from "./credential-cache.ts";
import type { Exchange } from "./exchange.ts";

export interface AuthenticateNeeds {
  credentials: CredentialCache;
  clock: Clock;
  rateLimit: RateLimit;
  clientAddress: ClientAddress;
  config: Config;
  noteUse(keyId: string): void;
  /** What to answer for an error; what is no Failure is logged. */
  failureOf(error: unknown, exchange: Exchange): Failure;
}

/** What a door asks of a key, and how often a key may come in a minute. */
export interface Entrance {
  /** One of these is enough. */
  scopes: readonly Scope[];
  /** Requests of one kind count apart from others'. */
  kind: string;
  limitOf(config: Config, key: FoundApiKey): number;
}

/**
 * Hands over the key of a request: at once when the edge knows it, else after a look-up. A request without a valid key, with
 * none of the scopes, or past a limit is answered here, and `accept` is not called. Every request is counted before this returns,
 * so each answer to it has rate headers. Has to be called before the request's handler returns.
 */
export function authenticate(needs: AuthenticateNeeds, exchange: Exchange, request: HttpRequest, { scopes, kind, limitOf }: Entrance, accept: (key: FoundApiKey) => void): void {
  const text = request.getHeader("x-api-key") || readBearer(request.getHeader("authorization"));
  const found = text === "" ? null : needs.credentials.apiKey(text);
  if (found && invalidity(found, needs.clock.now()) === null) return admit(found);

  // Whose request it is matters only without a valid key.
  exchange.forwardedFor = request.getHeader("x-forwarded-for");
  const address = addressName(needs, exchange);
  const state = needs.rateLimit.take(address, needs.config.RATE_LIMIT_ANONYMOUS);
  if (found !== undefined) return refuse(state, found);
  // Counted before the look-up, so that an address past its limit costs none; a valid key takes it back. Who only joins a
  // look-up counts after it: a known sender's first requests may come all at once.
  const joins = needs.credentials.isApiKeyLoading(text);
  if (joins) {
    needs.rateLimit.giveBack(address);
    exchange.rate = state;
  } else if (!isLet(exchange, state)) return;
  needs.credentials.loadApiKey(text).then(judge, (error: unknown) => exchange.fail(lookUpFailure(needs, error, exchange)));

  function judge(key: FoundApiKey | null): void {
    if (key === null || invalidity(key, needs.clock.now()) !== null) return refuse(joins ? needs.rateLimit.take(address, needs.config.RATE_LIMIT_ANONYMOUS) : state, key);
    if (!joins) needs.rateLimit.giveBack(address);
    exchange.rate = null;
    admit(key);
  }

  function refuse(state: RateState, key: FoundApiKey | null): void {
    if (isLet(exchange, state)) exchange.fail(key === null ? unknownKey(text) : invalidity(key, needs.clock.now())!);
  }

  function admit(key: FoundApiKey): void {
    const limit = limitOf(needs.config, key);
    if (!isLet(exchange, countRequest(needs.rateLimit, kind, key, limit), limit)) return;
    const refusal = scopeRefusal(key.scopes, scopes);
    if (refusal) return exchange.fail(refusal);
    needs.noteUse(key.id);
    accept(key);
  }
}

function readBearer(authorization: string): string {
  return /^bearer /i.test(authorization) ? authorization.slice(7).trim() : "";
}

function unknownKey(text: string): Failure {
  return text === ""
    ? new Failure("UNAUTHENTICATED", "An API key is required.", { fix: "Send it in the X-API-Key header or as Authorization: Bearer." })
    : new Failure("UNAUTHENTICATED", "This API key is not known.", { fix: "Check that the key was copied whole." });
}

type AddressNeeds = Pick<AuthenticateNeeds, "rateLimit" | "clientAddress" | "config">;

/** Counts a request that needs no key by its address; false when it was answered 429. */
export function isStrangerLet(needs: AddressNeeds, exchange: Exchange): boolean {
  return isLet(exchange, needs.rateLimit.take(addressName(needs, exchange), needs.config.RATE_LIMIT_ANONYMOUS));
}

/** What requests without a valid key count under. */
function addressName({ clientAddress }: AddressNeeds, exchange: Exchange): string {
  return `anonymous/${clientNetwork(clientAddress(exchange.socketAddress(), exchange.forwardedFor || undefined))}`;
}

/** Sets the rate headers of a request that was counted, of several limits the tightest; false when it was answered 429. */
export function isLet(exchange: Exchange, state: RateState, ownLimit?: number): boolean {
  if (exchange.rate === null || state.remaining < exchange.rate.remaining || !state.allowed) exchange.rate = state;
  if (!state.allowed) exchange.fail(tooManyRequests(state, ownLimit));
  return state.allowed;
}

/** A look-up that failed: 503 while Postgres is away or busy, so that no client throws its data away on a 401. */
export function lookUpFailure({ failureOf }: Pick<AuthenticateNeeds, "failureOf">, error: unknown, exchange: Exchange): Failure {
  if (isPostgresAway(error)) return new Failure("UNAVAILABLE", "This key is not known here yet and the database that knows it is away.", { retryAfter: 5 });
  if (error instanceof TooManyLoads) return new Failure("UNAVAILABLE", "This key is not known here yet and too many are being looked up.", { retryAfter: 1, fix: "Send it again." });
  return failureOf(error, exchange);
}
