/** Addresses that no request may go to: of each range that is not public unicast (IANA's registries for special purposes) the first, the last or one that is known for mischief. */
const IPV4 = [
  "0.0.0.0", "0.0.0.1", "0.255.255.255", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255", "127.0.0.1", "127.0.0.53", "127.255.255.254", "169.254.0.1", "169.254.169.254", "169.254.170.2",
  "169.254.255.255", "172.16.0.1", "172.17.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1",
  "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "168.63.129.16",
];

const IPV6 = [
  "::", "::1", "::2", "100::1", "fc00::1", "fd00::1", "fd00:ec2::254", "fdff:ffff::1", "fe80::1", "fe80::a9fe:a9fe", "febf::1", "fec0::1", "ff00::1", "ff02::1", "ff0e::1", "2001:db8::1", "3fff::1", "2001:2::1", "2001:10::1", "2001:20::1", "5f00::1", "4000::1",
  "2620:4f:8000::1", "64:ff9b:1::a00:1", "2001:0:7f00:1:0:0:f7f7:f7f7",
];

/** One IPv4 address as URL parsers, resolvers and people write it. */
function disguises(address: string): string[] {
  const parts = address.split(".").map(Number) as [number, number, number, number];
  const [a, b, c, d] = parts;
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (from: number, width = 2) => from.toString(16).padStart(width, "0");
  const [high, low] = [hex(a * 256 + b, 4), hex(c * 256 + d, 4)];
  return [
    address,
    `${address}.`,
    String(whole),
    `0x${hex(whole, 8)}`,
    `0${whole.toString(8)}`,
    parts.map((part) => `0x${hex(part)}`).join("."),
    parts.map((part) => `0${part.toString(8).padStart(3, "0")}`).join("."),
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`,
    address.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    address.replaceAll(".", "。"),
    `[::ffff:${address}]`,
    `[::ffff:${high}:${low}]`,
    `[::${high}:${low}]`,
    `[::ffff:0:${high}:${low}]`,
    `[64:ff9b::${high}:${low}]`,
    `[2002:${high}:${low}::1]`,
  ];
}

/** Hosts as they may stand in a URL. */
export const HOSTS_NOT_PUBLIC: readonly string[] = [...new Set([...IPV4.flatMap(disguises), ...IPV6.map((each) => `[${each}]`), "localhost", "LOCALHOST", "localhost.", "app.localhost", "a.b.localhost.", "ⓛocalhost", "[fe80::1%25eth0]", "%31%32%37.0.0.1", "127.1", "127.0.1", "0", "0x0"])];

/** Names whose only addresses are not public: what a resolver answers is made up by whoever owns the name. */
export const NAMES_NOT_PUBLIC: ReadonlyMap<string, string> = new Map(
  [...IPV4, ...IPV6, "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "2002:7f00:1::1", "64:ff9b::7f00:1", "fe80::1%eth0"].map((address, n): [string, string] => [
    ["metadata.google.internal", "instance-data.ec2.internal", "localhost.localdomain", "ip6-localhost", "kubernetes.default.svc", "127.0.0.1.nip.io", "router.lan"][n] ?? `name-${n}.attacker.example`,
    address,
  ]),
);
