import { askOverTcp } from "../../../platform/outbound/ask-over-tcp.ts";
import { askServer, LookupFailed, type LookupNeeds } from "./lookup-needs.ts";
import { parseWhois, whoisReferral } from "./parse-whois.ts";
import { foundRegistration, notRegistered, publishesExpiry, type Lookup } from "./registration.ts";

const MOST_BYTES = 65_536;
const WHOIS_PORT = 43;
/** Of a server that has had enough. */
const REST_MS = 3_600_000;

/** What a registry wants to be asked, by top-level domain, where that is not the name alone. */
const QUESTIONS: Record<string, (domain: string) => string> = {
  com: (domain) => `domain ${domain}`,
  net: (domain) => `domain ${domain}`,
  name: (domain) => `domain=${domain}`,
  de: (domain) => `-T dn,ace ${domain}`,
  jp: (domain) => `${domain}/e`,
};

/**
 * Looks a domain up by WHOIS: the root server names the registry's, and a registry that tells no expiry may name the registrar's, which is asked
 * too. `root` is `host:port`. LookupFailed.
 */
export async function askWhois(needs: LookupNeeds, root: string, domain: string, signal: AbortSignal): Promise<Lookup> {
  const top = domain.slice(domain.lastIndexOf(".") + 1);
  const first = await ask(needs, root, domain, signal);
  const registry = whoisReferral(first);
  // A root of one's own may know the domain itself.
  if (registry === null || registry === root) return judge(needs, first, domain, root);
  const second = await ask(needs, registry, (QUESTIONS[top] ?? String)(domain), signal);
  const found = judge(needs, second, domain, registry);
  const registrar = whoisReferral(second);
  if (found.kind !== "found" || found.registration.expiry_date !== null || registrar === null || registrar === registry || !publishesExpiry(domain)) return found;
  const more = await ask(needs, registrar, domain, signal).then((text) => judge(needs, text, domain, registrar)).catch((error: unknown) => unlessStopped(error, signal));
  if (more?.kind !== "found") return found;
  return { ...more, registration: { ...more.registration, registrar: more.registration.registrar ?? found.registration.registrar } };
}

/** The registry's word counts when the registrar cannot be asked. */
function unlessStopped(error: unknown, signal: AbortSignal): null {
  signal.throwIfAborted();
  if (error instanceof LookupFailed) return null;
  throw error;
}

function judge(needs: LookupNeeds, text: string, domain: string, server: string): Lookup {
  const host = server.replace(/:\d+$/, "");
  const answer = parseWhois(text);
  if (answer.kind === "found") return foundRegistration(domain, answer.registration, host);
  if (answer.kind === "not_registered") return notRegistered(domain);
  if (answer.kind === "too_many") {
    needs.turns.rest(server, REST_MS);
    throw new LookupFailed(`${host} answers too many questions just now.`, REST_MS);
  }
  throw new LookupFailed(text.trim() === "" ? `${host} closed the connection without an answer.` : `${host} answered with something that could not be read.`);
}

async function ask(needs: LookupNeeds, server: string, question: string, signal: AbortSignal): Promise<string> {
  const [, host = server, port] = /^(.*?)(?::(\d+))?$/.exec(server) ?? [];
  const answer = await askServer(needs, { id: server, host }, signal, (limit) =>
    askOverTcp({ host, port: Number(port ?? WHOIS_PORT), text: `${question}\r\n`, ...needs.outbound, limitBytes: MOST_BYTES, signal: limit }),
  );
  return decode(answer);
}

/** UTF-8, or Latin-1 where it is not that. */
function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return bytes.toString("latin1");
  }
}
