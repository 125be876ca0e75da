import type { ContentPlace, OriginalPosition } from "../../schemas/frames.ts";
import type { FlatIndex, Position } from "./flat-index.ts";

/** An original position as people see it, and whether it is a library's; null when the map has nothing for the place (1-based). */
export function originalOf(index: FlatIndex, line: number, column: number): { original: OriginalPosition; ignored: boolean } | null {
  const found = index.find(line, column);
  if (found === null) return null;
  const original = { source: found.source, line: found.line, column: found.column, name: nameAt(index, found), context: index.context(found.sourceIndex, found.line) };
  return { original, ignored: found.ignored };
}

/** A position of a script in its source, with the name of the function around it. */
export interface Original extends Pick<Position, "source" | "line" | "column" | "ignored"> {
  name: string | null;
  content: ContentPlace | null;
}

/** The same as rows keep it; `hash` is the map's. */
export function storedOriginal(index: FlatIndex, hash: string, line: number, column: number): Original | null {
  const found = index.find(line, column);
  if (found === null) return null;
  const place = index.contentPlace(found.sourceIndex);
  return { source: found.source, line: found.line, column: found.column, ignored: found.ignored, name: nameAt(index, found), content: place && [hash, place.start, place.bytes] };
}

/** Of the function around a position. The mapping's own name is that of what is called there: better than none only where no source can tell. */
function nameAt(index: FlatIndex, { function: around, name, sourceIndex }: Position): string | null {
  return around ?? (index.contentPlace(sourceIndex) === null ? name : null);
}
