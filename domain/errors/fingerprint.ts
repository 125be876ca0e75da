import { hash } from "node:crypto";
import type { GroupingPart } from "../../schemas/frames.ts";
import type { ErrorCategory } from "../../schemas/vocabulary.ts";
import { judgeFrames, type GroupingFrame } from "./judge-frames.ts";
import { neutralMessage, neutralType, ownMessage } from "./neutral-error.ts";
import type { ParsedFrame } from "./parse-stack.ts";
import { stableMessage } from "./stable-message.ts";

/** Grows when the rules change, so that signatures of two rules never mix. */
export const GROUPING_VERSION = "v2";

export interface Groupable {
  type: string;
  message: string;
  /** Innermost first. */
  frames: readonly ParsedFrame[];
  /** What the sender wants in place of the rules; `{{default}}` stands for what they would give. */
  custom?: string[] | null;
  causes?: readonly GroupableCause[];
}

export interface GroupableCause {
  type: string;
  message: string;
  frames: readonly ParsedFrame[];
}

export interface Grouping {
  version: string;
  /** Hexadecimal. */
  fingerprint: string;
  parts: GroupingPart[];
}

/**
 * The frames that count: a message is told apart by what it says, wherever it is sent from. So are
 * a script that did not load and what was aborted, whoever asked for it.
 */
export function framesOfGroup({ category, type }: { category: ErrorCategory; type: string }, frames: readonly ParsedFrame[]): readonly ParsedFrame[] {
  return category === "message" || category === "chunk_load" || type === "AbortError" ? [] : frames;
}

/** What makes two events one signature (grouping v2, `docs/grouping.md`), as parts that a person can read and as a fingerprint of them. */
export function fingerprint(event: Groupable): Grouping {
  const { custom } = event;
  return groupingOf(custom && custom.length > 0 ? customParts(event, custom) : defaultParts(event));
}

/** The group of an error with frames and nothing else that counts; null when its message counts too. */
export function fingerprintOfFrames(type: string, frames: readonly ParsedFrame[]): Grouping | null {
  const { counted, tellsPlace } = judgeFrames(frames, type);
  return tellsPlace ? groupingOf(frameParts(type, counted)) : null;
}

function groupingOf(parts: GroupingPart[]): Grouping {
  const texts = [GROUPING_VERSION];
  for (const { kind, value } of parts) texts.push(kind, value);
  // Joined at once: a text that was added up piece by piece takes as long again to hash.
  return { version: GROUPING_VERSION, fingerprint: hash("sha256", texts.join("\u0000"), "hex").slice(0, 32), parts };
}

function customParts(event: Groupable, custom: string[]): GroupingPart[] {
  return custom.flatMap((value) => (/^\{\{\s*default\s*\}\}$/.test(value) ? defaultParts(event) : [{ kind: "custom" as const, value }]));
}

function defaultParts(event: Groupable): GroupingPart[] {
  const parts = errorParts(event);
  if (event.causes) for (const cause of event.causes) parts.push({ kind: "cause", value: causeText(cause) });
  return parts;
}

function causeText(cause: GroupableCause): string {
  return errorParts(cause).map(({ value }) => value).join(" < ");
}

/** Type and frames; where these do not tell one place in the application, the message too. */
function errorParts({ type, message, frames }: GroupableCause): GroupingPart[] {
  const { counted, tellsPlace } = judgeFrames(frames, type);
  const parts = frameParts(type, counted);
  if (!tellsPlace) parts.push({ kind: "message", value: messageText(type, ownMessage(type, message)) });
  return parts;
}

function messageText(type: string, message: string): string {
  return neutralMessage(type, message) ?? stableMessage(message);
}

function frameParts(type: string, frames: readonly GroupingFrame[]): GroupingPart[] {
  const parts: GroupingPart[] = [{ kind: "type", value: neutralType(type) }];
  for (const frame of frames) parts.push({ kind: "frame", value: frameText(frame) });
  return parts;
}

/** `function in file`; without a name `file: source line` or the file. */
function frameText({ name, file, line }: GroupingFrame): string {
  if (name !== "") return file === "" ? name : `${name} in ${file}`;
  return line === "" ? file : `${file}: ${line}`;
}
