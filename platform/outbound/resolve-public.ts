import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { judgeAddress } from "./judge-address.ts";
import { judgePort, type OutboundRules } from "./rules.ts";

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** All addresses of a name; rejects when it has none. */
export type Resolve = (name: string) => Promise<ResolvedAddress[]>;

/** As the machine resolves names, `/etc/hosts` included. */
export const systemResolve: Resolve = (name) => lookup(name, { all: true, verbatim: true });

/** The request may not go where its URL leads; the message says why and what to do. */
export class AddressRefused extends Error {
  readonly sentence: string;
  readonly fix: string;

  constructor({ sentence, fix }: { sentence: string; fix: string }) {
    super(`${sentence} ${fix}`);
    this.sentence = sentence;
    this.fix = fix;
  }
}

/**
 * The addresses of a host that a request may go to, looked up once: whoever connects must use these and never look
 * up again, or a name that changes its address in between (DNS rebinding) would get past. Addresses that are not
 * allowed are left out; AddressRefused when none remains, or when the port is not open.
 */
export async function resolvePublic(host: string, port: number, { resolve, ...rules }: OutboundRules & { resolve: Resolve }): Promise<ResolvedAddress[]> {
  const open = judgePort(port, rules);
  if (!open.ok) throw new AddressRefused(open);
  const literal = isIP(host);
  const found = literal === 0 ? await resolve(host) : [{ address: host, family: literal }];
  const judged = found.map((each) => ({ each, judgement: judgeAddress(each.address, rules.allow) }));
  const accepted = judged.filter(({ judgement }) => judgement.ok).map(({ each }) => each);
  if (accepted.length > 0) return accepted;
  const refusal = judged[0]?.judgement;
  if (!refusal || refusal.ok) throw new Error(`The name ${host} has no address.`);
  throw refuseAddress(host, refusal);
}

/** The refusal of a host for its address. What a name leads to is not told: whoever set the name must not learn addresses of the network that Pharos stands in. */
export function refuseAddress(host: string, judged: { sentence: string; fix: string }): AddressRefused {
  if (isIP(host) !== 0) return new AddressRefused(judged);
  return new AddressRefused({ sentence: `The name ${host} has no public address.`, fix: "Use a name with a public address. An operator of this Pharos can allow others with OUTBOUND_ALLOW." });
}
