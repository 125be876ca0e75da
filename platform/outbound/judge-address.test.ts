import { describe, expect, it } from "vitest";
import { judgeAddress, parseRanges } from "./judge-address.ts";

const PUBLIC = [
  "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.215.14", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
  "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.88.98.255", "192.88.100.0",
  "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255",
  "2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450:4001:80b::200e", "2400:cb00:2048:1::c629:d7a2", "2003::1", "3ffe::1", "2c0f:fb50:4003::", "2001:200::1",
  // What they carry is public.
  "::ffff:8.8.8.8", "::ffff:808:808", "::FFFF:1.1.1.1", "::ffff:0:8.8.8.8", "64:ff9b::8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2001:0:808:808:0:0:f7f7:f7f7",
  "[2606:4700:4700::1111]",
];

const NOT_PUBLIC = [
  // Unspecified, private, loopback, link-local, carrier NAT: first and last of each range.
  "0.0.0.0", "0.0.0.1", "0.255.255.255", "10.0.0.0", "10.1.2.3", "10.255.255.255", "100.64.0.0", "100.100.100.200", "100.127.255.255", "127.0.0.0", "127.0.0.1", "127.1.1.1",
  "127.255.255.255", "169.254.0.0", "169.254.169.254", "169.254.170.2", "169.254.255.255", "172.16.0.0", "172.17.0.1", "172.31.255.255", "192.168.0.0", "192.168.1.1", "192.168.255.255",
  // Protocol assignments, documentation, benchmarks, relays, AS112, AMT.
  "192.0.0.0", "192.0.0.8", "192.0.0.170", "192.0.0.192", "192.0.0.255", "192.0.2.0", "192.0.2.255", "192.31.196.1", "192.52.193.1", "192.88.99.0", "192.88.99.255", "192.175.48.1",
  "198.18.0.0", "198.19.255.255", "198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255",
  // Multicast, reserved, broadcast, a cloud's own.
  "224.0.0.0", "224.0.0.251", "239.255.255.250", "239.255.255.255", "240.0.0.0", "254.1.2.3", "255.255.255.255", "168.63.129.16",
  // IPv6's own.
  "::", "::1", "0:0:0:0:0:0:0:1", "::2", "100::", "100::1", "100:0:0:1::1", "fc00::", "fd00::1", "fd00:ec2::254", "fdff:ffff::1", "fe80::", "fe80::1", "febf::1", "fec0::1", "feff::1", "ff00::", "ff02::1",
  "ff05::2", "ff0e::1", "2001:db8::1", "2001:db8:ffff::1", "3fff::1", "3fff:fff::1", "2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1", "2001:30::1", "2001:1ff::1", "2620:4f:8000::1", "5f00::1",
  "4000::1", "1000::1", "6000::1", "e000::1", "200::1",
  // IPv4 in other clothes: mapped, compatible, translated, NAT64, 6to4, Teredo (client, then server).
  "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::ffff:0.0.0.0", "::FFFF:192.168.1.1", "0:0:0:0:0:ffff:c0a8:101", "::127.0.0.1", "::7f00:1", "::8.8.8.8", "::10.0.0.1",
  "::ffff:0:127.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::8.8.8.8", "64:ff9b:1::1",
  "2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::1", "2002:a9fe:a9fe::1", "2001:0:808:808:0:0:80ff:fffe", "2001:0:808:808:0:0:f5ff:fffe", "2001:0:7f00:1:0:0:f7f7:f7f7", "2001::1",
  "[::1]", "[::ffff:127.0.0.1]",
  // A zone, and what is no plain address: a resolver should not give it, so it is not believed.
  "fe80::1%eth0", "2606:4700:4700::1111%eth0", "::1%lo", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "127.1", "0127.0.0.1", "8.8.8", "", " 8.8.8.8", "8.8.8.8 ", "8.8.8.8.", "256.1.1.1", "1.2.3.4.5", "::g", "1::2::3", "localhost", "[8.8.8.8", "１.1.1.1",
];

describe("an address", () => {
  it("is tried in more than 120 forms", () => expect(new Set([...PUBLIC, ...NOT_PUBLIC]).size).toBeGreaterThan(180));
  it.each(PUBLIC)("%j is public", (address) => expect(judgeAddress(address, [])).toEqual({ ok: true }));
  it.each(NOT_PUBLIC)("%j is refused, and the refusal names the setting that could allow it", (address) => {
    expect(judgeAddress(address, [])).toMatchObject({ ok: false, sentence: expect.stringContaining("is not public"), fix: expect.stringContaining("OUTBOUND_ALLOW=") });
  });
});

describe("the operator's ranges", () => {
  const allow = parseRanges(["127.0.0.0/8", "10.1.2.3", "fd00::/8", "::1", "64:ff9b:1::/48"]);
  it.each(["127.0.0.1", "127.255.0.1", "10.1.2.3", "fd12::1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::"])("let %s through", (address) => expect(judgeAddress(address, allow).ok).toBe(true));
  it.each(["10.1.2.4", "126.0.0.256", "192.168.0.1", "fc00::1", "::2", "::127.0.0.1", "::ffff:10.0.0.1", "fd12::1%eth0"])("still refuse %s", (address) => expect(judgeAddress(address, allow).ok).toBe(false));
  it("are suggested in a form that works", () => {
    for (const address of ["10.0.0.1", "::1", "fe80::1", "[fd00::1]", "::ffff:10.0.0.1", "64:ff9b::a00:1"]) {
      const judgement = judgeAddress(address, []);
      const suggested = judgement.ok ? "" : /OUTBOUND_ALLOW=(\S+)\.$/.exec(judgement.fix)![1]!;
      expect(judgeAddress(address, parseRanges([suggested])).ok, `${address} by ${suggested}`).toBe(true);
    }
  });
});
