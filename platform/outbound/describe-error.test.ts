import { expect, test } from "vitest";
import { describeError } from "./describe-error.ts";

const withCode = (code: string, message: string) => Object.assign(new Error(message), { code });

test.each([
  withCode("EADDRNOTAVAIL", "connect EADDRNOTAVAIL 10.4.0.9:443 - Local (192.168.7.3:0)"),
  withCode("EACCES", "connect EACCES 10.4.0.9:443"),
  withCode("ETIMEOUT", "queryA ETIMEOUT shop.example at resolver.corp.internal"),
  new AggregateError([withCode("EADDRNOTAVAIL", "connect EADDRNOTAVAIL 10.4.0.9:443")], ""),
  new Error("fetch failed", { cause: withCode("EINVAL", "connect EINVAL 10.4.0.9:443 - Local (192.168.7.3:0)") }),
])("a failure is told without addresses and names of the network that Pharos stands in", (error) => {
  const sentence = describeError(error, "shop.example");
  expect(sentence).toMatch(/^The request to shop\.example failed \(E[A-Z]+\)\.$/);
});

test("what has no code is told in its own words", () => {
  expect(describeError(new Error("The name shop.example has no address."), "shop.example")).toBe("The request to shop.example failed: The name shop.example has no address.");
});
