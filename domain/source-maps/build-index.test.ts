import { transformSync } from "esbuild";
import { describe, expect, it } from "vitest";
import { buildIndex, type BuiltIndex } from "./build-index.ts";
import { openIndex, type FlatIndex } from "./flat-index.ts";

const build = (map: unknown): Promise<BuiltIndex> => buildIndex(Buffer.from(typeof map === "string" ? map : JSON.stringify(map)));

async function open(map: unknown): Promise<FlatIndex> {
  const built = await build(map);
  if (built.kind === "invalid") throw new Error(built.reason);
  return openIndex(built.index);
}

const SMALL = { version: 3, sources: ["src/a.js"], names: ["total"], mappings: "AAAAA" };

describe("a map is read", () => {
  it.each<[string, unknown]>([
    ["plain", SMALL],
    ["with a byte order mark", `\uFEFF${JSON.stringify(SMALL)}`],
    ["behind the line that keeps it from being run", `)]}'garbage\n${JSON.stringify(SMALL)}`],
    ["behind both", `\uFEFF)]}'\r\n${JSON.stringify(SMALL)}`],
    ["with its version as a text", { ...SMALL, version: "3" }],
    ["with nulls for what is optional", { ...SMALL, file: null, sourceRoot: null, sourcesContent: null, ignoreList: null, debugId: null }],
    ["with too short a list of contents", { ...SMALL, sourcesContent: [] }],
    ["with a source root", { ...SMALL, sourceRoot: "src/", sources: ["/a.js"] }],
    ["with a source root without a slash", { ...SMALL, sourceRoot: "src", sources: ["./a.js"] }],
    ["of one section", { version: 3, sections: [{ offset: { line: 0, column: 0 }, map: SMALL }] }],
    ["of sections in sections", { version: 3, sections: [{ offset: { line: 0, column: 0 }, map: { version: 3, sections: [{ offset: { line: 0, column: 0 }, map: SMALL }] } }] }],
  ])("%s", async (_name, map) => {
    expect((await open(map)).find(1, 1)).toEqual({ source: "src/a.js", line: 1, column: 1, name: "total", function: null, ignored: false, sourceIndex: 0 });
  });

  it.each([
    ["", "webpack://@scope/app/./src/[id].ts", "webpack://@scope/app/src/[id].ts"],
    ["", "webpack:///./src/a b.ts?1f3c", "webpack:///src/a b.ts?1f3c"],
    ["", "../../src/./x/../größe.ts", "../../src/größe.ts"],
    ["", "\u0000vite/preload-helper.js", "vite/preload-helper.js"],
    ["", "http://[bad/a.js", "http://[bad/a.js"],
    ["", "https://x.example/../../a.js", "https://x.example/a.js"],
    ["https://x.example/src", "../lib/a.js", "https://x.example/lib/a.js"],
    ["/srv/app/", "src/a.js", "/srv/app/src/a.js"],
    ["/srv/app", "webpack:///src/a.js", "webpack:///src/a.js"],
    ["", "", ""],
  ])("its source is named by root %j and name %j", async (sourceRoot, source, name) => {
    expect((await open({ ...SMALL, sourceRoot, sources: [source] })).find(1, 1)?.source).toBe(name);
  });

  it("where a source has no name, its mappings have no original", async () => {
    const index = await open({ ...SMALL, sources: [null, "b.js"], mappings: "AAAA,CCAA", sourcesContent: [null, "b"] });
    expect(index.find(1, 1)).toBeNull();
    expect(index.find(1, 2)).toMatchObject({ source: "b.js", sourceIndex: 1 });
    expect(index.context(1, 1)).toEqual({ pre: [], line: "b", post: [] });
  });

  it.each([
    ["ignoreList", { ignoreList: [1, 7, "x"] }],
    ["x_google_ignoreList", { x_google_ignoreList: [1] }],
    ["the standard's before the old one", { ignoreList: [1], x_google_ignoreList: [0] }],
  ])("with what it ignores: %s", async (_name, list) => {
    const index = await open({ ...SMALL, sources: ["a.js", "node_modules/b.js"], mappings: "AAAA,CCAA", ...list });
    expect([index.find(1, 1)?.ignored, index.find(1, 2)?.ignored]).toEqual([false, true]);
  });

  it("in sections, each with names, contents and ignored sources of its own", async () => {
    const index = await open({
      version: 3,
      sections: [
        { offset: { line: 0, column: 0 }, map: { ...SMALL, mappings: "AAAAA;;;;AAAA", sourcesContent: ["one"] } },
        { offset: { line: 1, column: 10 }, map: { ...SMALL, sources: ["b.js"], names: ["other"], mappings: "EAAAA;CAAA", x_google_ignoreList: [0], sourcesContent: ["two"] } },
      ],
    });
    expect(index.find(1, 500)).toMatchObject({ source: "src/a.js", name: "total", ignored: false, sourceIndex: 0 });
    // Between the section's beginning and its first mapping there is no original.
    expect(index.find(2, 12)).toBeNull();
    expect(index.find(2, 13)).toMatchObject({ source: "b.js", name: "other", ignored: true, sourceIndex: 1 });
    expect(index.find(3, 2)).toMatchObject({ source: "b.js", name: null });
    // The first section ended where the second began.
    expect(index.find(5, 1)).toBeNull();
    expect([index.context(0, 1)?.line, index.context(1, 1)?.line]).toEqual(["one", "two"]);
  });

  it("of several mappings at one place, the first with a source counts", async () => {
    expect((await open({ ...SMALL, mappings: "AAAA,A,AAAA" })).find(1, 1)).toMatchObject({ source: "src/a.js" });
    expect((await open({ ...SMALL, mappings: "A,AAAA" })).find(1, 1)).toMatchObject({ source: "src/a.js" });
  });

  it("with mappings that are not in order", async () => {
    const index = await open({ ...SMALL, mappings: "UAAA,LACA" });
    expect([index.find(1, 6)?.line, index.find(1, 11)?.line]).toEqual([2, 1]);
  });

  it("without the contents that are too large", async () => {
    const index = await open({ ...SMALL, sources: ["a.js", "b.js"], mappings: "AAAA,CCAA", sourcesContent: [`function f() {}${" ".repeat(4 * 1024 * 1024)}`, "b"] });
    expect(index.find(1, 1)).toMatchObject({ source: "a.js", function: null });
    expect([index.context(0, 1), index.context(1, 1)?.line]).toEqual([null, "b"]);
  });

  it.each([
    [{ debugId: "85314830-023F-4cf1-a267-535f4e37bb17" }, "85314830-023f-4cf1-a267-535f4e37bb17"],
    [{ debug_id: "85314830-023f-4cf1-a267-535f4e37bb17" }, "85314830-023f-4cf1-a267-535f4e37bb17"],
    [{ debugId: "not one" }, null],
    [{ debugId: 7 }, null],
    [{}, null],
  ])("with its debug id: %j", async (id, debugId) => {
    expect(await build({ ...SMALL, ...id })).toMatchObject({ kind: "index", debugId, sources: 1, mappings: 1 });
  });
});

describe("what is no map is refused with a reason", () => {
  const section = (fields: object) => ({ version: 3, sections: [{ offset: { line: 0, column: 0 }, map: SMALL, ...fields }] });
  const nested = (depth: number): unknown => (depth === 0 ? SMALL : section({ map: nested(depth - 1) }));

  it.each<[unknown, RegExp]>([
    ["", /empty/],
    ["\u0000\u0001", /not JSON/],
    ["hello", /not JSON/],
    ["<!doctype html><html>", /HTML/],
    [JSON.stringify(SMALL).slice(0, -9), /cut off/],
    ["!function(){}();", /script, not its map/],
    ["(()=>{var e=1})()", /script, not its map/],
    ["\"use strict\";var a=1;\n//# sourceMappingURL=app.js.map", /script, not its map/],
    ["var a=1;\n//# sourceMappingURL=data:application/json;base64,e30=", /script with an inline map \(data: url\): upload the \.map file or extract it/],
    ["[]", /no object/],
    ["null", /no object/],
    [{ name: "package" }, /no `mappings`/],
    [{ ...SMALL, version: 2 }, /version 2/],
    [{ ...SMALL, version: undefined }, /no `version`/],
    [{ ...SMALL, mappings: 7 }, /no text/],
    [{ ...SMALL, sources: undefined }, /no list of `sources`/],
    [{ ...SMALL, names: {} }, /`names` are no list/],
    [{ ...SMALL, mappings: "AA!" }, /mappings are broken: invalid base 64/],
    [{ ...SMALL, mappings: "AA" }, /mappings are broken/],
    [{ ...SMALL, mappings: "ACAA" }, /does not list/],
    [{ ...SMALL, mappings: "AAAAC" }, /does not list/],
    [{ ...SMALL, mappings: "A,D" }, /negative/],
    [{ ...SMALL, mappings: "AAggggggE" }, /above 2³¹|broken/],
    [{ ...SMALL, sources: Array.from({ length: 100_001 }, () => "a.js") }, /100001 sources; at most 100000/],
    [{ ...SMALL, mappings: ";".repeat(20_000_000) }, /20000001 lines/],
    [{ version: 3, sections: Array.from({ length: 100_001 }, () => ({ offset: { line: 0, column: 0 }, map: SMALL })) }, /100001 s/],
    [{ version: 3, sections: Array.from({ length: 100_001 }, () => ({ offset: { line: 0, column: 0 }, map: { ...SMALL, sources: [] } })) }, /100001 sections/],
    [section({ url: "a.map" }), /`url`/],
    [section({ map: undefined }), /no `map`/],
    [section({ offset: { line: -1, column: 0 } }), /`offset`/],
    [section({ offset: { line: 2 ** 31, column: 0 } }), /lines; at most/],
    [section({ offset: { line: 0, column: 2 ** 31 } }), /above 2³¹/],
    [section({ map: { ...SMALL, version: 1 } }), /version 1/],
    [{ version: 3, sections: {} }, /`sections` are no list/],
    [{ version: 3, sections: [7] }, /Section 0/],
    [{ version: 3, sections: [{ offset: { line: 1, column: 0 }, map: SMALL }, { offset: { line: 0, column: 9 }, map: SMALL }] }, /order of their offsets/],
    [nested(9), /nested/],
  ])("%#", async (map, reason) => {
    const built = await build(map);
    expect(built).toEqual({ kind: "invalid", reason: expect.stringMatching(reason) as string });
  });
});

describe("a minified script", () => {
  const source = [
    "interface Item { price: number; größe?: string }",
    "const grüße = \"日本 😀\"; export class Cart<T extends Item> {",
    "  readonly items: T[] = [];",
    "  addItem = (item: T): void => { this.items.push(item); throw new Error(`in arrow ${grüße}`); };",
    "  totalPrice(): number {",
    "    return this.items.map((item) => { throw new Error('in map ' + item.price); }).length;",
    "  }",
    "}",
    "export function checkout(cart: Cart<Item>): number {",
    "  if (cart.items.length === 0) throw new RangeError('empty cart');",
    "  return cart.totalPrice();",
    "}",
  ].join("\r\n");
  const { code, map } = transformSync(source, { loader: "ts", minify: true, format: "esm", sourcemap: "external", sourcefile: "src/cart.ts", target: "es2022" });
  const lines = source.split("\r\n");

  it.each([
    ["RangeError(", "checkout", 10, "RangeError"],
    ["in arrow", "addItem", 4, "`in arrow"],
    ["in map", null, 6, "'in map"],
    [".map(", "totalPrice", 6, "items.map("],
  ])("finds what stood at %s", async (text, name, line, begin) => {
    const index = await open(map);
    const at = code.indexOf(text);
    const generatedLine = code.slice(0, at).split("\n").length;
    const found = index.find(generatedLine, at - code.lastIndexOf("\n", at))!;
    expect(found).toMatchObject({ source: "src/cart.ts", line, function: name });
    expect(lines[line - 1]!.slice(found.column - 1, found.column - 1 + begin.length)).toBe(begin);
    expect(index.context(found.sourceIndex, found.line)).toEqual({ pre: lines.slice(Math.max(line - 6, 0), line - 1), line: lines[line - 1], post: lines.slice(line, line + 5) });
  });
});
