import { getOverHttp } from "./ask-rdap.ts";
import { LookupFailed, type LookupNeeds } from "./lookup-needs.ts";
import { parseObject } from "./read-rdap.ts";
import { RDAP_SERVERS } from "./rdap-servers.ts";

/** Base addresses of RDAP servers by the domains that they know. */
type Servers = ReadonlyMap<string, string>;

const DAY_MS = 86_400_000;
/** After a file that could not be fetched. */
const AGAIN_MS = 600_000;

const SHIPPED: Servers = new Map(RDAP_SERVERS.flatMap(([domains, base]) => domains.split(" ").map((domain): [string, string] => [domain, base])));

export interface Bootstrap {
  /** The base address of the RDAP server that knows a domain; null when none is known. */
  serverOf(domain: string, signal: AbortSignal): Promise<string | null>;
}

/** The shipped servers, or those of IANA's file at `url`, fetched once a day. While it cannot be fetched the last one counts, or the shipped. */
export function makeBootstrap(needs: LookupNeeds, url: string | null, onTrouble: (sentence: string) => void): Bootstrap {
  let servers = SHIPPED;
  let freshUntil = url === null ? Infinity : 0;

  async function refresh(address: string, signal: AbortSignal): Promise<void> {
    try {
      const { status, text, host } = await getOverHttp(needs, new URL(address), signal, "application/json");
      const read = status === 200 ? readBootstrap(text) : null;
      if (read === null) throw new LookupFailed(status === 200 ? `${host} answered with something that is no RDAP bootstrap file.` : `${host} answered with status ${status}.`);
      servers = read;
      freshUntil = performance.now() + DAY_MS;
    } catch (error) {
      signal.throwIfAborted();
      freshUntil = performance.now() + AGAIN_MS;
      onTrouble(error instanceof Error ? error.message : String(error));
    }
  }

  return {
    async serverOf(domain, signal) {
      if (url !== null && performance.now() >= freshUntil) await refresh(url, signal);
      // The longest that is known: a registry may have servers of its own for a second level.
      const labels = domain.split(".");
      for (let from = 0; from < labels.length; from++) {
        const base = servers.get(labels.slice(from).join("."));
        if (base !== undefined) return base;
      }
      return null;
    },
  };
}

/** `{services: [[["com"], ["https://rdap.example/"]], …]}` (RFC 9224 §3); https is taken before http. Null for anything else. */
function readBootstrap(text: string): Servers | null {
  const services = parseObject(text)?.services;
  if (!Array.isArray(services)) return null;
  const servers = new Map<string, string>();
  for (const service of services as unknown[]) {
    const [domains, bases] = (Array.isArray(service) ? service : []) as unknown[];
    const usable = textsOf(bases).filter((base) => /^https?:$/.test(URL.parse(base)?.protocol ?? ""));
    const base = usable.find((each) => each.startsWith("https:")) ?? usable[0];
    if (base !== undefined) for (const domain of textsOf(domains)) servers.set(domain.toLowerCase(), base);
  }
  return servers;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
