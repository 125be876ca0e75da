import { Resolver } from "node:dns/promises";
import type { Config } from "./config.ts";

/** The texts of a name's TXT records; empty when the name service says that there are none. Rejects when it cannot be asked. */
export type ResolveTxt = (name: string) => Promise<string[]>;

const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** What a name service answers when it knows that there is no such record. */
const NONE = new Set(["ENODATA", "ENOTFOUND"]);

/** Asks DNS_SERVERS, or the system's name servers when that is empty. */
export function makeTxtResolver({ DNS_SERVERS: servers }: Pick<Config, "DNS_SERVERS">): ResolveTxt {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  return async (name) => {
    try {
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(""));
    } catch (error) {
      if (error instanceof Error && "code" in error && NONE.has(String(error.code))) return [];
      throw error;
    }
  };
}
