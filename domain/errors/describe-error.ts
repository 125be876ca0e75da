import type { BeaconCause, BeaconEvent } from "../../schemas/messages/beacon.ts";
import type { ErrorCategory } from "../../schemas/vocabulary.ts";
import { classify } from "./classify.ts";
import type { Cutter } from "./cut-text.ts";
import { fingerprint, framesOfGroup } from "./fingerprint.ts";
import type { ParsedFrame } from "./parse-stack.ts";
import { storedFrames } from "./left-out.ts";
import { factsOf, groupedByFrames, NO_STACK, type StackFacts } from "./stack-facts.ts";
import { symbolicate, type ScriptMaps } from "./symbolicate.ts";

export interface Described {
  /** Of the grouping; `parts` is JSON, or "" when `groupingPartsOf` finds them again. */
  version: string;
  fingerprint: string;
  parts: string;
  type: string;
  culprit: string;
  category: ErrorCategory | "";
  handled: boolean;
  stack: string;
  /** JSON of `StoredFrame[]`, or "" when `framesOf` finds them again. */
  frames: string;
  /** JSON of `{error_type, message, stack}[]`. */
  causes: string;
}

/** What an event comes from. */
export interface EventOrigin {
  /** "" for none. */
  release: string;
  /** Null when its scripts have none. */
  maps: ScriptMaps | null;
}

const LIMITS = { type: 200, message: 8_192, causeMessage: 2_048, stack: 65_536, causes: 10, fingerprint: 16, fingerprintText: 500 } as const;

/** What an error or a message says of itself: type, frames, group, category. `message` is already cut. */
export function describeError(event: BeaconEvent, message: string, { release, maps }: EventOrigin, cut: Cutter): Described {
  const kind = event.type === "message" ? "message" : "error";
  const { text: stack, whole, facts: printed } = readStack(event.stack, message, cut);
  const facts = maps ? symbolicate(printed, maps, release) : printed;
  const type = cut.text(event.error_type, LIMITS.type) || (kind === "message" ? "Message" : typeFrom(message) || typeFrom(stack) || "Error");
  const causes = event.causes ? cut.list(event.causes, LIMITS.causes).map((cause) => readCause(cause, cut, { release, maps })) : [];
  const custom = event.fingerprint ? cut.list(event.fingerprint, LIMITS.fingerprint).map((text) => cut.text(text, LIMITS.fingerprintText)) : null;
  const category = classify({ kind, type, message });
  const { grouping, parts } = groupOf({ category, type, message, facts, whole: whole && facts.shown === null, custom, causes });
  return {
    version: grouping.version,
    fingerprint: grouping.fingerprint,
    parts,
    type,
    culprit: facts.culprit,
    category,
    handled: event.handled ?? kind === "message",
    stack,
    frames: facts.shown ?? (whole ? "" : JSON.stringify(storedFrames(facts, release))),
    causes: causes.length === 0 ? "[]" : JSON.stringify(causes.map((cause) => ({ error_type: cause.type, message: cause.message, stack: cause.stack }))),
  };
}

interface ReadCause {
  type: string;
  message: string;
  stack: string;
  frames: readonly ParsedFrame[];
}

function groupOf({ category, type, message, facts, whole, custom, causes }: { category: ErrorCategory; type: string; message: string; facts: StackFacts; whole: boolean; custom: string[] | null; causes: ReadCause[] }) {
  const frames = framesOfGroup({ category, type }, facts.frames);
  const byFrames = frames.length > 0 && custom === null && causes.length === 0 ? groupedByFrames(facts, type) : null;
  if (byFrames !== null) return { grouping: byFrames, parts: whole ? "" : JSON.stringify(byFrames.parts) };
  const grouping = fingerprint({ type, message, frames, custom, causes });
  return { grouping, parts: JSON.stringify(grouping.parts) };
}

/** `whole` says that nothing of the text was cut: then everything that is read from it can be read again. */
function readStack(given: string | null | undefined, message: string, cut: Cutter): { text: string; whole: boolean; facts: StackFacts } {
  if (!given) return { text: "", whole: true, facts: NO_STACK };
  // Read whole before it is cut: the outermost frames count too.
  const all = cut.text(given, Infinity);
  const facts = factsOf(all, message);
  if (facts.truncated) cut.lost();
  // A UTF-16 unit takes at most three bytes: what is short needs no second look.
  const text = given.length * 3 <= LIMITS.stack ? all : cut.text(given, LIMITS.stack);
  return { text, whole: text.length === all.length, facts };
}

function readCause(cause: BeaconCause, cut: Cutter, { release, maps }: EventOrigin): ReadCause {
  const message = cut.text(cause.message, LIMITS.causeMessage);
  const { text: stack, facts } = readStack(cause.stack, message, cut);
  return { type: cut.text(cause.error_type, LIMITS.type) || typeFrom(message) || typeFrom(stack) || "Error", message, stack, frames: (maps ? symbolicate(facts, maps, release) : facts).frames };
}

/** `TypeError` of `Uncaught TypeError: x is not a function`, for senders that give no type; "" when there is none. */
function typeFrom(text: string): string {
  return /^(?:Uncaught (?:\(in promise\) )?)?([A-Z][A-Za-z0-9_$]{0,80}(?:Error|Exception)|Error|DOMException)(?::|\n|$)/.exec(text)?.[1] ?? "";
}
