import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * An address or CIDR range as it is kept: with its length, bits beyond it zero, IPv6 compressed, IPv4 never written as
 * IPv6. `203.0.113.7/24` becomes `203.0.113.0/24`, `::ffff:1.2.3.4` becomes `1.2.3.4/32`. Null for what is neither.
 */
export function normaliseRange(text: string): string | null {
  const [, address = "", length] = /^([0-9a-fA-F:.]{2,45})(?:\/(0|[1-9]\d{0,2}))?$/.exec(text.trim()) ?? [];
  const family = isIP(address);
  const width = family === 4 ? 32 : 128;
  const bits = length === undefined ? width : Number(length);
  if (family === 0 || bits > width) return null;
  if (family === 4) return networkOf(ipaddr.IPv4, address, bits);
  // The library takes ::1.2.3.4 for ::ffff:1.2.3.4, which is another address; in hexadecimal it has no choice.
  const parsed = ipaddr.IPv6.parse(new URL(`http://[${address}]`).hostname.slice(1, -1));
  if (parsed.isIPv4MappedAddress() && bits >= 96) return networkOf(ipaddr.IPv4, parsed.toIPv4Address().toString(), bits - 96);
  return networkOf(ipaddr.IPv6, parsed.toNormalizedString(), bits);
}

function networkOf(family: typeof ipaddr.IPv4 | typeof ipaddr.IPv6, address: string, bits: number): string {
  return `${family.networkAddressFromCIDR(`${address}/${bits}`).toString()}/${bits}`;
}
