import * as fc from "fast-check";
import { SourceMapConsumer, SourceMapGenerator } from "source-map";
import { describe, expect, it } from "vitest";
import { buildIndex } from "./build-index.ts";
import { openIndex, type FlatIndex } from "./flat-index.ts";

async function indexOf(map: unknown): Promise<Buffer> {
  const built = await buildIndex(Buffer.from(typeof map === "string" ? map : JSON.stringify(map)));
  if (built.kind === "invalid") throw new Error(built.reason);
  return built.index;
}

const position = fc.record({ line: fc.integer({ min: 1, max: 6 }), column: fc.integer({ min: 0, max: 30 }) });
const original = fc.record({ source: fc.constantFrom("a.js", "b/c.ts", "日本.js"), line: fc.integer({ min: 1, max: 400 }), column: fc.integer({ min: 0, max: 99 }), name: fc.option(fc.constantFrom("f", "größe", "__proto__")) });
/** Each at a place of its own: among several at one place it is open which one counts. */
const mappings = fc.uniqueArray(fc.record({ generated: position, original: fc.option(original) }), { maxLength: 60, selector: ({ generated }) => `${generated.line}:${generated.column}` });

function generate(all: (typeof mappings extends fc.Arbitrary<infer T> ? T : never)): string {
  const generator = new SourceMapGenerator({ file: "out.js" });
  for (const { generated, original } of all) {
    // The package's types have no mapping without an original.
    generator.addMapping((original === null ? { generated } : { generated, original: { line: original.line, column: original.column }, source: original.source, ...(original.name !== null && { name: original.name }) }) as never);
  }
  return generator.toString();
}

async function expectSame(map: string, index: FlatIndex, maxLine = 8, maxColumn = 33): Promise<void> {
  await SourceMapConsumer.with(map, null, (consumer) => {
    for (let line = 1; line <= maxLine; line++) {
      for (let column = 0; column <= maxColumn; column++) {
        const wanted = consumer.originalPositionFor({ line, column });
        const found = index.find(line, column + 1);
        const same = found === null ? { source: null, line: null, column: null, name: null } : { source: decodeURI(found.source), line: found.line, column: found.column - 1, name: found.name };
        expect({ at: [line, column], ...same }).toEqual({ at: [line, column], ...wanted, source: wanted.source === null ? null : decodeURI(wanted.source) });
      }
    }
  });
}

describe("lookups", () => {
  it("find what source-map's originalPositionFor finds", async () => {
    await fc.assert(
      fc.asyncProperty(mappings, async (all) => {
        const map = generate(all);
        await expectSame(map, openIndex(await indexOf(map)));
      }),
      { numRuns: 150 },
    );
  });

  it("find the same in a map of sections, wherever these begin", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 20 }), mappings), { minLength: 1, maxLength: 4 }), async (all) => {
        let line = 0;
        let column = 0;
        const sections = all.map(([lines, columns, own]) => {
          column = lines === 0 ? column + columns + 1 : columns;
          line += lines;
          return { offset: { line, column }, map: JSON.parse(generate(own)) as unknown };
        });
        const map = JSON.stringify({ version: 3, sections });
        await expectSame(map, openIndex(await indexOf(map)), 20, 60);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    [0, 1],
    [-1, 1],
    [1, 0],
    [1, -5],
    [1.5, 1],
    [Number.NaN, 1],
    [1, Number.NaN],
    [2, 1],
    [2 ** 40, 1],
  ])("find nothing at %d:%d", async (line, column) => {
    const index = openIndex(await indexOf({ version: 3, sources: ["a.js"], names: [], mappings: "AAAA" }));
    expect(index.find(1, 2 ** 40)).toMatchObject({ source: "a.js", line: 1, column: 1 });
    expect(index.find(line, column)).toBeNull();
  });
});

describe("an index", () => {
  const map = { version: 3, sources: ["a.js"], sourcesContent: ["let a;\nlet b;"], names: ["b"], mappings: "AAAA;AACIA" };

  it("is read at any place of a larger buffer", async () => {
    const index = await indexOf(map);
    for (let shift = 0; shift < 8; shift++) {
      const larger = Buffer.alloc(index.length + 16, 0xff);
      index.copy(larger, shift);
      const opened = openIndex(larger.subarray(shift, shift + index.length));
      expect(opened.find(2, 1)).toEqual({ source: "a.js", line: 2, column: 5, name: "b", function: null, ignored: false, sourceIndex: 0 });
      expect(opened.context(0, 2)).toEqual({ pre: ["let a;"], line: "let b;", post: [] });
    }
  });

  it("that was cut off, is of another layout or is something else is refused", async () => {
    const index = await indexOf(map);
    for (let length = 0; length < index.length; length++) expect(() => openIndex(index.subarray(0, length))).toThrow(RangeError);
    expect(() => openIndex(Buffer.concat([index, Buffer.alloc(1)]))).toThrow(RangeError);
    expect(() => openIndex(Buffer.from(JSON.stringify(map)))).toThrow("no index");
    const later = Buffer.from(index);
    later.writeUInt32LE(2, 4);
    expect(() => openIndex(later)).toThrow("layout 2");
  });

  it("knows its size", async () => {
    const index = await indexOf(map);
    expect(openIndex(index).bytes).toBeGreaterThanOrEqual(index.length);
    expect(index.byteOffset).toBe(0);
    expect(index.buffer.byteLength).toBe(index.length);
  });
});

describe("the lines around", () => {
  const contextOf = async (content: string | null, line: number) => openIndex(await indexOf({ version: 3, sources: ["a.js", "b.js"], sourcesContent: [content, "other"], names: [], mappings: "AAAA" })).context(0, line);

  it.each(["\n", "\r\n", "\r", "\u2028", "\u2029"])("are told apart by %j", async (end) => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
    expect(await contextOf(lines.join(end), 8)).toEqual({ pre: lines.slice(2, 7), line: "line 8", post: lines.slice(8, 13) });
    expect(await contextOf(lines.join(end), 1)).toEqual({ pre: [], line: "line 1", post: lines.slice(1, 6) });
    expect(await contextOf(lines.join(end), 20)).toEqual({ pre: lines.slice(14, 19), line: "line 20", post: [] });
  });

  it("are cut to 500 characters", async () => {
    expect(await contextOf(`${"ä".repeat(499)}\r\n${"b".repeat(5_000)}\n${"c".repeat(500)}\r\n`, 2)).toEqual({ pre: ["ä".repeat(499)], line: "b".repeat(500), post: ["c".repeat(500), ""] });
  });

  it("are not there outside of the text or without one", async () => {
    expect(await contextOf("a\n", 3)).toBeNull();
    expect(await contextOf("a", 0)).toBeNull();
    expect(await contextOf("", 1)).toEqual({ pre: [], line: "", post: [] });
    expect(await contextOf(null, 1)).toBeNull();
    expect(openIndex(await indexOf({ version: 3, sources: [], names: [], mappings: "" })).context(0, 1)).toBeNull();
  });
});
