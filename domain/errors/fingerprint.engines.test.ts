import { describe, expect, it } from "vitest";
import { fingerprint } from "./fingerprint.ts";
import { parseStack } from "./parse-stack.ts";

const A = "https://shop.example/assets/cart-B3xYaK9q.js";
const parts = (stack: string) => fingerprint({ type: "TypeError", message: "", frames: parseStack(stack).frames }).parts.flatMap(({ kind, value }) => (kind === "frame" ? [value] : []));

/** What is called, the innermost first, as Chrome, Firefox and Safari print its name, and what remains of it. An empty text is a frame without a name; null no frame. */
const CALLS: Record<string, [chrome: string | null, firefox: string | null, safari: string | null, name: string][]> = {
  "a method of a class": [["Cart.pay", "pay", "pay", "pay"], ["Cart.submit [as onSubmit]", "submit", "submit", "submit"]],
  "a method called on a class derived from it": [["Sub.pay", "pay", "pay", "pay"]],
  "a static method": [["Cart.make", "make", "make", "make"], ["Function.make", "make", "make", "make"]],
  "a private method": [["#pay", "#pay", "#pay", "#pay"], ["Cart.#pay", "#pay", "#pay", "#pay"]],
  "accessors": [["get total [as total]", "get total", "total", "total"], ["set total [as total]", "set total", "total", "total"], ["Cart.get [as total]", "get", "get", "get"]],
  "constructors": [["new Cart", "Cart", "Cart", "Cart"], ["new Sub", "Sub", "Sub", "Sub"]],
  "an arrow function in an object": [["Object.pay", "pay", "pay", "pay"], ["pay", "o.pay", "pay", "pay"]],
  "an arrow function in a field": [["Cart.pay", "Cart/this.pay", "pay", "pay"], ["pay", "pay", "pay", "pay"]],
  "what a module exports": [["exports.f", "exports.f", "f", "f"], ["Module.f", "f", "f", "f"]],
  "asynchronous functions and generators": [["Cart.load", "load", "load", "load"], ["Generator.next (native)", null, "next", "-native"]],
  "callbacks without a name": [["", "outer/<", "", ""], ["Array.map (native)", null, "map", "-native"], ["outer", "outer", "outer", "outer"]],
  "functions in functions": [["inner", "outer/inner", "inner", "inner"], ["", "outer/</list<", "", ""], ["deep", "outer/</deep", "deep", "deep"]],
  "methods called by symbols": [["[Symbol.iterator]", "[Symbol.iterator]", "[Symbol.iterator]", "Symbol.iterator"], ["Cart.[Symbol.toPrimitive]", "Cart[Symbol.toPrimitive]", "[Symbol.toPrimitive]", "Symbol.toPrimitive"], ["get [Symbol.toStringTag]", "get [Symbol.toStringTag]", "[Symbol.toStringTag]", "Symbol.toStringTag"]],
  "bound functions": [["Number.go", "go", "go", "go"], ["bound go", "bound go", "go", "go"]],
  "functions set on objects and lists": [["o.<computed>", "o[0]", "", ""], ["o.on-click", "o[\"on-click\"]", "on-click", "on-click"]],
  "names of more than letters": [["Object.方法", "方法", "方法", "方法"], ["a b", "o[\"a b\"]", "a b", "a b"], ["$", "$", "$", "$"], ["_.each", "each", "each", "each"]],
  "handlers of attributes": [["HTMLButtonElement.onclick", "onclick", "onclick", "onclick"]],
  "listeners": [["HTMLButtonElement.<anonymous>", "", "", ""], ["Object.handleEvent", "handleEvent", "handleEvent", "handleEvent"]],
  "top-level code": [["", "", "module code", ""]],
  "top-level code of a script": [["Object.<anonymous>", "", "global code", ""]],
  "what eval runs, with a file of its own": [["eval", "", "eval code", ""], ["Object.eval", "", "eval code", ""]],
  "modules of webpack": [["./src/cart.ts", "./src/cart.ts", "./src/cart.ts", "ts"], ["__webpack_require__", "__webpack_require__", "__webpack_require__", "__webpack_require__"]],
};

const chromeLine = (name: string) => (name.endsWith(" (native)") ? `    at ${name.slice(0, -9)} (<anonymous>)` : name === "" ? `    at ${A}:1:20` : `    at ${name} (${A}:1:20)`);

describe("an error's fingerprint", () => {
  it.each(Object.entries(CALLS))("is one in Chrome, Firefox and Safari: %s", (_, calls) => {
    const expected = calls.filter(([, , , name]) => name !== "-native").map(([, , , name]) => (name === "" ? "/assets/cart.js" : `${name} in /assets/cart.js`));
    const unlessNull = (line: (name: string) => string) => (name: string | null) => (name === null ? [] : [line(name)]);
    const chrome = calls.flatMap(([name]) => unlessNull(chromeLine)(name));
    const firefox = calls.flatMap(([, name]) => unlessNull((text) => `${text}@${A}:1:15`)(name));
    const safari = calls.flatMap(([, , name, kept]) => unlessNull((text) => (kept === "-native" ? `${text}@[native code]` : text === "" ? `${A}:1:18` : `${text}@${A}:1:18`))(name));
    const collapsed = expected.filter((line, at) => line !== expected[at - 1]);
    expect(parts(`TypeError: x\n${chrome.join("\n")}`)).toEqual(collapsed);
    expect(parts(`${firefox.join("\n")}\n`)).toEqual(collapsed);
    expect(parts(safari.join("\n"))).toEqual(collapsed);
  });

  it("is one in React Native's two engines, on two devices", () => {
    const hermes = "TypeError: x\n    at press (address at index.android.bundle:1:4527)\n    at apply (native)\n    at anonymous (address at index.android.bundle:1:77)\n    at ?anon_0_load (address at index.android.bundle:1:99)\n    at global (address at index.android.bundle:1:1)";
    expect(parts(hermes)).toEqual(["press in index.android.bundle", "index.android.bundle", "load in index.android.bundle", "index.android.bundle"]);
    const phone = (device: string) => `press@/var/containers/Bundle/Application/${device}/Shop.app/main.jsbundle:1:2\n[native code]`;
    expect(parts(phone("0F8FAD5B-D9CB-469F-A165-70867728950E"))).toEqual(parts(phone("1A2B3C4D-D9CB-469F-A165-70867728950E")));
    expect(parts("p@1:132161\n[native code]\nvalue@1:1328")).toEqual(["p", "value"]);
  });

  it("of an extension is one on every computer", () => {
    const stacks = ["TypeError: x\n    at inject (chrome-extension://abcdef/inpage.js:1:9)", "inject@moz-extension://0f8fad5b-d9cb-469f-a165-70867728950e/inpage.js:1:2", "inject@safari-web-extension://A1B2/inpage.js:1:2"];
    expect(new Set(stacks.map((stack) => parts(stack).join()))).toEqual(new Set(["inject in /inpage.js"]));
  });
});
