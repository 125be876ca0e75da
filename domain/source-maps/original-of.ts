import type { OriginalPosition } from "../../schemas/frames.ts";
import type { FlatIndex, Position } from "./flat-index.ts";

/** An original position as people see it, and whether it is a library's; null when the map has nothing for the place (1-based). */
export function originalOf(index: FlatIndex, line: number, column: number): { original: OriginalPosition; ignored: boolean } | null {
  const found = index.find(line, column);
  if (found === null) return null;
  const original = { source: found.source, line: found.line, column: found.column, name: nameAt(index, found), context: index.context(found.sourceIndex, found.line) };
  return { original, ignored: found.ignored };
}

/** Of the function around a position. The mapping's own name is that of what is called there: better than none only where no source can tell. */
export function nameAt(index: FlatIndex, { function: around, name, sourceIndex }: Position): string | null {
  return around ?? (index.contentPlace(sourceIndex) === null ? name : null);
}
