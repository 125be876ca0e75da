import { cutWhole } from "../cut-whole.ts";
import { fingerprintOfFrames, type Grouping } from "./fingerprint.ts";
import { functionName } from "./function-name.ts";
import { endOfHeader, parseStack, v8Stack, type ParsedFrame, type ParsedStack } from "./parse-stack.ts";
import { makeRecent } from "./recent.ts";

/** All that follows from the printed frames alone, or from them and the maps of their scripts. Shared by every event that has the same: never changed. */
export interface StackFacts {
  frames: readonly ParsedFrame[];
  /** Frames in the middle were left out. */
  truncated: boolean;
  /** Where it happened, for a list; "" when nothing tells. */
  culprit: string;
  /** JSON of `StoredFrame[]`, when not only the stack tells them. */
  shown: string | null;
  /** The last group of an event with nothing but a type and these frames; null when its message counts too. */
  grouped: { type: string; grouping: Grouping | null } | null;
}

const LONGEST_CULPRIT = 300;
/** Longer stacks are rare, and each would push many usual ones out. */
const LONGEST_KEPT = 16_384;

export const NO_STACK: StackFacts = { frames: [], truncated: false, culprit: "", grouped: null, shown: null };

/** A flood repeats the same few thousand stacks: they are read once. What a thread keeps of both stays below 80 MB, usually far below. */
const KEPT = { entries: 8_000, characters: 5_000_000 };
/** By the text below V8's header. */
const recentBelow = makeRecent<StackFacts>(KEPT);
/** By the whole text, of stacks without a header. */
const recentWhole = makeRecent<StackFacts>(KEPT);

/**
 * The facts of a stack. V8 prints the message above the frames; what stands below is the same for every message, so it is known by that.
 * What is kept must follow from its key alone: the same event gives the same row, whatever was read before it.
 */
export function factsOf(stack: string, message: string): StackFacts {
  const start = endOfHeader(stack, message);
  if (stack.length - start > LONGEST_KEPT) return factsIn(parseStack(stack, message));
  const recent = start === 0 ? recentWhole : recentBelow;
  const key = start === 0 ? stack : stack.slice(start);
  const known = recent.get(key);
  if (known !== undefined) return known;
  const below = start === 0 ? parseStack(stack) : v8Stack(stack, start);
  // Without a frame below the header, the header itself is searched for other engines' frames.
  if (below === null) return factsIn(parseStack(stack, message));
  const facts = factsIn(below);
  recent.set(key, facts);
  return facts;
}

function factsIn({ frames, truncated }: ParsedStack): StackFacts {
  return { frames, truncated, culprit: culpritOf(frames), grouped: null, shown: null };
}

/** The group of an event that has a type and these frames and nothing else that counts; null when its message counts too. */
export function groupedByFrames(facts: StackFacts, type: string): Grouping | null {
  if (facts.grouped?.type !== type) facts.grouped = { type, grouping: fingerprintOfFrames(type, facts.frames) };
  return facts.grouped.grouping;
}

/** The innermost frame of the application, else of anything. */
export function culpritOf(frames: readonly ParsedFrame[]): string {
  const frame = frames.find((each) => each.kind === "script" && each.in_app) ?? frames.find((each) => each.kind === "script");
  if (!frame) return "";
  const name = frame.function === null ? "" : functionName(frame.function);
  const file = frame.stable_file;
  return cutWhole(name === "" ? file : `${name} (${file})`, LONGEST_CULPRIT);
}
