import type { Original, PlaceInScript } from "../source-maps/original-of.ts";
import type { StoredFrame, UnmappedReason } from "../../schemas/frames.ts";
import { isInApp } from "./in-app.ts";
import type { ParsedFrame } from "./parse-stack.ts";
import { remember } from "./remember.ts";
import { stableFile } from "./stable-file.ts";
import { culpritOf, type StackFacts } from "./stack-facts.ts";

/** The maps of the scripts of one event. */
export interface ScriptMaps {
  /** Says of a script's url which map it has, null for none; undefined while that is not at hand. */
  mapOf(url: string): string | null | undefined;
  /** Where a place comes from, null when the map has nothing for it; undefined while the map is not at hand. */
  find(map: string, place: PlaceInScript): Original | "map_invalid" | null | undefined;
  /** What was made of the frames of an event before, with the same maps. */
  readonly known: Pick<WeakMap<StackFacts, StackFacts>, "get" | "set">;
}

/**
 * The frames of a stack by their sources, for grouping and for people. Gives the facts themselves when no script has a map, and also while
 * one is not at hand: whoever keeps the maps knows that, and asks again when it is.
 */
export function symbolicate(facts: StackFacts, maps: ScriptMaps, release: string): StackFacts {
  const known = maps.known.get(facts);
  if (known) return known;
  let mapped = 0;
  let texts = 0;
  let waiting = false;
  const seen = facts.frames.map((frame) => {
    const place = lookUp(frame, maps, texts < MOST_TEXTS);
    if (place === undefined) waiting = true;
    if (place !== undefined && place !== "no_map") mapped++;
    if (typeof place === "object" && place.text !== null) texts++;
    return place ?? "no_map";
  });
  if (waiting) return facts;
  const result = mapped === 0 ? facts : factsOfSources(facts, seen, release);
  maps.known.set(facts, result);
  return result;
}

/** So many frames without a name are told by the text of their line: each can take a source to inflate. */
const MOST_TEXTS = 3;

type Place = Original | UnmappedReason | "no_map";

function lookUp({ file, line, column }: ParsedFrame, maps: ScriptMaps, withText: boolean): Place | undefined {
  if (file === null) return "not_applicable";
  const map = maps.mapOf(file);
  if (map === undefined || map === null) return map === null ? "no_map" : undefined;
  // Firefox does not tell the column of what called eval; a line alone is no place of a minified script.
  if (line === null || column === null) return "position_not_in_map";
  const found = maps.find(map, { line, column, withText });
  return found === null ? "position_not_in_map" : found;
}

/** In characters of JSON; the outermost frames of what takes more are stored as printed. Usual stacks take a few thousand. */
const MOST_SHOWN = 100_000;

function factsOfSources(facts: StackFacts, places: readonly Place[], release: string): StackFacts {
  const frames = facts.frames.map((frame, index) => ofSource(frame, places[index]!));
  let left = MOST_SHOWN;
  const shown = facts.frames.map((frame, index) => {
    const text = JSON.stringify(shownFrame(frame, frames[index]!, places[index]!, release));
    left -= text.length;
    return left >= 0 ? text : JSON.stringify(shownFrame(frame, frames[index]!, "not_applicable", release));
  });
  return { frames, truncated: facts.truncated, culprit: culpritOf(frames), grouped: null, shown: `[${shown.join(",")}]` };
}

function ofSource(frame: ParsedFrame, place: Place): ParsedFrame {
  if (typeof place === "string") return frame;
  const { inApp, stable } = judgeSource(place.source);
  return { ...frame, function: place.name, in_app: inApp && !place.ignored, stable_file: stable, source_line: place.text };
}

/** A source is named from where its script lies, which can be a folder deeper in the next build. */
export const judgeSource = remember(10_000, (source) => ({ inApp: isInApp(source), stable: stableFile(source.replace(/^(?:\.\.\/)+/, "")) }));

function shownFrame(printed: ParsedFrame, { in_app: inApp }: ParsedFrame, place: Place, release: string): StoredFrame {
  const frame = { function: printed.function, file: printed.file, line: printed.line, column: printed.column, in_app: inApp };
  if (typeof place === "string") return { ...frame, original: null, unmapped_reason: place === "no_map" ? reasonWithoutMap(printed, release) : place };
  const { source, line, column, name, content } = place;
  return { ...frame, original: { source, line, column, name, content }, unmapped_reason: null };
}

/** Why a frame whose script has no map is not mapped; `release` is "" when the event named none. */
export function reasonWithoutMap({ file }: ParsedFrame, release: string): UnmappedReason {
  if (file === null) return "not_applicable";
  return release === "" ? "no_release" : "no_map_for_url";
}
