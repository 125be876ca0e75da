import type { Frame } from "../../schemas/frames.ts";
import type { BeaconCause, BeaconEvent } from "../../schemas/messages/beacon.ts";
import type { ErrorCategory } from "../../schemas/vocabulary.ts";
import { classify } from "./classify.ts";
import type { Cutter } from "./cut-text.ts";
import { fingerprint } from "./fingerprint.ts";
import { functionName } from "./function-name.ts";
import { parseStack, type ParsedFrame } from "./parse-stack.ts";

export interface Described {
  /** Of the grouping; `parts` is JSON. */
  version: string;
  fingerprint: string;
  parts: string;
  type: string;
  culprit: string;
  category: ErrorCategory | "";
  handled: boolean;
  stack: string;
  /** JSON of `Frame[]`. */
  frames: string;
  /** JSON of `{error_type, message, stack}[]`. */
  causes: string;
}

const LIMITS = { type: 200, message: 8_192, causeMessage: 2_048, stack: 65_536, causes: 10, fingerprint: 16, fingerprintText: 500, culprit: 300 } as const;

/** What an error or a message says of itself: type, frames, group, category. `message` is already cut. */
export function describeError(event: BeaconEvent, message: string, release: string, cut: Cutter): Described {
  const kind = event.type === "message" ? "message" : "error";
  const { text: stack, frames } = readStack(event.stack, message, cut);
  const type = cut.text(event.error_type, LIMITS.type) || (kind === "message" ? "Message" : typeFrom(message) || typeFrom(stack) || "Error");
  const causes = cut.list(event.causes ?? [], LIMITS.causes).map((cause) => readCause(cause, cut));
  const custom = event.fingerprint && cut.list(event.fingerprint, LIMITS.fingerprint).map((text) => cut.text(text, LIMITS.fingerprintText));
  const category = classify({ kind, type, message });
  // A message is told apart by what it says, wherever it is sent from.
  const grouping = fingerprint({ type, message, frames: kind === "message" ? [] : frames, custom: custom ?? null, causes });
  return {
    version: grouping.version,
    fingerprint: grouping.fingerprint,
    parts: JSON.stringify(grouping.parts),
    type,
    culprit: culpritOf(frames),
    category,
    handled: event.handled ?? kind === "message",
    stack,
    frames: frames.length === 0 ? "[]" : JSON.stringify(frames.map((frame) => storedFrame(frame, release))),
    causes: causes.length === 0 ? "[]" : JSON.stringify(causes.map((cause) => ({ error_type: cause.type, message: cause.message, stack: cause.stack }))),
  };
}

function readStack(given: string | null | undefined, message: string, cut: Cutter): { text: string; frames: ParsedFrame[] } {
  if (!given) return { text: "", frames: [] };
  // Read whole before it is cut: the outermost frames count too.
  const { frames, truncated } = parseStack(cut.text(given, Infinity), message);
  if (truncated) cut.lost();
  return { text: cut.text(given, LIMITS.stack), frames };
}

function readCause(cause: BeaconCause, cut: Cutter): { type: string; message: string; stack: string; frames: ParsedFrame[] } {
  const message = cut.text(cause.message, LIMITS.causeMessage);
  const { text: stack, frames } = readStack(cause.stack, message, cut);
  return { type: cut.text(cause.error_type, LIMITS.type) || typeFrom(message) || typeFrom(stack) || "Error", message, stack, frames };
}

/** `TypeError` of `Uncaught TypeError: x is not a function`, for senders that give no type; "" when there is none. */
function typeFrom(text: string): string {
  return /^(?:Uncaught (?:\(in promise\) )?)?([A-Z][A-Za-z0-9_$]{0,80}(?:Error|Exception)|Error|DOMException)(?::|\n|$)/.exec(text)?.[1] ?? "";
}

/** Where it happened, for a list: the innermost frame of the application, else of anything. */
function culpritOf(frames: ParsedFrame[]): string {
  const frame = frames.find((each) => each.kind === "script" && each.in_app) ?? frames.find((each) => each.kind === "script");
  if (!frame) return "";
  const name = frame.function === null ? "" : functionName(frame.function);
  const file = frame.stable_file;
  return (name === "" ? file : `${name} (${file})`).slice(0, LIMITS.culprit);
}

function storedFrame(frame: ParsedFrame, release: string): Frame {
  const { file, line, column } = frame;
  const reason = frame.kind === "native" ? "not_applicable" : release === "" ? "no_release" : "no_map_for_url";
  return { function: frame.function, file, line, column, in_app: frame.in_app, original: null, unmapped_reason: reason };
}
