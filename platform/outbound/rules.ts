import type { Config } from "../config.ts";
import { parseRanges, type AddressRange, type Judgement } from "./judge-address.ts";

/** Where the operator lets requests go. */
export interface OutboundRules {
  /** Addresses that may be reached although they are not public. */
  allow: readonly AddressRange[];
  /** From and to, both included; none lets all ports through. */
  ports: readonly (readonly [number, number])[];
}

export type OutboundConfig = Pick<Config, "OUTBOUND_ALLOW" | "OUTBOUND_PORTS">;

export function outboundRules({ OUTBOUND_ALLOW, OUTBOUND_PORTS }: OutboundConfig): OutboundRules {
  return { allow: parseRanges(OUTBOUND_ALLOW), ports: OUTBOUND_PORTS };
}

/** Whether a request may go to a port. */
export function judgePort(port: number, { ports }: Pick<OutboundRules, "ports">): Judgement {
  if (ports.length === 0 || ports.some(([from, to]) => port >= from && port <= to)) return { ok: true };
  const open = ports.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(", ");
  return { ok: false, sentence: `Port ${port} is not open for outgoing requests.`, fix: `Use one of ${open}. An operator of this Pharos can open others with OUTBOUND_PORTS.` };
}
