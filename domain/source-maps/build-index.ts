import { BrokenMappings, collectSegments, countMappings, type Segments } from "./collect-segments.ts";
import { RECORD_LENGTH } from "./flat-index.ts";
import { functionAt, functionRangesOf } from "./function-ranges.ts";
import { lineStartsOf } from "./line-starts.ts";
import { readMap, type MapPart, type PartSource } from "./read-map.ts";
import { writeIndex } from "./write-index.ts";

export type BuiltIndex =
  | {
      kind: "index";
      /** For `openIndex`; in an ArrayBuffer of its own. */
      index: Buffer;
      /** In lower case; null when the map names no valid one. */
      debugId: string | null;
      sources: number;
      mappings: number;
    }
  /** Sentences for who uploaded it; without `fix` it is no map that can be read. */
  | { kind: "invalid"; reason: string; fix?: string };

/** Also the most lines a script can have. */
const MAX_MAPPINGS = 20_000_000;
/** Also the most sections. */
const MAX_SOURCES = 100_000;
/** Of a larger source no lines are shown, nor functions known. */
const MAX_CONTENT_BYTES = 4 * 1024 * 1024;

/**
 * Turns an uploaded source map into the index that lookups read. Takes seconds and gigabytes for the largest maps, and the native parser
 * in it can be brought down with its whole process by sources made for that: give it a place of its own.
 */
export async function buildIndex(bytes: Uint8Array): Promise<BuiltIndex> {
  const read = readMap(bytes);
  if (read.kind === "invalid") return read;
  const reason = refusal(read.parts);
  if (reason !== null) return { kind: "invalid", reason };

  const { strings, numberOf } = makeStrings();
  let segments: Segments;
  try {
    segments = await collectSegments(read.parts, numberOf);
  } catch (error) {
    if (error instanceof BrokenMappings) return { kind: "invalid", reason: error.message };
    throw error;
  }
  const sources = read.parts.flatMap((part) => part.sources).map(withinLimit);
  nameFunctions(segments.records, sources, numberOf);
  const index = writeIndex({ ...segments, strings, sources: sources.map((source) => ({ ...source, name: numberOf(source.name ?? "") })) });
  return { kind: "index", index, debugId: read.debugId, sources: sources.length, mappings: segments.columns.length };
}

/** Why a map is too large, or null. */
function refusal(parts: readonly MapPart[]): string | null {
  const sources = parts.reduce((sum, part) => sum + part.sources.length, 0);
  if (sources > MAX_SOURCES) return `The map has ${sources} sources; at most ${MAX_SOURCES} are taken.`;
  if (parts.length > MAX_SOURCES) return `The map has ${parts.length} sections; at most ${MAX_SOURCES} are taken.`;
  let mappings = 0;
  for (const part of parts) {
    const { lines, segments } = countMappings(part.mappings);
    mappings += segments;
    if (part.line + lines > MAX_MAPPINGS) return `The map is for a script of ${part.line + lines} lines; at most ${MAX_MAPPINGS} are taken.`;
  }
  return mappings > MAX_MAPPINGS ? `The map has ${mappings} mappings; at most ${MAX_MAPPINGS} are taken.` : null;
}

function withinLimit(source: PartSource): PartSource {
  return source.content !== null && Buffer.byteLength(source.content) > MAX_CONTENT_BYTES ? { ...source, content: null } : source;
}

function makeStrings(): { strings: string[]; numberOf(text: string): number } {
  const strings: string[] = [];
  const numbers = new Map<string, number>();
  return {
    strings,
    numberOf(text) {
      const known = numbers.get(text);
      if (known !== undefined) return known;
      numbers.set(text, strings.length);
      return strings.push(text) - 1;
    },
  };
}

/** Writes into each record the function its original stands in. Looked up here once, it costs nothing at each lookup. */
function nameFunctions(records: Int32Array, sources: readonly PartSource[], numberOf: (text: string) => number): void {
  const mapped = new Uint8Array(sources.length);
  for (let at = 0; at < records.length; at += RECORD_LENGTH) if (records[at] !== -1) mapped[records[at]!] = 1;
  // Sources that nothing points to (types, what tree shaking dropped) are not parsed.
  const known = sources.map(({ name, content }, index) => {
    const ranges = name === null || content === null || mapped[index] === 0 ? null : functionRangesOf(name, content);
    return ranges === null ? null : { ranges, lineStarts: lineStartsOf(content!), characters: content!.length };
  });
  for (let at = 0; at < records.length; at += RECORD_LENGTH) {
    const source = records[at] === -1 ? null : known[records[at]!]!;
    const lineStart = source?.lineStarts[records[at + 1]! - 1];
    if (!source || lineStart === undefined) continue;
    const name = functionAt(source.ranges, Math.min(lineStart + records[at + 2]!, source.characters));
    if (name !== null) records[at + 4] = numberOf(name);
  }
}
