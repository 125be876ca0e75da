import type { Config } from "../../../platform/config.ts";
import type { Log } from "../../../platform/log.ts";
import { systemResolve } from "../../../platform/outbound/resolve-public.ts";
import { outboundRules } from "../../../platform/outbound/rules.ts";
import { trust } from "../../../platform/outbound/trust.ts";
import type { LookupMethod } from "../../../schemas/vocabulary.ts";
import { askRdap } from "./ask-rdap.ts";
import { askWhois } from "./ask-whois.ts";
import { makeBootstrap } from "./bootstrap.ts";
import { LookupFailed, type LookupNeeds } from "./lookup-needs.ts";
import { publishesExpiry, type Lookup } from "./registration.ts";
import { makeTurns } from "./take-turns.ts";

/** Looks up who registered a domain and until when. Never rejects. */
export type LookUp = (domain: string, method: LookupMethod, signal?: AbortSignal) => Promise<Lookup>;

interface LookUpNeeds {
  config: Pick<Config, "OUTBOUND_ALLOW" | "OUTBOUND_PORTS" | "OUTBOUND_CA_FILE" | "RDAP_BOOTSTRAP_URL" | "WHOIS_ROOT" | "REGISTRY_PAUSE_MS">;
  log: Log;
  /** For one question, in ms. */
  timeoutMs?: number;
}

/** For everything together, the waiting for one's turn included. */
export const LOOK_UP_LIMIT_MS = 120_000;

/** A door to the registries. Its questions to one server come one after the other, REGISTRY_PAUSE_MS apart; each has 10 s. */
export function makeLookUp({ config, log, timeoutMs = 10_000 }: LookUpNeeds): LookUp {
  const outbound = { ...outboundRules(config), secureContext: trust(config.OUTBOUND_CA_FILE), resolve: systemResolve };
  const needs: LookupNeeds = { outbound, turns: makeTurns(config.REGISTRY_PAUSE_MS), timeoutMs };
  const bootstrap = makeBootstrap(needs, config.RDAP_BOOTSTRAP_URL, (reason) => log.warn({ reason }, "RDAP_BOOTSTRAP_URL could not be read; the RDAP servers known before are used"));

  async function byRdap(domain: string, signal: AbortSignal): Promise<Lookup> {
    const base = await bootstrap.serverOf(domain, signal);
    if (base === null) throw new LookupFailed(`No RDAP server is known for ${domain}.`);
    return askRdap(needs, base, domain, signal);
  }

  /** RDAP, and WHOIS when it has no answer, or none about the expiry of a registry that publishes it. */
  async function byEither(domain: string, signal: AbortSignal): Promise<Lookup> {
    const first = await attempt(() => byRdap(domain, signal), signal);
    const enough = first.kind === "not_registered" || (first.kind === "found" && (first.error === null || !publishesExpiry(domain)));
    if (enough) return first;
    const second = await attempt(() => askWhois(needs, config.WHOIS_ROOT, domain, signal), signal);
    if (second.kind === "found" && second.error === null) return second;
    if (first.kind === "found" || second.kind !== "failed") return first.kind === "found" ? first : second;
    return { ...second, error: `${first.error} ${second.error}`, retryAfterMs: second.retryAfterMs ?? first.retryAfterMs };
  }

  return async (domain, method, given) => {
    const limit = AbortSignal.timeout(LOOK_UP_LIMIT_MS);
    const signal = given ? AbortSignal.any([given, limit]) : limit;
    const ways = { auto: byEither, rdap: byRdap, whois: (name: string, until: AbortSignal) => askWhois(needs, config.WHOIS_ROOT, name, until) };
    try {
      return await attempt(() => ways[method](domain, signal), signal);
    } catch (error) {
      if (!signal.aborted) log.error({ err: error, domain }, "a domain could not be looked up");
      return { kind: "failed", error: limit.aborted ? `The registry of ${domain} could not be asked within ${LOOK_UP_LIMIT_MS / 1_000} s.` : "Pharos could not look the domain up.", retryAfterMs: null };
    }
  };
}

async function attempt(look: () => Promise<Lookup>, signal: AbortSignal): Promise<Lookup> {
  try {
    return await look();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof LookupFailed)) throw error;
    return { kind: "failed", error: error.message, retryAfterMs: error.retryAfterMs };
  }
}
