import { expect, it } from "vitest";
import { mailAddress, webhookAddress } from "./address.ts";

it.each([
  { text: "Ada@Example.COM", address: "Ada@example.com", key: "ada@example.com", target: "ada@example.com" },
  { text: "ada+status@example.com", address: "ada+status@example.com", key: "ada+status@example.com", target: "ada@example.com" },
  { text: "ada@bücher.example", address: "ada@xn--bcher-kva.example", key: "ada@xn--bcher-kva.example", target: "ada@xn--bcher-kva.example" },
])("$text", ({ text, ...expected }) => {
  expect(mailAddress(text)).toEqual(expected);
});

it("a URL's target is its host", () => {
  expect(webhookAddress("https://Hooks.Example.com/a?b#c")).toEqual({ address: "https://hooks.example.com/a?b", key: "https://hooks.example.com/a?b", target: "hooks.example.com" });
});
