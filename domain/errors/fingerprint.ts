import { hash } from "node:crypto";
import type { GroupingPart } from "../../schemas/frames.ts";
import type { ErrorCategory } from "../../schemas/vocabulary.ts";
import { functionName } from "./function-name.ts";
import type { ParsedFrame } from "./parse-stack.ts";
import { stableMessage } from "./stable-message.ts";

/** Grows when the rules change, so that signatures of two rules never mix. */
const GROUPING_VERSION = "v1";

export interface Groupable {
  type: string;
  message: string;
  /** Innermost first. */
  frames: readonly ParsedFrame[];
  /** What the sender wants in place of the rules; `{{default}}` stands for what they would give. */
  custom?: string[] | null;
  causes?: { type: string; message: string; frames: readonly ParsedFrame[] }[];
}

export interface Grouping {
  version: string;
  /** Hexadecimal. */
  fingerprint: string;
  parts: GroupingPart[];
}

/** Chrome prints ten frames, native ones among them, Firefox and Safari all: only so many count. */
const MAX_GROUPING_FRAMES = 8;
/** The longest cycle of functions calling each other that counts as recursion. */
const MAX_CYCLE = 4;

/** The frames that count: a message is told apart by what it says, wherever it is sent from, and so is a script that did not load, whoever asked for it. */
export function framesOfGroup(category: ErrorCategory, frames: readonly ParsedFrame[]): readonly ParsedFrame[] {
  return category === "message" || category === "chunk_load" ? [] : frames;
}

/** What makes two events one signature (conventions' grouping v1), as parts that a person can read and as a fingerprint of them. */
export function fingerprint(event: Groupable): Grouping {
  const { custom } = event;
  const parts = custom && custom.length > 0 ? customParts(event, custom) : defaultParts(event);
  const texts = [GROUPING_VERSION];
  for (const { kind, value } of parts) texts.push(kind, value);
  // Joined at once: a text that was added up piece by piece takes as long again to hash.
  return { version: GROUPING_VERSION, fingerprint: hash("sha256", texts.join("\u0000"), "hex").slice(0, 32), parts };
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
    kept.push({ name: frame.function === null ? "" : functionName(frame.function), file: frame.stable_file });
    collapseEnd(kept);
  }
  if (kept.length > MAX_GROUPING_FRAMES) kept.length = MAX_GROUPING_FRAMES;
  return kept.map(({ name, file }) => (name === "" || file === "" ? name || file : `${name} in ${file}`));
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
