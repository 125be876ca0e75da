import { SourceMapConsumer } from "source-map";
import { RECORD_LENGTH } from "./flat-index.ts";
import type { MapPart } from "./read-map.ts";

/** The mappings of a whole map, sorted and as the index keeps them; the function of each record is still −1. */
export interface Segments {
  lineStarts: Int32Array;
  columns: Int32Array;
  records: Int32Array;
}

/** A map's mappings cannot be read; the message is for who uploaded it. */
export class BrokenMappings extends Error {}

/** Commas and semicolons of VLQ mappings, counted without decoding them. */
export function countMappings(mappings: string): { lines: number; segments: number } {
  let lines = 1;
  let segments = 0;
  let between = true;
  for (let at = 0; at < mappings.length; at++) {
    const code = mappings.charCodeAt(at);
    if (code === 59) lines++;
    const separator = code === 59 || code === 44;
    if (between && !separator) segments++;
    between = separator;
  }
  return { lines, segments };
}

/**
 * Decodes the mappings of all parts. A part ends where the next one begins, and what stands before its first mapping has no original
 * (ECMA-426, index maps). `numberOf` gives a string's number. Throws BrokenMappings; anything else that it throws is not the map's fault.
 */
export async function collectSegments(parts: readonly MapPart[], numberOf: (text: string) => number): Promise<Segments> {
  const counts = parts.map((part) => ({ ...countMappings(part.mappings), from: part.line }));
  const lines = counts.reduce((most, { from, lines }) => Math.max(most, from + lines), 0);
  const collector = makeCollector(lines, counts.reduce((sum, { segments }) => sum + segments, 0) + parts.length);
  let firstSource = 0;
  for (const [index, part] of parts.entries()) {
    if (index > 0) collector.push(part.line, part.column, -1, -1, -1, -1);
    await collectPart(part, parts[index + 1] ?? null, firstSource, collector, numberOf);
    firstSource += part.sources.length;
  }
  return collector.finish();
}

async function collectPart(part: MapPart, next: MapPart | null, firstSource: number, collector: Collector, numberOf: (text: string) => number): Promise<void> {
  // Sources go by their numbers: the package would parse their names as URLs and throw for the whole map when one is none.
  const sources = part.sources.map((_, index) => String(index));
  const consumer = await new SourceMapConsumer({ version: 3, file: "", sources, names: part.names, mappings: part.mappings });
  const add = ({ generatedLine, generatedColumn, source, originalLine, originalColumn, name }: NullableMapping) => {
    const line = part.line + generatedLine - 1;
    const column = generatedColumn + (generatedLine === 1 ? part.column : 0);
    // The package reads numbers above 2³¹ as negative ones.
    if (generatedColumn < 0 || column > MAX_INT || (source !== null && (originalLine! < 1 || originalColumn! < 0))) throw new BrokenMappings("The map's mappings have a line or column above 2³¹.");
    if (next !== null && (line > next.line || (line === next.line && column >= next.column))) return;
    if (source === null || part.sources[Number(source)]!.name === null) collector.push(line, column, -1, -1, -1, -1);
    else collector.push(line, column, firstSource + Number(source), originalLine!, originalColumn!, name === null || name === "" ? -1 : numberOf(name));
  };
  try {
    consumer.eachMapping(add);
  } catch (error) {
    throw explained(error);
  } finally {
    consumer.destroy();
  }
}

const MAX_INT = 2 ** 31 - 1;

/** What the package gives, other than its types say. */
interface NullableMapping {
  generatedLine: number;
  generatedColumn: number;
  source: string | null;
  originalLine: number | null;
  originalColumn: number | null;
  name: string | null;
}

function explained(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof BrokenMappings) return error;
  if (error.message.startsWith("No element indexed by")) return new BrokenMappings("The map's mappings are broken: they point to a source or a name that it does not list.");
  const told = /^Error parsing mappings \(code \d+\): (.*)$/.exec(error.message)?.[1];
  return told === undefined ? error : new BrokenMappings(`The map's mappings are broken: ${told}.`);
}

interface Collector {
  /** In ascending order of the 0-based generated line and column. At the same place the first one with a source counts. */
  push(line: number, column: number, source: number, originalLine: number, originalColumn: number, name: number): void;
  finish(): Segments;
}

function makeCollector(lines: number, atMost: number): Collector {
  const lineStarts = new Int32Array(lines + 1);
  const columns = new Int32Array(atMost);
  const records = new Int32Array(atMost * RECORD_LENGTH);
  let count = 0;
  let current = 0;
  return {
    push(line, column, source, originalLine, originalColumn, name) {
      while (current < line) lineStarts[++current] = count;
      if (count > lineStarts[line]! && columns[count - 1] === column) {
        if (records[(count - 1) * RECORD_LENGTH] !== -1) return;
        count--;
      }
      columns[count] = column;
      const at = count++ * RECORD_LENGTH;
      records[at] = source;
      records[at + 1] = originalLine;
      records[at + 2] = originalColumn;
      records[at + 3] = name;
      records[at + 4] = -1;
    },
    finish() {
      lineStarts[current + 1] = count;
      return { lineStarts: lineStarts.slice(0, current + 2), columns: columns.slice(0, count), records: records.slice(0, count * RECORD_LENGTH) };
    },
  };
}
