import type { OriginalPosition } from "../../schemas/frames.ts";
import type { FlatIndex } from "./flat-index.ts";

/** An original position as people see it, and whether it is a library's; null when the map has nothing for the place (1-based). */
export function originalOf(index: FlatIndex, line: number, column: number): { original: OriginalPosition; ignored: boolean } | null {
  const found = index.find(line, column);
  if (found === null) return null;
  const context = index.context(found.sourceIndex, found.line);
  // The mapping's own name is that of what is called there, not of what calls: better than none only where no source can tell.
  const name = found.function ?? (context === null ? found.name : null);
  return { original: { source: found.source, line: found.line, column: found.column, name, context }, ignored: found.ignored };
}
