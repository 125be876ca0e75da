/** A map as it was uploaded: its parts in the order of the generated code. A plain map is one part. */
export type ReadMap = { kind: "map"; debugId: string | null; parts: MapPart[] } | { kind: "invalid"; reason: string };

/** A plain source map (ECMA-426) and where its generated code begins. */
export interface MapPart {
  /** Of the generated code, 0-based. The column counts in this first line only. */
  line: number;
  column: number;
  mappings: string;
  names: string[];
  sources: PartSource[];
}

export interface PartSource {
  /** With `sourceRoot` before it; null where the map names none. */
  name: string | null;
  content: string | null;
  ignored: boolean;
}

/** Deeper than any bundler nests them. */
const MAX_DEPTH = 8;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** What makes a body no map, in a sentence for who uploaded it. Thrown and caught in this file only. */
class NotAMap extends Error {}

/** Reads the JSON of a map, plain or with sections; checks everything but the mappings. Never throws. */
export function readMap(bytes: Uint8Array): ReadMap {
  try {
    const map = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const parts = partsOf(map, { line: 0, column: 0 }, 0);
    if (parts.some((part, index) => index > 0 && !inOrder(parts[index - 1]!, part))) throw new NotAMap("The sections of the map are not in the order of their offsets.");
    const debugId = [map["debugId"], map["debug_id"]].find((id) => typeof id === "string")?.toLowerCase() ?? "";
    return { kind: "map", debugId: UUID.test(debugId) ? debugId : null, parts };
  } catch (error) {
    if (error instanceof NotAMap) return { kind: "invalid", reason: error.message };
    throw error;
  }
}

type Fields = Record<string, unknown>;

function parseJson(bytes: Buffer): Fields {
  let text: string;
  try {
    text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  } catch {
    throw new NotAMap("The file is larger than a text can be.");
  }
  if (text.trim() === "") throw new NotAMap("The file is empty.");
  let value: unknown;
  try {
    // The line that keeps a script tag from running the JSON (ECMA-426, "XSSI").
    value = JSON.parse(text.replace(/^\)\]\}'[^\n]*\n/, ""));
  } catch {
    throw new NotAMap(explainText(text));
  }
  if (!isFields(value)) throw new NotAMap("The file is JSON, but not a source map: it is no object.");
  return value;
}

/** What a file is that is not JSON. */
function explainText(text: string): string {
  const begin = text.slice(0, 100_000);
  if (/^(?:\)\]\}'[^\n]*\n)?\s*\{\s*"/.test(begin)) return "The file begins as JSON but is not valid JSON: it was cut off or damaged.";
  const comment = text.lastIndexOf("sourceMappingURL=");
  if (comment !== -1) {
    return text.startsWith("data:", comment + 17)
      ? "This is a script with an inline map (data: url): upload the .map file or extract it."
      : "This is a script, not its map: upload the file that its sourceMappingURL comment names.";
  }
  if (/^\s*</.test(begin)) return "This is HTML or XML, not a source map: was a page uploaded instead of the file?";
  const script = /^\s*(?:["']use strict["']|\/\/|\/\*|[!(;]|import\b|export\b|async\b|class\b|function\b|(?:var|let|const)\s|if\s*\(|[\w$.]+\s*[=(])/;
  return script.test(begin) ? "This is a script, not its map." : "The file is not JSON.";
}

interface Offset {
  line: number;
  column: number;
}

function partsOf(map: Fields, offset: Offset, depth: number): MapPart[] {
  if (map["sections"] !== undefined || map["mappings"] !== undefined) checkVersion(map["version"]);
  if (map["sections"] === undefined) return [{ ...offset, ...plainPart(map) }];
  if (!Array.isArray(map["sections"])) throw new NotAMap("The map's `sections` are no list.");
  if (depth === MAX_DEPTH) throw new NotAMap(`The map has sections nested more than ${MAX_DEPTH} deep.`);
  return map["sections"].flatMap((section: unknown, index) => {
    if (!isFields(section)) throw new NotAMap(`Section ${index} of the map is no object.`);
    if (section["url"] !== undefined) throw new NotAMap(`Section ${index} of the map names another file by \`url\`, which is not supported: put its map in.`);
    const { offset: own, map: inner } = section;
    if (!isFields(own) || !isCount(own["line"]) || !isCount(own["column"])) throw new NotAMap(`Section ${index} of the map has no valid \`offset\`.`);
    if (!isFields(inner)) throw new NotAMap(`Section ${index} of the map has no \`map\`.`);
    return partsOf(inner, { line: offset.line + own["line"], column: own["column"] + (own["line"] === 0 ? offset.column : 0) }, depth + 1);
  });
}

function plainPart(map: Fields): Omit<MapPart, "line" | "column"> {
  const { mappings, sources, names = [], sourcesContent, sourceRoot } = map;
  if (mappings === undefined) throw new NotAMap("The file is JSON, but not a source map: it has no `mappings`.");
  if (typeof mappings !== "string") throw new NotAMap("The map's `mappings` are no text.");
  if (!Array.isArray(sources)) throw new NotAMap("The map has no list of `sources`.");
  if (names !== null && !Array.isArray(names)) throw new NotAMap("The map's `names` are no list.");
  const contents: unknown[] = Array.isArray(sourcesContent) ? sourcesContent : [];
  const ignoreList = Array.isArray(map["ignoreList"]) ? map["ignoreList"] : map["x_google_ignoreList"];
  const ignored = new Set<unknown>(Array.isArray(ignoreList) ? ignoreList : []);
  const root = typeof sourceRoot === "string" ? sourceRoot : "";
  return {
    mappings,
    names: (names ?? []).map((name: unknown) => (typeof name === "string" ? name : "")),
    sources: sources.map((source: unknown, index) => {
      const content = contents[index];
      return { name: typeof source === "string" ? fullName(root, source) : null, content: typeof content === "string" ? content : null, ignored: ignored.has(index) };
    }),
  };
}

/** Some writers give the version as a text. */
function checkVersion(version: unknown): void {
  if (version === undefined) throw new NotAMap("The map has no `version`; 3 is the one that is supported.");
  if (version !== 3 && version !== "3") throw new NotAMap(`The map is of version ${JSON.stringify(version).slice(0, 20)}; 3 is the one that is supported.`);
}

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:/i;

/**
 * `sourceRoot` and the source with one slash between them, `.` and `..` resolved, and otherwise as the bundler wrote it:
 * a URL parser would refuse or change names such as `webpack://@scope/app/./src/[id].ts`.
 */
function fullName(root: string, source: string): string {
  const full = root === "" || ABSOLUTE.test(source) ? source : `${root.replace(/\/$/, "")}/${source.replace(/^\//, "")}`;
  if (!/(?:^|\/)\.{1,2}(?:\/|$)/.test(full)) return full;
  const origin = /^(?:[a-z][a-z0-9+.-]*:)?(?:\/\/[^/]*)?\/?/i.exec(full)![0];
  const kept: string[] = [];
  for (const segment of full.slice(origin.length).split("/")) {
    if (segment === ".") continue;
    if (segment !== "..") kept.push(segment);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    // Above a root there is nothing; above a relative path there may be.
    else if (origin === "") kept.push("..");
  }
  return origin + kept.join("/");
}

function inOrder(before: Offset, after: Offset): boolean {
  return before.line < after.line || (before.line === after.line && before.column <= after.column);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
