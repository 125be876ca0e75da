import { describe, expect, it } from "vitest";
import { functionAt, functionRangesOf } from "./function-ranges.ts";

/** The name of the function around the mark `§`. */
function nameAt(text: string, source = "a.ts"): string | null {
  const offset = text.indexOf("§");
  const ranges = functionRangesOf(source, text.replace("§", ""));
  if (ranges === null) throw new Error("It was not parsed.");
  return functionAt(ranges, offset);
}

describe("a place is in the function", () => {
  it.each<[string, string | null]>([
    ["§x", null],
    ["function f() { §x }", "f"],
    ["function f() { x } §x", null],
    ["const größe = '日本😀'; function grüße() { §x }", "grüße"],
    ["async function* f(a = §x) {}", "f"],
    ["const f = () => §x", "f"],
    ["const f = (function () { §x })", "f"],
    ["const f = function own() { §x }", "own"],
    ["const f = (() => §x) as unknown as Handler", "f"],
    ["const f = (() => §x) satisfies Handler", "f"],
    ["a.b.f = () => §x", "f"],
    ["this.#f = () => §x", "#f"],
    ["a['f'] = () => §x", "f"],
    ["a[i] = () => §x", null],
    ["const { f = () => §x } = a", "f"],
    ["const o = { f: () => §x }", "f"],
    ["const o = { f() { §x } }", "f"],
    ["const o = { get f() { §x } }", "f"],
    ["const o = { 'a-b'() { §x } }", "a-b"],
    ["const o = { 12() { §x } }", "12"],
    ["const o = { [Symbol.iterator]() { §x } }", "[Symbol.iterator]"],
    ["const o = { [a + b]() { §x } }", null],
    ["class A { f() { §x } }", "f"],
    ["class A { static async *f() { §x } }", "f"],
    ["class A { #f() { §x } }", "#f"],
    ["class A { set f(v) { §x } }", "f"],
    ["class A { f = () => §x }", "f"],
    ["class A extends B { constructor() { super(§x) } }", "A"],
    ["const A = class { constructor() { §x } }", "A"],
    ["const A = class Own { constructor() { §x } }", "Own"],
    ["export default class { constructor() { §x } }", "default"],
    ["class A { @log() f() { §x } }", "f"],
    ["export default () => §x", "default"],
    ["export default function () { §x }", "default"],
    ["function f() { list.map((each) => §each) }", null],
    ["function f() { list.map((each) => each); §x }", "f"],
    ["function f() { function g() { x } §x; function h() {} }", "f"],
    ["function f() {}function g() { §x }", "g"],
    ["namespace N { export function f() { §x } }", "f"],
    ["declare function f(): void; const g = () => §x", "g"],
  ])("%s → %s", (text, name) => {
    expect(nameAt(text)).toBe(name);
  });

  it.each([
    ["a.jsx", "function App() { return <a onClick={() => 1}>don't {§x}</a> }"],
    ["a.js", "function App() { return <a>{§x}</a> }"],
    ["a.js", "// @flow\nfunction App(a: number): string { return §a }"],
    ["a.cjs", "function App() { §x } return 1"],
    ["a.mjs", "export function App() { §x }"],
    ["a.tsx", "function App<T,>(a: T) { return <a>{§x}</a> }"],
    ["a.TS", "function App(a: number) { §x }"],
    ["webpack:///./src/a.ts?1f3c", "function App(a: number) { §x }"],
    ["a.mts", "function App(a: number) { §x }"],
  ])("in %s: %s", (source, text) => {
    expect(nameAt(text, source)).toBe("App");
  });
});

describe("no functions are known", () => {
  it.each([
    ["App.vue", "<script>function f() {}</script>"],
    ["webpack/bootstrap", "function f() {}"],
    ["style.css", "a { color: red }"],
    ["a.constructor", "function f() {}"],
    ["a.ts", "function ( { <<<"],
    ["a.js", "x = ".concat("[".repeat(300), "]".repeat(300))],
    ["a.js", " ".repeat(2 * 1024 * 1024 + 1)],
  ])("of %s", (source, text) => {
    expect(functionRangesOf(source, text)).toBeNull();
  });
});

describe("a long or deep text", () => {
  it("with chains as deep as they are long is walked", () => {
    expect(nameAt(`function f() { §x ${"+ 1".repeat(5_000)} }`)).toBe("f");
    expect(nameAt(`const list = [${"1,".repeat(200_000)}]; function f() { §x }`)).toBe("f");
  });

  it("with brackets in strings, comments and expressions is not taken for a deep one", () => {
    const lines = Array.from({ length: 400 }, (_, index) => `function f${index}() { /* ( */ return "[" + '{' + /[({]\\(/.test(x) } // (\n`);
    expect(nameAt(`${lines.join("")}function last() { §x }`)).toBe("last");
    expect(nameAt(`${"(a => { [1] })();\n".repeat(400)}function last() { §x }`)).toBe("last");
  });
});
