import ipaddr from "ipaddr.js";
import { readAddress } from "../../platform/client-address.ts";

type Range = ReturnType<typeof ipaddr.parseCIDR>;

/** Ranges that are kept parsed: 200 of them, a page's most, would take 1.5 ms for each of its visitors. */
const MAX_KEPT = 10_000;
const kept = new Map<string, Range | null>();

/**
 * Whether an address is in one of a page's ranges, which are kept as `normaliseRange` writes them. IPv4 in IPv6 form is
 * IPv4; a zone does not matter. What cannot be read, address or range, allows nobody.
 */
export function allowsAddress(ranges: readonly string[], text: string): boolean {
  const address = readAddress(text);
  if (address === null) return false;
  return ranges.some((each) => {
    const range = rangeOf(each);
    return range !== null && range[0].kind() === address.kind() && address.match(range);
  });
}

function rangeOf(text: string): Range | null {
  let range = kept.get(text);
  if (range !== undefined) return range;
  range = ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : null;
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(text, range);
  return range;
}
