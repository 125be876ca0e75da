/** A comment of one line: its place in the script, from its slashes to its end, and what it says. */
interface Comment {
  start: number;
  end: number;
  value: string;
}

interface ClosingComments {
  /** `//# sourceMappingURL=…` */
  map: Comment | null;
  /** `//# debugId=…` */
  debugId: Comment | null;
}

const KINDS = { map: "sourceMappingURL=", debugId: "debugId=" } as const;

/**
 * The comments for tools that stand behind the last code of a script or style sheet. Reads backwards and stops at the first line of code,
 * so that a text which only looks like such a comment further up is not taken for one.
 */
export function closingComments(script: string): ClosingComments {
  const found: ClosingComments = { map: null, debugId: null };
  let end = script.length;
  while (end > 0) {
    const start = script.lastIndexOf("\n", end - 1) + 1;
    const line = script.slice(start, end).trimEnd();
    const comment = readComment(line, start);
    if (comment) found[comment.kind] ??= comment;
    const code = comment ? script.slice(start, comment.start) : line;
    if (code.trim() === "" || code.trimStart().startsWith("//")) end = start - 1;
    else if (comment || !line.endsWith("*/")) break;
    else end = script.lastIndexOf("/*", start + line.length - 4);
  }
  return found;
}

function readComment(line: string, start: number): (Comment & { kind: keyof ClosingComments }) | null {
  for (const kind of ["map", "debugId"] as const) {
    const at = line.lastIndexOf(KINDS[kind]);
    const slashes = /\/[/*][#@][ \t]*$/.exec(line.slice(Math.max(0, at - 8), Math.max(0, at)));
    if (!slashes) continue;
    const value = line.slice(at + KINDS[kind].length).replace(/\s*\*\/$/, "");
    if (/^[^\s'"`]+$/.test(value)) return { kind, start: start + at - slashes[0].length, end: start + line.length, value };
  }
  return null;
}
