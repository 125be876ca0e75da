import { describe, expect, it } from "vitest";
import { fingerprint, type Groupable } from "./fingerprint.ts";
import { functionName } from "./function-name.ts";
import { parseStack } from "./parse-stack.ts";
import { stableFile } from "./stable-file.ts";
import { stableMessage } from "./stable-message.ts";

const stacked = (stack: string, rest: Partial<Groupable> = {}): Groupable => ({ type: "TypeError", message: "", frames: parseStack(stack).frames, ...rest });
const group = (stack: string, rest?: Partial<Groupable>) => fingerprint(stacked(stack, rest)).fingerprint;
const values = (event: Groupable) => fingerprint(event).parts.map(({ kind, value }) => `${kind}: ${value}`);
const APP = "https://shop.example/assets/app-3f2a9c1b.js";

/** The same error in three engines: methods, constructors, callbacks without a name, top-level code, native frames, eval. */
const ENGINES: Record<string, [chrome: string, firefox: string, safari: string]> = {
  "a method called by a listener": [
    `TypeError: Cannot read properties of undefined (reading 'total')\n    at Cart.applyCoupon (${APP}:1:2035)\n    at HTMLButtonElement.<anonymous> (${APP}:1:40)`,
    `applyCoupon@${APP}:1:2031\n@${APP}:1:44\n`,
    `applyCoupon@${APP}:1:2040\n${APP}:1:50`,
  ],
  "an inner function of Firefox's naming": [
    `TypeError: x\n    at inner (${APP}:1:1)\n    at ${APP}:2:2\n    at outer (${APP}:3:3)`,
    `outer/inner@${APP}:1:9\nouter/<@${APP}:2:9\nouter@${APP}:3:9`,
    `inner@${APP}:1:8\n${APP}:2:8\nouter@${APP}:3:8`,
  ],
  "native frames between": [
    `TypeError: x\n    at Object.price (${APP}:1:1)\n    at Array.map (<anonymous>)\n    at new Order (${APP}:3:3)\n    at ${APP}:9:9`,
    `price@${APP}:1:9\nOrder@${APP}:3:9\n@${APP}:9:9`,
    `price@${APP}:1:8\nmap@[native code]\nOrder@${APP}:3:8\nglobal code@${APP}:9:8`,
  ],
  "asynchronous functions": [
    `TypeError: x\n    at load (${APP}:1:1)\n    at async Promise.all (index 0)\n    at async start (${APP}:3:3)`,
    `load@${APP}:1:9\nasync*start@${APP}:3:9`,
    `load@${APP}:1:8\nasync start@${APP}:3:8`,
  ],
  "eval between": [
    `TypeError: x\n    at f (${APP}:1:1)\n    at eval (eval at run (${APP}:5:5), <anonymous>:1:1)\n    at run (${APP}:5:5)`,
    `f@${APP}:1:9\n@${APP} line 5 > eval:1:1\nrun@${APP}:5:9`,
    `f@${APP}:1:8\neval code\neval@[native code]\nrun@${APP}:5:8`,
  ],
  "accessors, aliases and private methods": [
    `TypeError: x\n    at Cart.get total [as total] (${APP}:1:1)\n    at Cart.#pay (${APP}:2:1)\n    at Cart.submit [as onSubmit] (${APP}:3:1)`,
    `get total@${APP}:1:9\n#pay@${APP}:2:9\nsubmit@${APP}:3:9`,
    `total@${APP}:1:8\n#pay@${APP}:2:8\nsubmit@${APP}:3:8`,
  ],
  "static methods and symbols": [
    `TypeError: x\n    at Function.create (${APP}:1:1)\n    at Feed.[Symbol.iterator] (${APP}:2:1)\n    at Object.go (${APP}:3:1)`,
    `create@${APP}:1:9\n[Symbol.iterator]@${APP}:2:9\ngo@${APP}:3:9`,
    `create@${APP}:1:8\n[Symbol.iterator]@${APP}:2:8\ngo@${APP}:3:8`,
  ],
  "a library's frames between": [
    `TypeError: x\n    at row (${APP}:1:1)\n    at Object.render (https://unpkg.com/lib@2/lib.js:1:1)\n    at table (${APP}:3:1)`,
    `row@${APP}:1:9\nrender@https://unpkg.com/lib@2/lib.js:1:9\ntable@${APP}:3:9`,
    `row@${APP}:1:8\ntable@${APP}:3:8`,
  ],
  "more frames than Chrome prints": [
    `TypeError: x\n${Array.from({ length: 10 }, (_, at) => `    at f${at} (${APP}:1:${at + 1})`).join("\n")}`,
    Array.from({ length: 30 }, (_, at) => `f${at}@${APP}:1:${at + 1}`).join("\n"),
    Array.from({ length: 29 }, (_, at) => `f${at}@${APP}:1:${at + 1}`).join("\n"),
  ],
  "recursion without end": [
    `RangeError: Maximum call stack size exceeded\n${`    at a (${APP}:1:1)\n    at b (${APP}:1:9)\n`.repeat(5)}`,
    `a@${APP}:1:1\nb@${APP}:1:9\n`.repeat(60),
    `a@${APP}:1:1\nb@${APP}:1:9\n`.repeat(50),
  ],
};

describe("fingerprint", () => {
  it.each(Object.entries(ENGINES))("is one in Chrome, Firefox and Safari: %s", (_, [chrome, firefox, safari]) => {
    expect(values(stacked(firefox))).toEqual(values(stacked(chrome)));
    expect(values(stacked(safari))).toEqual(values(stacked(chrome)));
    expect(new Set([group(chrome), group(firefox), group(safari)]).size).toBe(1);
  });

  it("does not change with line, column, host, query or content hash", () => {
    const builds = [
      "https://shop.example/assets/app-3f2a9c1b.js", "https://cdn.shop.example/assets/app-Bv3xYaK9.js?v=3", "https://shop.example/assets/app-B-x_3kq9.js",
      "http://localhost:8080/assets/app.js#x", "https://shop.example/assets/app.a1b2c3d4e5f6a7b8c9d0.js", "https://shop.example/assets/app-DiwrgTda.js", "https://shop.example/assets/app-7SX3ABQK.js",
    ];
    expect(new Set(builds.map((file, at) => group(`pay@${file}:${at + 1}:${at * 7 + 1}\ngo@${file}:${at + 30}:2`)))).toHaveProperty("size", 1);
  });

  it("tells types, functions, files and their order apart", () => {
    const all = [
      group(`a@${APP}:1:1\nb@${APP}:1:1`), group(`b@${APP}:1:1\na@${APP}:1:1`), group(`a@${APP}:1:1`), group(`c@${APP}:1:1\nb@${APP}:1:1`),
      group(`a@${APP}:1:1\nb@${APP}:1:1`, { type: "RangeError" }), group(`a@https://shop.example/other.js:1:1\nb@${APP}:1:1`),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it("collapses recursion of any depth", () => {
    const deep = (times: number) => group(`${`walk@${APP}:1:1\n`.repeat(times)}main@${APP}:9:9`);
    expect(deep(40)).toBe(deep(1));
    const mutual = (times: number) => group(`${`a@${APP}:1:1\nb@${APP}:2:1\nc@${APP}:3:1\n`.repeat(times)}main@${APP}:9:9`);
    expect(mutual(20)).toBe(mutual(1));
    expect(deep(1)).not.toBe(mutual(1));
  });

  it("counts causes", () => {
    const cause = (stack: string) => [{ type: "NetworkError", message: "", frames: parseStack(stack).frames }];
    const plain = group(`a@${APP}:1:1`);
    const one = group(`a@${APP}:1:1`, { causes: cause(`fetchCart@${APP}:1:1`) });
    expect(new Set([plain, one, group(`a@${APP}:1:1`, { causes: cause(`fetchUser@${APP}:1:1`) })]).size).toBe(3);
    expect(group(`a@${APP}:5:5`, { causes: cause(`Cart.fetchCart@${APP}:7:7`) })).toBe(one);
  });

  it("takes all frames when none is in-app, and the message when there are none", () => {
    expect(values(stacked("inject@moz-extension://1/c.js:1:1"))).toEqual(["type: TypeError", "frame: inject in /c.js", "message: "]);
    expect(values({ type: "Error", message: "User 42 not found", frames: [] })).toEqual(["type: Error", "message: User <number> not found"]);
    expect(values(stacked("map@[native code]", { message: "no" }))).toEqual(["type: TypeError", "message: no"]);
  });

  it("is the sender's own when given, which may hold the default", () => {
    expect(values(stacked(`a@${APP}:1:1`, { custom: ["checkout", "{{default}}"] }))).toEqual(["custom: checkout", "type: TypeError", "frame: a in /assets/app.js"]);
    expect(group(`a@${APP}:1:1`, { custom: ["checkout"] })).toBe(group(`z@${APP}:1:1`, { custom: ["checkout"], type: "Other" }));
    expect(group(`a@${APP}:1:1`, { custom: ["{{ default }}"] })).toBe(group(`a@${APP}:1:1`));
    expect(group(`a@${APP}:1:1`, { custom: ["a", "b"] })).not.toBe(group(`a@${APP}:1:1`, { custom: ["ab"] }));
  });

  it("stays what it was: stored signatures depend on it", () => {
    expect(fingerprint(stacked(ENGINES["native frames between"]![0]))).toMatchObject({ version: "v2", fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(fingerprint({ type: "Error", message: "a 1", frames: [] }).fingerprint).toMatchInlineSnapshot(`"1dcd9a2b6112026fbac311e24fa3c5b3"`);
  });
});

describe("stableFile", () => {
  it.each([
    ["https://x.io/a/app.js", "/a/app.js"], ["https://x.io/a/app.3f2a9c1b.chunk.js", "/a/app.chunk.js"], ["https://x.io/3f2a9c1b4d5e6f70/app.js", "/*/app.js"],
    ["https://x.io/_next/static/chunks/pages/index-1a2b3c4d5e6f7a8b.js", "/_next/static/chunks/pages/index.js"], ["https://x.io/3f2a9c1b.js", "/*.js"],
    ["https://x.io/assets/vendor-react.js", "/assets/vendor-react.js"], ["https://x.io/app-checkout.js", "/app-checkout.js"], ["https://x.io/page-Checkout.js", "/page-Checkout.js"],
    ["https://x.io/html5-Html5Parser.js", "/html5-Html5Parser.js"], ["https://x.io/bootstrap5.min.js", "/bootstrap5.min.js"], ["https://x.io/facade.js", "/facade.js"],
    ["https://x.io/index-Bv3_Y-aK.js", "/index.js"], ["https://x.io/app-0f8fad5b-d9cb-469f-a165-70867728950e.js", "/app.js"], ["blob:https://x.io/0f8fad5b-d9cb-469f-a165-70867728950e", "/*"],
    ["https://x.io", "/"], ["https://x.io/", "/"], ["/srv/releases/20260131120000/app.js", "/srv/releases/*/app.js"], ["C:\\app\\main.js", "C:/app/main.js"],
    ["webpack-internal:///./src/cart.ts", "/./src/cart.ts"], ["data:text/javascript;base64,AAAA", "data:"], ["https://x.io/de/a.js", "/de/a.js"],
  ])("of %s is %s", (file, stable) => expect(stableFile(file)).toBe(stable));
});

describe("functionName", () => {
  it.each([
    ["foo", "foo"], ["Cart.add", "add"], ["Cart.add [as onClick]", "add"], ["new Cart", "Cart"], ["Object.<anonymous>", ""], ["Object.<anonymous> [as foo]", ""],
    ["outer/inner", "inner"], ["outer/<", ""], ["outer/this.go", "go"], ["outer/list<", ""], ["Cart.prototype.add", "add"], ["get total", "total"], ["Cart.get total [as total]", "total"],
    ["async load", "load"], ["Foo.[Symbol.iterator]", "Symbol.iterator"], ["handlers[\"on-click\"]", "on-click"], ["Cart.#pay", "#pay"], ["Object.<computed> [as x]", ""], ["a.b.c", "c"], ["$", "$"],
  ])("of %s is %j", (printed, name) => expect(functionName(printed)).toBe(name));
});

describe("stableMessage", () => {
  it.each([
    ["User 42 not found", "User <number> not found"], ["took 350ms, limit 1.5s", "took <duration>, limit <duration>"], ["GET https://api.x.io/v1/users/7?x=1 failed", "GET <url> failed"],
    ["no user 0f8fad5b-d9cb-469f-a165-70867728950e", "no user <uuid>"], ["mail to jo.doe+x@mail.example.com bounced", "mail to <email> bounced"], ["connect 10.0.0.12:5432 refused", "connect <ip> refused"],
    ["connect fe80::1ff:fe23:4567:890a refused", "connect <ip> refused"], ["at 2026-01-31T12:00:00.000Z it broke", "at <date> it broke"], ["on 2026-01-31 12:00:00 it broke", "on <date> it broke"],
    ["since Tue Nov 21 2023 12:55:10", "since <date>"], ["object deadbeef01 at 0x7ffe12", "object <hex> at <hex>"], ["unknown field 'colour'", "unknown field <quoted>"], ["unknown \"a b\", “c”", "unknown <quoted>, <quoted>"],
    ["can't read user's cart", "can't read user's cart"], ["Error: code=-17 (98%)", "Error: code=<number> (<number>)"], ["row12 of sheet3.", "row<number> of sheet<number>."], ["Marked 3 times", "Marked <number> times"],
    ["a single ' stays", "a single ' stays"], ["", ""],
  ])("of %j is %j", (message, stable) => expect(stableMessage(message)).toBe(stable));

  it("takes time linear in the message", () => {
    for (const text of ["'a", "\"", "1:", "a@", "::", "1.", "Jan 1 ", "'a'b", "https://", "é'"]) {
      const started = process.cpuUsage();
      stableMessage(text.repeat(100_000));
      const { user, system } = process.cpuUsage(started);
      expect(user + system, text).toBeLessThan(2_000_000);
    }
  });
});
