import { hash } from "node:crypto";
import type { GroupingPart } from "../../schemas/frames.ts";
import { DOCUMENT } from "./document-file.ts";
import type { Groupable } from "./fingerprint.ts";
import { functionName } from "./function-name.ts";
import type { ParsedFrame } from "./parse-stack.ts";
import { stableFile } from "./stable-file.ts";
import { stableMessage } from "./stable-message.ts";

/** The rules before those of `fingerprint.ts`. They never change: signatures that live on were made by them. */
export const EARLIER_VERSION = "v1";

/** Chrome prints ten frames, native ones among them, Firefox and Safari all: only so many count. */
const MAX_GROUPING_FRAMES = 8;
/** The longest cycle of functions calling each other that counts as recursion. */
const MAX_CYCLE = 4;

/** The fingerprint that the rules of v1 gave an event, hexadecimal. */
export function earlierFingerprint(event: Groupable): string {
  const { custom } = event;
  const parts = custom && custom.length > 0 ? customParts(event, custom) : defaultParts(event);
  const texts = [EARLIER_VERSION, ...parts.flatMap(({ kind, value }) => [kind, value])];
  return hash("sha256", texts.join("\u0000"), "hex").slice(0, 32);
}

function customParts(event: Groupable, custom: string[]): GroupingPart[] {
  return custom.flatMap((value) => (/^\{\{\s*default\s*\}\}$/.test(value) ? defaultParts(event) : [{ kind: "custom" as const, value }]));
}

function defaultParts({ type, message, frames, causes }: Groupable): GroupingPart[] {
  const parts: GroupingPart[] = [{ kind: "type", value: type }];
  const lines = frameLines(frames);
  for (const value of lines) parts.push({ kind: "frame", value });
  if (lines.length === 0) parts.push({ kind: "message", value: stableMessage(message) });
  if (causes) for (const cause of causes) parts.push({ kind: "cause", value: causeLine(cause) });
  return parts;
}

function causeLine({ type, message, frames }: { type: string; message: string; frames: readonly ParsedFrame[] }): string {
  const lines = frameLines(frames);
  return [type, ...(lines.length > 0 ? lines : [stableMessage(message)])].join(" < ");
}

/** `function in file` of the innermost in-app frames, or of all frames when none is in-app; recursion collapsed. */
function frameLines(frames: readonly ParsedFrame[]): string[] {
  const lines = collapsedLines(frames, true);
  return lines.length > 0 ? lines : collapsedLines(frames, false);
}

function collapsedLines(frames: readonly ParsedFrame[], onlyInApp: boolean): string[] {
  const kept: Place[] = [];
  for (const frame of frames) {
    if (frame.kind !== "script" || (onlyInApp && !frame.in_app)) continue;
    // Some beyond the limit, so that a cycle that begins at the limit still collapses.
    if (kept.length > MAX_GROUPING_FRAMES + MAX_CYCLE) break;
    kept.push({ name: frame.function === null ? "" : functionName(frame.function), file: fileOf(frame) });
    collapseEnd(kept);
  }
  if (kept.length > MAX_GROUPING_FRAMES) kept.length = MAX_GROUPING_FRAMES;
  return kept.map(({ name, file }) => (name === "" || file === "" ? name || file : `${name} in ${file}`));
}

/** A page was told by its address. */
function fileOf({ stable_file: stable, file }: ParsedFrame): string {
  return stable === DOCUMENT ? stableFile(file!) : stable;
}

interface Place {
  name: string;
  file: string;
}

/** Takes the end away when it repeats what stands right before it: `a b a b` → `a b`. */
function collapseEnd(places: Place[]): void {
  const { length } = places;
  for (let cycle = 1; cycle <= MAX_CYCLE && cycle * 2 <= length; cycle++) {
    let at = length - 1;
    while (at >= length - cycle && isSame(places[at]!, places[at - cycle]!)) at--;
    if (at < length - cycle) {
      places.length = length - cycle;
      return;
    }
  }
}

/** Lengths first: they settle most comparisons without reading the texts. */
function isSame(left: Place, right: Place): boolean {
  return left.name.length === right.name.length && left.name === right.name && left.file === right.file;
}
