import { deflateRawSync } from "node:zlib";
import { arraysOf, bytesOf, LAYOUT_VERSION, MAGIC } from "./flat-index.ts";

/** What goes into an index; the arrays are as its layout has them. */
export interface IndexParts {
  lineStarts: Int32Array;
  columns: Int32Array;
  records: Int32Array;
  sources: readonly IndexedSource[];
  strings: readonly string[];
}

export interface IndexedSource {
  /** A string's number. */
  name: number;
  ignored: boolean;
  /** Null when none is kept. */
  content: string | null;
}

/** The index, in an ArrayBuffer of its own, where its arrays are aligned. */
export function writeIndex({ lineStarts, columns, records, sources, strings }: IndexParts): Buffer {
  const contents = sources.map(({ content }) => (content === null ? null : deflateRawSync(content)));
  const counts = {
    lines: lineStarts.length - 1,
    segments: columns.length,
    sources: sources.length,
    strings: strings.length,
    stringBytes: strings.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    contentBytes: contents.reduce((sum, content) => sum + (content?.length ?? 0), 0),
  };
  const index = Buffer.from(new ArrayBuffer(bytesOf(counts)));
  const into = arraysOf(index, counts);
  into.header.set([MAGIC, LAYOUT_VERSION, index.length, counts.lines, counts.segments, counts.sources, counts.strings, counts.stringBytes, counts.contentBytes]);
  into.lineStarts.set(lineStarts);
  into.columns.set(columns);
  into.records.set(records);
  into.sourceNames.set(sources.map(({ name }) => name));
  into.ignored.set(sources.map(({ ignored }) => (ignored ? 1 : 0)));
  into.stringStarts.set(startsOf(strings, (text, at) => into.strings.write(text, at)));
  into.contentStarts.set(startsOf(contents, (content, at) => content?.copy(into.contents, at) ?? 0));
  return index;
}

/** Puts pieces behind each other by `put`, which tells how many bytes each took; where each begins, and where the last ends. */
function startsOf<T>(pieces: readonly T[], put: (piece: T, at: number) => number): number[] {
  const starts = [0];
  for (const piece of pieces) starts.push(starts.at(-1)! + put(piece, starts.at(-1)!));
  return starts;
}
