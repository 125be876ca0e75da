import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseStack, type ParsedFrame } from "./parse-stack.ts";

/** `name | file | line:column | marks`; marks: `lib` not in-app, `eval`, `native`. */
function written({ function: name, file, line, column, in_app, kind }: ParsedFrame): string {
  const marks = [kind === "script" ? "" : kind, in_app || kind === "native" ? "" : "lib"].filter(Boolean).join(" ");
  return [name ?? "-", file ?? "-", line === null ? "-" : `${line}:${column ?? "-"}`, marks].join(" | ").replace(/ \| $/, "");
}

const frames = (stack: string, message?: string) => parseStack(stack, message).frames.map(written);

const X = "https://x.io/app.js";

/** One line of a stack each, as the engine prints it, and the frame that it is. */
const CHROME: [string, string][] = [
  [`at foo (${X}:10:5)`, `foo | ${X} | 10:5`],
  [`at ${X}:10:5`, `- | ${X} | 10:5`],
  [`at <anonymous> (${X}:10:5)`, `- | ${X} | 10:5`],
  [`at Cart.add (${X}:10:5)`, `Cart.add | ${X} | 10:5`],
  [`at Cart.add [as onClick] (${X}:10:5)`, `Cart.add [as onClick] | ${X} | 10:5`],
  [`at new Cart (${X}:1:2)`, `new Cart | ${X} | 1:2`],
  [`at new <anonymous> (${X}:1:2)`, `- | ${X} | 1:2`],
  [`at async load (${X}:1:2)`, `load | ${X} | 1:2`],
  [`at async ${X}:1:2`, `- | ${X} | 1:2`],
  ["at async Promise.all (index 0)", "Promise.all | - | - | native"],
  ["at Array.map (<anonymous>)", "Array.map | - | - | native"],
  ["at Array.forEach (native)", "Array.forEach | - | - | native"],
  ["at Array.map (native array.js:153:13)", "Array.map | - | - | native"],
  ["at <anonymous>", "- | - | - | native"],
  ["at <anonymous>:1:7", "- | - | 1:7 | eval lib"],
  [`at eval (eval at run (${X}:7:9), <anonymous>:1:1)`, `eval | ${X} | 7:9 | eval`],
  [`at inner (eval at outer (eval at run (${X}:7:9), <anonymous>:1:1), <anonymous>:3:7)`, `inner | ${X} | 7:9 | eval`],
  [`at eval at run (${X}:7:9), <anonymous>:1:1`, `- | ${X} | 7:9 | eval`],
  ["at eval (eval at <anonymous> (<anonymous>), <anonymous>:1:1)", "eval | - | - | eval lib"],
  [`at Object.<anonymous> (/srv/app/server.js:3:1)`, "Object.<anonymous> | /srv/app/server.js | 3:1"],
  ["at Module._compile (node:internal/modules/cjs/loader:1358:14)", "Module._compile | node:internal/modules/cjs/loader | 1358:14 | lib"],
  ["at Module.load (internal/modules/cjs/loader.js:863:32)", "Module.load | internal/modules/cjs/loader.js | 863:32 | lib"],
  ["at run (C:\\Users\\me\\app\\main.js:12:34)", "run | C:\\Users\\me\\app\\main.js | 12:34"],
  ["at run (file:///C:/app/main.js:12:34)", "run | file:///C:/app/main.js | 12:34"],
  ["at request (/srv/app/node_modules/express/lib/router.js:9:1)", "request | /srv/app/node_modules/express/lib/router.js | 9:1 | lib"],
  ["at inject (chrome-extension://abcdef/content.js:1:9)", "inject | chrome-extension://abcdef/content.js | 1:9 | lib"],
  ["at a.b (https://unpkg.com/react@18.2.0/umd/react.production.min.js:10:5)", "a.b | https://unpkg.com/react@18.2.0/umd/react.production.min.js | 10:5 | lib"],
  ["at Page (webpack-internal:///(app-pages-browser)/./app/(shop)/page.tsx:12:3)", "Page | webpack-internal:///(app-pages-browser)/./app/(shop)/page.tsx | 12:3"],
  ["at foo (https://x.io/a(1).js:1:2)", "foo | https://x.io/a(1).js | 1:2"],
  ["at foo (https://x.io/a).js:1:2)", "foo | https://x.io/a).js | 1:2"],
  ["at foo (https://x.io/a(.js:1:2)", "foo | https://x.io/a(.js | 1:2"],
  ["at foo (http://localhost:5173/src/main.ts?t=1700000000:3:4)", "foo | http://localhost:5173/src/main.ts?t=1700000000 | 3:4"],
  ["at foo (https://x.io/with space.js:1:2)", "foo | https://x.io/with space.js | 1:2"],
  ["at foo (blob:https://x.io/0f8fad5b-d9cb-469f-a165-70867728950e:1:2)", "foo | blob:https://x.io/0f8fad5b-d9cb-469f-a165-70867728950e | 1:2"],
  ["at wasm://wasm/00afbd12:wasm-function[12]:0x1a2b", "- | wasm://wasm/00afbd12 | 1:6700"],
  ["at decode (https://x.io/lib.wasm:wasm-function[3]:0x1f)", "decode | https://x.io/lib.wasm | 1:32"],
  [`at get total [as total] (${X}:4:4)`, `get total [as total] | ${X} | 4:4`],
  [`at HTMLButtonElement.<anonymous> (${X}:4:4)`, `HTMLButtonElement.<anonymous> | ${X} | 4:4`],
  [`at Cart.#pay (${X}:4:4)`, `Cart.#pay | ${X} | 4:4`],
  [`at Anonymous function (${X}:4:4)`, `- | ${X} | 4:4`],
  ["at https://x.io/static/vendor.3f2a9c1b.js:2:100", "- | https://x.io/static/vendor.3f2a9c1b.js | 2:100 | lib"],
];

const FIREFOX: [string, string][] = [
  [`foo@${X}:10:5`, `foo | ${X} | 10:5`],
  [`@${X}:10:5`, `- | ${X} | 10:5`],
  [`outer/inner@${X}:10:5`, `outer/inner | ${X} | 10:5`],
  [`outer/<@${X}:10:5`, `outer/< | ${X} | 10:5`],
  [`Cart.prototype.add@${X}:10:5`, `Cart.prototype.add | ${X} | 10:5`],
  [`async*load@${X}:10:5`, `load | ${X} | 10:5`],
  [`promise callback*load@${X}:10:5`, `load | ${X} | 10:5`],
  [`setTimeout handler*@${X}:10:5`, `- | ${X} | 10:5`],
  [`anonymous@${X} line 7 > eval:1:1`, `- | ${X} | 7:- | eval`],
  [`@${X} line 7 > eval line 1 > eval:3:2`, `- | ${X} | 7:- | eval`],
  [`made@${X} line 7 > Function:3:2`, `made | ${X} | 7:- | eval`],
  ["foo@debugger eval code:1:9", "foo | - | 1:9 | eval lib"],
  ["[\"@@iterator\"]@https://x.io/a.js:1:2", "[\"@@iterator\"] | https://x.io/a.js | 1:2"],
  ["load@https://x.io/@scope/pkg/a.js:1:2", "load | https://x.io/@scope/pkg/a.js | 1:2"],
  ["render@https://cdn.jsdelivr.net/npm/vue@3/dist/vue.js:1:2", "render | https://cdn.jsdelivr.net/npm/vue@3/dist/vue.js | 1:2 | lib"],
  ["inject@moz-extension://1a2b/content.js:1:2", "inject | moz-extension://1a2b/content.js | 1:2 | lib"],
  ["run@resource://devtools/a.js:1:2", "run | resource://devtools/a.js | 1:2 | lib"],
  ["run@file:///home/me/page.html:3:9", "run | file:///home/me/page.html | 3:9"],
  ["decode@https://x.io/lib.wasm:wasm-function[3]:0x1f", "decode | https://x.io/lib.wasm | 1:32"],
  ["old@https://x.io/a.js:12", "old | https://x.io/a.js | 12:-"],
];

const SAFARI: [string, string][] = [
  [`foo@${X}:10:5`, `foo | ${X} | 10:5`],
  [`${X}:10:5`, `- | ${X} | 10:5`],
  [`global code@${X}:10:5`, `- | ${X} | 10:5`],
  [`module code@${X}:10:5`, `- | ${X} | 10:5`],
  [`async load@${X}:10:5`, `load | ${X} | 10:5`],
  ["map@[native code]", "map | - | - | native"],
  ["[native code]", "- | - | - | native"],
  ["eval code@", "- | - | - | eval lib"],
  ["eval code", "- | - | - | eval lib"],
  ["eval@[native code]", "eval | - | - | native"],
  [`anonymous@${X}:10:5`, `- | ${X} | 10:5`],
  ["https://unpkg.com/@scope/lib@2/a.js:1:2", "- | https://unpkg.com/@scope/lib@2/a.js | 1:2 | lib"],
  ["start@webkit-masked-url://hidden/:1:2", "start | webkit-masked-url://hidden/ | 1:2 | lib"],
  ["<?>.wasm-function[3]@[wasm code]", "<?>.wasm-function[3] | - | - | native"],
  ["press@index.ios.bundle:99:1", "press | index.ios.bundle | 99:1"],
  ["onclick@https://x.io/:3:40", "onclick | https://x.io/ | 3:40"],
];

describe("parseStack", () => {
  it.each(CHROME)("reads Chrome's and Node's line %s", (line, frame) => {
    expect(frames(`TypeError: x is not a function\n    ${line}`)).toEqual([frame]);
  });

  it.each([...FIREFOX, ...SAFARI])("reads Firefox's or Safari's line %s", (line, frame) => {
    expect(frames(line)).toEqual([frame]);
  });

  it("keeps the order of the lines, innermost first", () => {
    expect(frames(`Error: no\r\n    at a (${X}:1:1)\r\n    at b (${X}:2:2)\r\n`)).toEqual([`a | ${X} | 1:1`, `b | ${X} | 2:2`]);
    expect(frames(`a@${X}:1:1\nb@${X}:2:2\n`)).toEqual([`a | ${X} | 1:1`, `b | ${X} | 2:2`]);
  });

  it("takes no line of the message for a frame", () => {
    const message = `cannot load me@${X}:1:1\n    at home (${X}:9:9)`;
    expect(frames(`Error: ${message}\n    at a (${X}:1:1)`, message)).toEqual([`a | ${X} | 1:1`]);
    expect(frames(`Error: cannot load me@${X}:1:1\n    at a (${X}:1:1)`)).toEqual([`a | ${X} | 1:1`]);
  });

  it.each(["", "TypeError: x is undefined", "Error: at noon", "see http://localhost:8080", "12:30:45", "foo (bar)", "at nowhere", "Mail me@x.io"])("finds no frame in %j", (text) => {
    expect(frames(text)).toEqual([]);
  });

  it("keeps the innermost and outermost 50 of more than 100 frames", () => {
    const lines = Array.from({ length: 250 }, (_, at) => `    at f${at} (${X}:${at + 1}:1)`);
    const { frames: kept, truncated } = parseStack(`RangeError: too deep\n${lines.join("\n")}`);
    expect(truncated).toBe(true);
    expect(kept.map((frame) => frame.function)).toEqual([...Array(50).keys(), ...Array.from({ length: 50 }, (_, at) => 200 + at)].map((at) => `f${at}`));
    expect(parseStack(lines.slice(0, 100).join("\n"))).toMatchObject({ truncated: false, frames: { length: 100 } });
  });

  const piece = fc.constantFrom("at ", "eval at ", "async ", "(", ")", "), ", " (", "@", ":1:2", ":1", "\n", "https://", "x.js", " line 3 > eval", "<anonymous>", "[native code]", "*", " > ", ":wasm-function[", "native", " ", "é", "\ud800");
  const anyText = fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes));
  it("never throws, whatever it is given", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.array(piece, { maxLength: 200 }).map((pieces) => pieces.join(""))), (text) => {
        for (const { line, column, kind, file, in_app } of parseStack(text).frames) {
          expect(line === null || Number.isInteger(line)).toBe(true);
          expect(column === null || Number.isInteger(column)).toBe(true);
          if (kind === "native") expect([file, line, column, in_app]).toEqual([null, null, null, false]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each(["at (", "at eval at a (", "at f (eval at a (", ")", "@", "a@b://", " line 1 > eval", ":1", ":1:1\n", "at a (b:1:1)\n", "at f ((((", "://@", "x\n"])("takes time linear in a text made of %j", (text) => {
    const time = (length: number) => {
      const stack = `at ${text.repeat(Math.ceil(length / text.length))}`;
      const started = process.cpuUsage();
      parseStack(stack);
      const { user, system } = process.cpuUsage(started);
      return user + system;
    };
    time(100_000);
    // Quadratic work on half a megabyte takes minutes; the bound leaves room for a slow machine.
    expect(time(500_000)).toBeLessThan(1_000_000);
  });
});
