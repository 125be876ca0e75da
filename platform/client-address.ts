import ipaddr from "ipaddr.js";
import { remember } from "./remember.ts";

/** The client's address from the connection's own and the request's `X-Forwarded-For`. */
export type ClientAddress = (socketAddress: string, forwardedFor?: string) => string;

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Addresses of connections that are remembered at a time. */
const MOST_KNOWN = 10_000;

/**
 * `trusted` are addresses and CIDR ranges of proxies. Each proxy appends whom it heard from, so the list is read
 * from its right end: the first address that is no trusted proxy is the client; everything left of it could have
 * been written by the client. An entry that is no address ends the reading at the proxy that sent it.
 * IPv4 in IPv6 form is given as IPv4. A connection without an address (a Unix socket) gives its text unchanged.
 */
export function makeClientAddress(trusted: readonly string[]): ClientAddress {
  const ranges = trusted.map(readRange);
  /** Reading a connection's own address costs more than judging the rest of a short request. */
  const ownAddress = remember((socketAddress) => readAddress(socketAddress)?.toString() ?? socketAddress, MOST_KNOWN);

  function isTrusted(address: Address): boolean {
    return ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
  }

  return (socketAddress, forwardedFor) => {
    if (forwardedFor === undefined) return ownAddress(socketAddress);
    let client = readAddress(socketAddress);
    if (client === null) return socketAddress;
    const hops = forwardedFor.split(",");
    for (let at = hops.length - 1; at >= 0 && isTrusted(client); at--) {
      const hop = readAddress(withoutPort(hops[at]!.trim()));
      if (hop === null) break;
      client = hop;
    }
    return client.toString();
  };
}

/**
 * The client's address where only some are let in: empty when the request was forwarded by somebody who is no trusted proxy,
 * because the connection's own address is then the forwarder's. Who sends through an unknown proxy on this machine is not this machine.
 */
export function vouchedAddress(clientAddress: ClientAddress, socketAddress: string, forwardedFor: string | undefined): string {
  const own = clientAddress(socketAddress);
  const client = clientAddress(socketAddress, forwardedFor);
  return forwardedFor !== undefined && client === own ? "" : client;
}

/** An address as text, IPv4 in IPv6 form as IPv4 and without its zone; null for what is none. */
export function readAddress(text: string): Address | null {
  // The zone of a link-local address is a name of our own interface; databases do not take it as part of an address.
  const address = text.replace(/%.*$/, "");
  // `ipaddr.js` also reads forms such as 127.1 or 0x7f000001, which no proxy writes.
  if (!ipaddr.IPv6.isValid(address) && !ipaddr.IPv4.isValidFourPartDecimal(address)) return null;
  return ipaddr.process(address);
}

/**
 * Whom limits count as one client: an IPv4 address, or the network of an IPv6 address, as `2001:db8::/64`, because whoever has one address of it has
 * them all. `bits` is a multiple of 16. What is no address is given unchanged.
 */
export function clientNetwork(text: string, bits: 48 | 64 = 64): string {
  const address = readAddress(text);
  if (address === null) return text;
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const parts = address.parts.map((part, at) => (at < bits / 16 ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/${bits}`;
}

/** `1.2.3.4:80` and `[::1]:80`, as some proxies write them. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text);
  if (bracketed) return bracketed[1]!;
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text;
}

function readRange(text: string): [Address, number] {
  if (text.includes("/")) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}
