import type { ContentPlace, OriginalPosition } from "../../schemas/frames.ts";
import { cutWhole } from "../cut-whole.ts";
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
  /** Where it was asked for and there is no name: the text of the line, with single blanks. */
  text: string | null;
}

const LONGEST_LINE = 200;
/** Lines of longer sources are not read: reading one inflates all of it, for an event of anybody. */
const LONGEST_SOURCE = 128 * 1024;

/** Where a frame stands in a script, 1-based; `withText` asks for the line's text too. */
export interface PlaceInScript {
  line: number;
  column: number;
  withText: boolean;
}

/** The same as rows keep it; `hash` is the map's. */
export function storedOriginal(index: FlatIndex, hash: string, { line: scriptLine, column: scriptColumn, withText }: PlaceInScript): Original | null {
  const found = index.find(scriptLine, scriptColumn);
  if (found === null) return null;
  const { source, line, column, ignored, sourceIndex } = found;
  const place = index.contentPlace(sourceIndex);
  const name = nameAt(index, found);
  const text = withText && name === null && !ignored ? lineText(index.context(sourceIndex, line, LONGEST_SOURCE)?.line) : null;
  return { source, line, column, ignored, name, content: place && [hash, place.start, place.bytes], text };
}

/** A line as grouping sees it; null for one without text. */
export function lineText(line: string | undefined): string | null {
  const text = line?.replace(/\s+/g, " ").trim() ?? "";
  return text === "" ? null : cutWhole(text, LONGEST_LINE);
}

/** Of the function around a position. The mapping's own name is that of what is called there: better than none only where no source can tell. */
function nameAt(index: FlatIndex, { function: around, name, sourceIndex }: Position): string | null {
  return around ?? (index.contentPlace(sourceIndex) === null ? name : null);
}
