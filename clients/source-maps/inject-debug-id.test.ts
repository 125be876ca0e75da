import { createContext, runInContext, runInNewContext } from "node:vm";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { AnyMap, originalPositionFor, type SectionedSourceMapInput } from "@jridgewell/trace-mapping";
import { SourceMapGenerator } from "source-map";
import { describe, expect, it, test } from "vitest";
import { injectDebugId } from "./inject-debug-id.ts";

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const GIVEN = "0f8fad5b-d9cb-469f-a165-70867728950e";

type Fields = Record<string, unknown>;

/** Maps each non-blank character of `code` to itself in a source of the same text. */
function mapOf(code: string, source = "a.ts"): Fields {
  const generator = new SourceMapGenerator({ file: "a.js" });
  code.split("\n").forEach((line, at) => {
    for (let column = 0; column < line.length; column++) {
      const place = { line: at + 1, column };
      if (line[column] !== " ") generator.addMapping({ generated: place, original: place, source, name: `${at}:${column}` });
    }
  });
  return JSON.parse(generator.toString()) as Fields;
}

function inject(script: string, map: Fields | string): { debugId: string; script: string; map: Fields; changed: [boolean, boolean] } {
  const text = typeof map === "string" ? map : JSON.stringify(map);
  const result = injectDebugId(script, text);
  if (result.kind !== "injected") throw new Error(result.reason);
  return { debugId: result.debugId, script: result.script ?? script, map: JSON.parse(result.map ?? text) as Fields, changed: [result.script !== null, result.map !== null] };
}

const original = (map: Fields, line: number, column: number) => {
  const found = originalPositionFor(AnyMap(map as unknown as SectionedSourceMapInput), { line, column });
  return [found.source, found.line, found.column, found.name];
};

const CODE = `function a() {\n  throw new Error("x");\n}\na();`;

test.each([
  ["a script", CODE, 0],
  ["with a comment", `${CODE}\n//# sourceMappingURL=a.js.map\n`, 0],
  ["with the comment behind its code", `${CODE}//# sourceMappingURL=a.js.map`, 0],
  ["with a hashbang", `#!/usr/bin/env node\n${CODE}\n`, 1],
  ["with a byte order mark", `\u00EF\u00BB\u00BF${CODE}\n`, 0],
  ["with both", `\u00EF\u00BB\u00BF#!/usr/bin/env node\n${CODE}\n`, 1],
  ["with a directive behind a licence", `/*! a\n licence */\n"use strict";\n${CODE}`, 0],
  ["with the line ends of Windows", CODE.replaceAll("\n", "\r\n"), 0],
])("every place of %s still comes from where it did", (_, script, head) => {
  const map = mapOf(script);
  const { debugId, script: after, map: shifted } = inject(script, map);
  expect(debugId).toMatch(ID);
  expect(shifted).toMatchObject({ version: 3, debugId });
  const lines = script.split("\n");
  const moved = after.split("\n");
  expect(moved[head]).toContain(debugId);
  lines.forEach((line, at) => {
    const to = at < head ? at : at + 1;
    const code = line.replace(/\/\/#.*/, "").replace(/^\u00EF\u00BB\u00BF/, "");
    expect(moved[to]).toContain(code);
    for (let column = 0; column < code.length; column++) expect(original(shifted, to + 1, column)).toEqual(original(map, at + 1, column));
  });
  for (let column = 0; column < 40; column++) expect(original(shifted, head + 1, column)).toEqual([null, null, null, null]);
});

test.each([
  ["", 0],
  ["#!/usr/bin/env node\n", 1],
])("index maps are shifted by their sections, after %j", (head, line) => {
  const first = `${head}first();\nsecond();`;
  const inner = { version: 3, sections: [{ offset: { line: 0, column: 0 }, map: mapOf("third();", "c.ts") }, { offset: { line: 0, column: 8 }, map: mapOf("4();\n5();", "d.ts") }] };
  const map: Fields = { version: 3, sections: [{ offset: { line: 0, column: 0 }, map: mapOf(first, "a.ts") }, { offset: { line: line + 1, column: 9 }, map: inner }] };
  const script = `${first}third();4();\n5();`;
  const { map: shifted } = inject(script, map);
  script.split("\n").forEach((text, at) => {
    for (let column = 0; column < text.length; column++) expect(original(shifted, (at < line ? at : at + 1) + 1, column)).toEqual(original(map, at + 1, column));
  });
});

describe("the same id", () => {
  it("comes of the same contents, another of others, and a second run changes nothing", () => {
    const script = `"use strict";\n${CODE}\n//# sourceMappingURL=a.js.map\n`;
    const once = inject(script, mapOf(script));
    expect(inject(script, mapOf(script)).debugId).toBe(once.debugId);
    expect(inject(`${script} `, mapOf(script)).debugId).not.toBe(once.debugId);
    expect(inject(once.script, once.map)).toEqual({ ...once, changed: [false, false] });
  });

  it.each([
    ["the map's", "", { debugId: GIVEN }],
    ["the map's in its older name", "", { debug_id: GIVEN }],
    ["the map's in capitals", "", { debugId: GIVEN.toUpperCase() }],
    ["the script's", `//# debugId=${GIVEN}\n`, {}],
  ])("is kept when it is %s", (_, comment, fields) => {
    const result = inject(`${CODE}\n${comment}//# sourceMappingURL=a.js.map`, { ...mapOf(CODE), ...fields });
    expect([result.debugId, result.map["debugId"]]).toEqual([GIVEN, GIVEN]);
    expect(result.script.match(new RegExp(GIVEN, "g"))).toHaveLength(2);
    expect(original(result.map, 2, 0)[1]).toBe(1);
  });

  it("is completed where only one of the two files was written", () => {
    const map = { ...mapOf(CODE), debugId: GIVEN };
    const whole = inject(CODE, map);
    expect(inject(whole.script, map)).toEqual({ ...whole, changed: [false, true] });
    expect(inject(CODE, whole.map)).toEqual({ ...whole, changed: [true, false] });
  });

  it("replaces what is no id", () => {
    expect(inject(CODE, { ...mapOf(CODE), debugId: "x" }).map["debugId"]).toMatch(ID);
  });
});

it("the comment of the id stands before that of the map, behind the code", () => {
  const { script, debugId } = inject("a();\n//# sourceMappingURL=a.js.map\n", mapOf("a();"));
  expect(script.split("\n").slice(1)).toEqual(["a();", `//# debugId=${debugId}`, "//# sourceMappingURL=a.js.map", ""]);
});

it("what is no JSON is told, and a guarded map is read", () => {
  expect(injectDebugId(CODE, "<html>")).toMatchObject({ kind: "unreadable", reason: expect.stringContaining("not valid JSON") as string });
  expect(inject(CODE, `)]}'\n${JSON.stringify(mapOf(CODE))}`).map["debugId"]).toMatch(ID);
});

describe("an injected script", () => {
  const read = (registered: unknown) => Object.entries(registered as Record<string, string>);

  it("registers its id under its own stack, beside others", () => {
    const context = createContext({});
    const [a, b] = ["1;", "2;"].map((code) => inject(code, mapOf(code)));
    runInContext(a!.script, context, { filename: "https://shop.example/a.js" });
    runInContext(b!.script, context, { filename: "https://shop.example/b.js" });
    const entries = read(context["_pharosDebugIds"]);
    expect(entries.map(([, id]) => id)).toEqual([a!.debugId, b!.debugId]);
    expect(entries.map(([stack]) => /https:[^:]+/.exec(stack)![0])).toEqual(["https://shop.example/a.js", "https://shop.example/b.js"]);
  });

  it("is a module as before", async () => {
    const folder = await mkdtemp(join(tmpdir(), "pharos-module-"));
    const code = `import { sep } from "node:path";\nexport const found = [typeof sep, import.meta.url.slice(0, 5), Object.values(globalThis._pharosDebugIds)];`;
    const { script, debugId } = inject(code, mapOf(code));
    await writeFile(join(folder, "a.mjs"), script);
    const module = (await import(/* @vite-ignore */ pathToFileURL(join(folder, "a.mjs")).href)) as { found: unknown[] };
    expect(module.found).toEqual(["string", "file:", [debugId]]);
    await rm(folder, { recursive: true, force: true });
  });

  it.each([
    [`"use strict"; found = strict();`, true],
    [`/* a */ // b\n'use strict'\nfound = strict();`, true],
    [`#!/usr/bin/env node\n"use strict"; found = strict();`, true],
    [`"a";"use strict";found = strict();`, true],
    [`"use strict".length; found = strict();`, false],
    [`"use strict"\n.length; found = strict();`, false],
    [`"use strict" + 1; found = strict();`, false],
    [`found = strict(); "use strict";`, false],
    [`"use \\\nstrict"; found = strict();`, false],
  ])("%j is strict or not as before", (code, strict) => {
    const whole = code.replace("strict()", "(function () { return this === undefined; })()");
    expect(runInNewContext(`${whole}\nfound`, { found: null })).toBe(strict);
    expect(runInNewContext(`${inject(whole, mapOf(whole)).script}\nfound`, { found: null })).toBe(strict);
  });

  it.each([
    ["the global object refuses the name", "Object.defineProperty(globalThis, '_pharosDebugIds', { get() { throw 1; } });"],
    ["the name is taken by something else", "Object.freeze(globalThis._pharosDebugIds = {});"],
    ["there are no stacks", "Error = function () {};"],
    ["errors cannot be made", "Error = function () { throw 1; };"],
  ])("runs and throws nothing where %s", (_, before) => {
    const context = createContext({});
    runInContext(before, context);
    expect(runInContext(inject(`"use strict";1;`, mapOf("1;")).script + "\n'done'", context)).toBe("done");
  });
});
