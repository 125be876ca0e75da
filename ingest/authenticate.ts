import type { HttpRequest } from "uWebSockets.js";
import type { FoundApiKey } from "../domain/api-keys/find.ts";
import { invalidity, scopeRefusal } from "../domain/api-keys/judge.ts";
import { countedAddress, type ClientAddress } from "../platform/client-address.ts";
import type { Clock } from "../platform/clock.ts";
import { Failure } from "../platform/failures.ts";
import { TooManyLoads } from "../platform/load-together.ts";
import { isPostgresAway } from "../platform/postgres/database.ts";
import type { RateLimit } from "../platform/rate-limit.ts";
import type { Scope } from "../schemas/vocabulary.ts";
import type { CredentialCache } from "./credential-cache.ts";
import type { Exchange } from "./exchange.ts";

export interface AuthenticateNeeds {
  credentials: CredentialCache;
  clock: Clock;
  rateLimit: RateLimit;
  clientAddress: ClientAddress;
  anonymousLimit: number;
  noteUse(keyId: string): void;
  /** What to answer for an error; what is no Failure is logged. */
  failureOf(error: unknown, exchange: Exchange): Failure;
}

/**
 * Hands over the key of a request: at once when the edge knows it, else after a look-up. A request without a valid key, or with
 * none of `scopes`, is answered here, and `accept` is not called. Has to be called before the request's handler returns.
 */
export function authenticate(needs: AuthenticateNeeds, exchange: Exchange, request: HttpRequest, scopes: readonly Scope[], accept: (key: FoundApiKey) => void): void {
  const text = request.getHeader("x-api-key") || readBearer(request.getHeader("authorization"));
  const found = text === "" ? null : needs.credentials.apiKey(text);
  if (found && invalidity(found, needs.clock.now()) === null) return admit(found);

  // Whose request it is matters only without a valid key.
  exchange.forwardedFor = request.getHeader("x-forwarded-for");
  const stranger = strangerName(needs, exchange);
  // Counted before the look-up, so that an address past its limit costs none; a valid key takes it back.
  if (!takeRate(needs.rateLimit, exchange, stranger, needs.anonymousLimit)) return;
  if (found !== undefined) return judge(found);
  needs.credentials.loadApiKey(text).then(judge, (error: unknown) => exchange.fail(lookUpFailure(needs, error, exchange)));

  function judge(key: FoundApiKey | null): void {
    const invalid = key === null ? unknownKey(text) : invalidity(key, needs.clock.now());
    if (key === null || invalid !== null) return exchange.fail(invalid!);
    needs.rateLimit.giveBack(stranger);
    exchange.rate = null;
    admit(key);
  }

  function admit(key: FoundApiKey): void {
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

/** What requests of this sender count under while it has no valid key. */
function strangerName({ clientAddress }: Pick<AuthenticateNeeds, "clientAddress">, exchange: Exchange): string {
  return `anonymous/${countedAddress(clientAddress(exchange.socketAddress(), exchange.forwardedFor || undefined))}`;
}

/** Counts a request; sets its rate headers; false when it was answered 429. */
export function takeRate(rateLimit: RateLimit, exchange: Exchange, name: string, limit: number): boolean {
  const state = rateLimit.take(name, limit);
  if (exchange.rate === null || state.remaining < exchange.rate.remaining || !state.allowed) exchange.rate = state;
  if (state.allowed) return true;
  exchange.fail(rateLimited(state.limit, state.retryAfterSeconds));
  return false;
}

function rateLimited(limit: number, retryAfter: number): Failure {
  return new Failure("RATE_LIMITED", `More than ${limit} requests in this minute.`, { retryAfter, fix: `Wait ${retryAfter} s, or send less often.` });
}

/** A look-up that failed: 503 while Postgres is away or busy, so that no client throws its data away on a 401. */
export function lookUpFailure({ failureOf }: Pick<AuthenticateNeeds, "failureOf">, error: unknown, exchange: Exchange): Failure {
  if (isPostgresAway(error)) return new Failure("UNAVAILABLE", "This key is not known here yet and the database that knows it is away.", { retryAfter: 5 });
  if (error instanceof TooManyLoads) return new Failure("UNAVAILABLE", "This key is not known here yet and too many are being looked up.", { retryAfter: 1, fix: "Send it again." });
  return failureOf(error, exchange);
}
