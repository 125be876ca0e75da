import { describe, expect, it } from "vitest";
import wordings from "./engine-wordings.json" with { type: "json" };
import { neutralMessage, neutralType, ownMessage } from "./neutral-error.ts";
import { stableMessage } from "./stable-message.ts";

type Said = [type: string, message: string];

/** By what was done, the words of Chromium, Firefox and JavaScriptCore, as `scripts/engine-wordings` read them. */
const failures = Object.entries(wordings.failures as unknown as Record<string, (Said | null)[]>);
const grouped = ([type, message]: Said): string => `${neutralType(type)}: ${neutralMessage(type, message) ?? stableMessage(message)}`;

/** In the words of one engine these cannot be told from other failures, or hardly ever happen. */
const APART = new Set([
  "instance of an object", "proxy of nothing", "weak key", "invalid base64", "wide characters in base64", "play without a gesture", "clipboard without a gesture", "closed socket", "full history",
]);

describe("a message of an engine", () => {
  it.each(failures)("is one in all engines: %s", (failure, said) => {
    const texts = new Set(said.flatMap((each) => (each ? [grouped(each)] : [])));
    expect(texts.size > 1, [...texts].join("; ")).toBe(APART.has(failure));
  });

  it.each([
    ["TypeError", "Cannot read properties of null (reading 'total')", "nullish access of total"],
    ["TypeError", "Cannot read property 'total' of undefined", "nullish access of total"],
    ["TypeError", "TypeError: Cannot set properties of undefined (setting 'on-click')", "nullish access of on-click"],
    ["TypeError", "undefined is not an object (evaluating 'this.cart.items[0]')", "nullish access of 0"],
    ["TypeError", "null is not an object (evaluating 'cart.total = price(1)')", "nullish access of total"],
    ["ReferenceError", "$ is not defined", "not defined of $"],
    ["TypeError", "shop.cart.pay is not a function", "not a function of pay"],
    ["TypeError", "e is not a function", "not a function"],
    ["TypeError", "onPay is not a function. (In 'onPay()', 'onPay' is undefined)", "not a function of onPay"],
    ["TypeError", "cart is null", "nullish destructured of cart"],
    ["InternalError", "too much recursion", "endless recursion"],
    ["TypeError", "Failed to execute 'observe' on 'MutationObserver': parameter 1 is not of type 'Node'.", "failed call of MutationObserver.observe"],
    ["SyntaxError", "expected expression, got ';'", "script that cannot be read"],
    ["AggregateError", "", "every promise rejected"],
  ])("%s: %s", (type, message, text) => expect(neutralMessage(type, message)).toBe(text));

  it.each([
    ["Error", "User 42 not found"], ["AssertionError", "expected 3, got 4"], ["Error", "Cart.add: no such item"], ["Error", "Unexpected token in the answer"], ["Error", ""],
    ["Error", `${"x".repeat(600)} is not a function`],
  ])("is not what a person wrote: %s: %s", (type, message) => expect(neutralMessage(type, message)).toBeNull());

  it.each([
    ["TypeError", "Uncaught TypeError: x is not a function", "x is not a function"],
    ["Error", "Uncaught (in promise) Error: no", "no"],
    ["Error", "Uncaught null", "null"],
    ["Error", "uncaught exception: null", "null"],
    ["Error", "Error: told by somebody", "Error: told by somebody"],
    ["Error", "null", "null"],
  ])("is reported with more than itself: %s: %s", (type, message, own) => expect(ownMessage(type, message)).toBe(own));

  it("takes little time, whatever it is made of", () => {
    const parts = ["a is not ", "' of '", "JSON at position ", " in ", "evaluating '", "[", "(", "."];
    const messages = parts.flatMap((part) => ["Error", "SyntaxError"].map((type): Said => [type, part.repeat(500 / part.length)]));
    const started = process.cpuUsage();
    for (const [type, message] of messages) neutralMessage(type, message);
    const { user, system } = process.cpuUsage(started);
    expect(user + system).toBeLessThan(500_000);
  });
});
