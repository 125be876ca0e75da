import { lastNotAbove } from "./last-not-above.ts";
import { makeContent, storableText, type Context, type SourceContent } from "./source-content.ts";

/*
 * The layout of an index, version 1. All numbers are little-endian; every array begins where the one before it ends.
 *
 *   header            9 × u32: magic, version, bytes in all, then the counts L, M, S, T, B and C below
 *   line starts       i32 × (L + 1): the number of each generated line's first segment, and M
 *   columns           i32 × M: each segment's generated column, 0-based, ascending within its line
 *   records           i32 × 5 M: source, original line (1-based), original column (0-based), name and function;
 *                     source −1: this piece of the script has no original; name and function are strings, −1: none
 *   source names      i32 × S: strings
 *   content starts    u32 × (S + 1): into the contents; equal to the next one: no content is kept
 *   string starts     u32 × (T + 1): into the strings
 *   ignored           u8 × S: 1 when the map's ignore list names the source
 *   strings           u8 × B: UTF-8, each once
 *   contents          u8 × C: one raw deflate stream of UTF-8 for each source, so that one can be had without the others
 *
 * Arrays of 32 bits come first, so they are all aligned when the index is. A record's five numbers lie together because they are read together.
 */
export const MAGIC = 0x31_58_53_50; // "PSX1"
export const LAYOUT_VERSION = 1;
const HEADER_BYTES = 36;
export const RECORD_LENGTH = 5;

/** Names of sources and functions are cut there: an event repeats them for each frame. */
const MAX_TEXT_BYTES = 500;

/** Of what there is how much: see the layout. */
export interface Counts {
  lines: number;
  segments: number;
  sources: number;
  strings: number;
  stringBytes: number;
  contentBytes: number;
}

/** Views into an index. */
export interface Arrays {
  header: Uint32Array;
  lineStarts: Int32Array;
  columns: Int32Array;
  records: Int32Array;
  sourceNames: Int32Array;
  contentStarts: Uint32Array;
  stringStarts: Uint32Array;
  ignored: Uint8Array;
  strings: Buffer;
  contents: Buffer;
}

/** An original position. Line and column are 1-based; `name` is the mapping's own, `function` that of the innermost function around it. */
export interface Position {
  source: string;
  line: number;
  column: number;
  name: string | null;
  function: string | null;
  ignored: boolean;
  sourceIndex: number;
}

export interface FlatIndex {
  /**
   * The original of a generated position as stacks print it, 1-based both: that of the last segment on this line which begins there or before.
   * Null when there is none, or when that segment has no original.
   */
  find(line: number, column: number): Position | null;
  /**
   * Null when the source's content is not in the map, is longer than `most` bytes (8 MiB when not
   * given), or has no such line (1-based). Remembers the last source it read.
   */
  context(sourceIndex: number, line: number, most?: number): Context | null;
  /** Where in the index the compressed content of a source stands, in bytes; null when the map does not hold it. */
  contentPlace(sourceIndex: number): { start: number; bytes: number } | null;
  /** What it takes in memory when all its strings have been read; without the source that `context` remembers. */
  readonly bytes: number;
}

export function bytesOf({ lines, segments, sources, strings, stringBytes, contentBytes }: Counts): number {
  const numbers = lines + 1 + segments * (1 + RECORD_LENGTH) + sources + sources + 1 + strings + 1;
  return HEADER_BYTES + 4 * numbers + sources + stringBytes + contentBytes;
}

/** The arrays of an index of `bytesOf(counts)` bytes; the buffer's own offset must be a multiple of 4. */
export function arraysOf(buffer: Buffer, { lines, segments, sources, strings, stringBytes, contentBytes }: Counts): Arrays {
  let at = 0;
  const place = (bytes: number): [ArrayBuffer, number] => {
    const start = buffer.byteOffset + at;
    at += bytes;
    return [buffer.buffer as ArrayBuffer, start];
  };
  const i32 = (length: number) => new Int32Array(...place(4 * length), length);
  const u32 = (length: number) => new Uint32Array(...place(4 * length), length);
  return {
    header: u32(HEADER_BYTES / 4),
    lineStarts: i32(lines + 1),
    columns: i32(segments),
    records: i32(RECORD_LENGTH * segments),
    sourceNames: i32(sources),
    contentStarts: u32(sources + 1),
    stringStarts: u32(strings + 1),
    ignored: new Uint8Array(...place(sources), sources),
    strings: Buffer.from(...place(stringBytes), stringBytes),
    contents: Buffer.from(...place(contentBytes), contentBytes),
  };
}

/** Reads nothing but the header; keeps the buffer, or a copy of it where it is not aligned. Throws a RangeError when it is no whole index of this layout. */
export function openIndex(buffer: Buffer): FlatIndex {
  const arrays = checkedArrays(buffer.byteOffset % 4 === 0 ? buffer : alignedCopy(buffer));
  const { lineStarts, columns, records, sourceNames, stringStarts, strings, ignored, contentStarts, contents } = arrays;
  const lines = lineStarts.length - 1;
  const decoded: (string | undefined)[] = Array.from({ length: stringStarts.length - 1 });
  const text = (id: number) => (decoded[id] ??= storableText(strings.subarray(stringStarts[id], Math.min(stringStarts[id + 1]!, stringStarts[id]! + MAX_TEXT_BYTES))));

  return {
    find(line, column) {
      if (!Number.isInteger(line) || line < 1 || line > lines) return null;
      const first = lineStarts[line - 1]!;
      const segment = lastNotAbove(columns, column - 1, first, lineStarts[line]!);
      if (segment < first) return null;
      const at = segment * RECORD_LENGTH;
      const source = records[at]!;
      if (source === -1) return null;
      const name = records[at + 3]!;
      const around = records[at + 4]!;
      return {
        source: text(sourceNames[source]!),
        line: records[at + 1]!,
        column: records[at + 2]! + 1,
        name: name === -1 ? null : text(name),
        function: around === -1 ? null : text(around),
        ignored: ignored[source] === 1,
        sourceIndex: source,
      };
    },
    context: makeContext(arrays),
    contentPlace(sourceIndex) {
      const [start, end] = [contentStarts[sourceIndex], contentStarts[sourceIndex + 1]];
      return start === undefined || end === undefined || start === end ? null : { start: buffer.byteLength - contents.length + start, bytes: end - start };
    },
    bytes: buffer.byteLength + 2 * strings.length + 8 * decoded.length,
  };
}

function checkedArrays(buffer: Buffer): Arrays {
  if (buffer.length < HEADER_BYTES) throw new RangeError("A source map's index was cut off.");
  const [magic, version, bytes, lines, segments, sources, strings, stringBytes, contentBytes] = new Uint32Array(buffer.buffer, buffer.byteOffset, HEADER_BYTES / 4);
  if (magic !== MAGIC) throw new RangeError("This is no index of a source map.");
  if (version !== LAYOUT_VERSION) throw new RangeError(`A source map's index has layout ${version}; ${LAYOUT_VERSION} is the one that is read.`);
  const counts = { lines: lines!, segments: segments!, sources: sources!, strings: strings!, stringBytes: stringBytes!, contentBytes: contentBytes! };
  if (bytes !== buffer.length || bytes !== bytesOf(counts)) throw new RangeError("A source map's index was cut off or damaged.");
  return arraysOf(buffer, counts);
}

function alignedCopy(buffer: Buffer): Buffer {
  const copy = Buffer.from(new ArrayBuffer(buffer.length));
  buffer.copy(copy);
  return copy;
}

function makeContext({ contentStarts, contents }: Arrays): FlatIndex["context"] {
  let last: { sourceIndex: number; most: number | undefined; content: SourceContent | null } | null = null;
  return (sourceIndex, line, most) => {
    if (last?.sourceIndex !== sourceIndex || last.most !== most) {
      const deflated = contents.subarray(contentStarts[sourceIndex], contentStarts[sourceIndex + 1]);
      last = { sourceIndex, most, content: makeContent(deflated, most) };
    }
    return last.content?.around(line) ?? null;
  };
}
