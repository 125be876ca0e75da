import { describe, expect, it } from "vitest";
import { clientNetwork, makeClientAddress, vouchedAddress } from "./client-address.ts";

describe("the client's address", () => {
  const clientAddress = makeClientAddress(["127.0.0.0/8", "::1", "10.0.0.0/8", "2001:db8::/32"]);

  it.each([
    { name: "is the connection's without a header", socket: "203.0.113.9", header: undefined, expected: "203.0.113.9" },
    { name: "is the connection's when that is no trusted proxy, whatever the header claims", socket: "203.0.113.9", header: "1.1.1.1", expected: "203.0.113.9" },
    { name: "comes from a trusted proxy's header", socket: "127.0.0.1", header: "203.0.113.9", expected: "203.0.113.9" },
    { name: "is the right-most that is no trusted proxy", socket: "127.0.0.1", header: "1.1.1.1, 203.0.113.9, 10.0.0.7", expected: "203.0.113.9" },
    { name: "is the left-most when all are trusted", socket: "127.0.0.1", header: "10.0.0.9, 10.0.0.7", expected: "10.0.0.9" },
    { name: "is the last sensible hop when an entry is no address", socket: "127.0.0.1", header: "1.1.1.1, unknown, 10.0.0.7", expected: "10.0.0.7" },
    { name: "ignores an empty header", socket: "127.0.0.1", header: "", expected: "127.0.0.1" },
    { name: "is IPv4 when IPv4 came in IPv6 form", socket: "::ffff:127.0.0.1", header: "::ffff:203.0.113.9", expected: "203.0.113.9" },
    { name: "is shortened from a long IPv6 form", socket: "0000:0000:0000:0000:0000:ffff:7f00:0001", header: "2a00:0000:0000:0000:0000:0000:0000:0001", expected: "2a00::1" },
    { name: "loses its port", socket: "::1", header: "203.0.113.9:4711", expected: "203.0.113.9" },
    { name: "loses its brackets and port", socket: "::1", header: "[2a00::1]:4711", expected: "2a00::1" },
    { name: "loses its zone", socket: "fe80::1%eth0", header: undefined, expected: "fe80::1" },
    { name: "is never read from odd forms of numbers", socket: "127.0.0.1", header: "0x01010101", expected: "127.0.0.1" },
    { name: "stays a text when the connection has none", socket: "", header: "1.1.1.1", expected: "" },
  ])("$name", ({ socket, header, expected }) => {
    expect(clientAddress(socket, header)).toBe(expected);
  });

  it("is always the connection's when no proxy is trusted", () => {
    expect(makeClientAddress([])("127.0.0.1", "203.0.113.9")).toBe("127.0.0.1");
  });
});

it.each([
  { address: "203.0.113.9", bits: 64, network: "203.0.113.9" },
  { address: "::ffff:203.0.113.9", bits: 48, network: "203.0.113.9" },
  { address: "2001:DB8::1", bits: 64, network: "2001:db8::/64" },
  { address: "2001:db8:0:0:ffff::2%eth0", bits: 64, network: "2001:db8::/64" },
  { address: "2001:db8:1:2:3:4:5:6", bits: 64, network: "2001:db8:1:2::/64" },
  { address: "2001:db8:1:3::1", bits: 64, network: "2001:db8:1:3::/64" },
  { address: "2001:db8:1:2::3", bits: 48, network: "2001:db8:1::/48" },
  { address: "::1", bits: 64, network: "::/64" },
  { address: "unix", bits: 64, network: "unix" },
  { address: "no:address", bits: 64, network: "no:address" },
  { address: "", bits: 64, network: "" },
] as const)("$address counts as $network of /$bits", ({ address, bits, network }) => {
  expect(clientNetwork(address, bits)).toBe(network);
});

describe("the address of who is let in by it", () => {
  const behindProxy = makeClientAddress(["127.0.0.1"]);
  const alone = makeClientAddress([]);

  it.each([
    { name: "is the connection's", clientAddress: alone, forwardedFor: undefined, expected: "127.0.0.1" },
    { name: "is what a trusted proxy says", clientAddress: behindProxy, forwardedFor: "203.0.113.9", expected: "203.0.113.9" },
    { name: "is not that of a proxy that nobody trusts", clientAddress: alone, forwardedFor: "203.0.113.9", expected: "" },
    { name: "is not that of a proxy that says nothing sensible", clientAddress: behindProxy, forwardedFor: "unknown", expected: "" },
  ])("$name", ({ clientAddress, forwardedFor, expected }) => {
    expect(vouchedAddress(clientAddress, "127.0.0.1", forwardedFor)).toBe(expected);
  });
});
