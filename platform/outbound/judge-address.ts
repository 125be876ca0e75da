import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressRange = [Address, number];

/** Every reason to refuse an address, or none. */
export type Judgement = { ok: true } | { ok: false; sentence: string; fix: string };

/** The whole of the IPv6 space that is assigned for global unicast (RFC 4291, IANA's registry). */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];

/** Public by its range, but answered by the hosting machine of a cloud itself (Azure's WireServer). */
const CLOUD_INTERNAL = new Set(["168.63.129.16"]);

/** `10.0.0.0/8`, `::1` … as the operator allows them; a bare address stands for itself. */
export function parseRanges(texts: readonly string[]): AddressRange[] {
  return texts.map((text) => (text.includes("/") ? ipaddr.parseCIDR(text) : whole(ipaddr.parse(text))));
}

function whole(address: Address): AddressRange {
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

/**
 * Whether a request may go to an address: only to public unicast, or to what the operator allows. An IPv6 address
 * that carries an IPv4 one (mapped, 6to4, NAT64, Teredo) is judged by what it carries, since that is who is reached.
 */
export function judgeAddress(text: string, allow: readonly AddressRange[]): Judgement {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  const address = parseStrictly(bare);
  return address && isAllowed(address, allow) ? { ok: true } : refused(text);
}

/** Lax forms such as 0x7f.1 are for URL parsers; a zone names an interface of this machine, which nothing public needs. */
function parseStrictly(text: string): Address | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (isIP(text) !== 6 || text.includes("%")) return null;
  // ipaddr.js takes ::8.8.8.8 for ::ffff:8.8.8.8, which is another address; in hexadecimal it has no choice.
  const hexadecimal = URL.parse(`http://[${text}]`)?.hostname.slice(1, -1);
  return hexadecimal === undefined ? null : ipaddr.IPv6.parse(hexadecimal);
}

function isAllowed(address: Address, allow: readonly AddressRange[]): boolean {
  if (allow.some(([start, bits]) => start.kind() === address.kind() && address.match(start, bits))) return true;
  if (address.kind() === "ipv4") return address.range() === "unicast" && !CLOUD_INTERNAL.has(address.toString());
  const carried = carriedAddresses(address as ipaddr.IPv6);
  if (carried.length > 0) return carried.every((inner) => isAllowed(inner, allow));
  return address.range() === "unicast" && address.match(GLOBAL_UNICAST);
}

/** The IPv4 addresses inside an IPv6 one: both the server and the client of Teredo. */
function carriedAddresses(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const { parts } = address;
  const at = (index: number, mask = 0): ipaddr.IPv4 => {
    const [high, low] = [parts[index]! ^ mask, parts[index + 1]! ^ mask];
    return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
  };
  const range = address.range();
  if (range === "ipv4Mapped" || range === "rfc6145") return [at(6)];
  if (range === "6to4") return [at(1)];
  if (range === "teredo") return [at(2), at(6, 0xffff)];
  // NAT64's well-known prefix only: how 64:ff9b:1::/48 carries an address is up to each network.
  if (range === "rfc6052" && parts[2] === 0) return [at(6)];
  return [];
}

function refused(text: string): Judgement {
  return {
    ok: false,
    sentence: `The address ${text} is not public.`,
    fix: `Use a public address. An operator of this Pharos can allow others with OUTBOUND_ALLOW, for example OUTBOUND_ALLOW=${example(text)}.`,
  };
}

function example(text: string): string {
  const address = parseStrictly(text.replace(/^\[|\]$/g, "").replace(/%.*/, ""));
  if (!address) return "10.0.0.0/8";
  return `${address.toString()}/${address.kind() === "ipv4" ? 32 : 128}`;
}
