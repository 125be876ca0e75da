import { inflateRawSync } from "node:zlib";
import { cutWhole } from "../cut-whole.ts";
import { lineStartsOf } from "./line-starts.ts";

/** A line of an original source with up to five before and after it, each cut to 500 characters. */
export interface Context {
  pre: string[];
  line: string;
  post: string[];
}

export interface SourceContent {
  /** Null when there is no such line (1-based). */
  around(line: number): Context | null;
}

const LINES_AROUND = 5;
const MAX_LINE_CHARACTERS = 500;
/** More than a source that was kept can have (`build-index.ts`). */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * The text of a source, from an index's raw deflate stream of it. Null when there is none, it is
 * damaged, or longer than `most` bytes.
 */
export function makeContent(deflated: Uint8Array, most = MAX_BYTES): SourceContent | null {
  const text = inflated(deflated, most);
  if (text === null) return null;
  const starts = lineStartsOf(text);

  function linesFrom(from: number, to: number): string[] {
    const some: string[] = [];
    for (let at = Math.max(from, 0); at < Math.min(to, starts.length); at++) {
      some.push(cutWhole(text!.slice(starts[at], Math.min(starts[at + 1] ?? text!.length, starts[at]! + MAX_LINE_CHARACTERS + 2)).replace(/(?:\r\n|[\n\r\u2028\u2029])$/, ""), MAX_LINE_CHARACTERS));
    }
    return some;
  }

  return {
    around(line) {
      if (!Number.isInteger(line) || line < 1 || line > starts.length) return null;
      return { pre: linesFrom(line - 1 - LINES_AROUND, line - 1), line: linesFrom(line - 1, line)[0]!, post: linesFrom(line, line + LINES_AROUND) };
    },
  };
}

/** Without NUL characters, which Postgres takes in no text: bundlers mark what they made themselves with one. */
export function storableText(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  return text.includes("\0") ? text.replaceAll("\0", "") : text;
}

function inflated(deflated: Uint8Array, most: number): string | null {
  if (deflated.length === 0) return null;
  try {
    return storableText(inflateRawSync(deflated, { maxOutputLength: most }));
  } catch {
    return null;
  }
}
