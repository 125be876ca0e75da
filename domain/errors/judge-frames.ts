import type { FrameVerdict } from "../../schemas/frames.ts";
import { functionName } from "./function-name.ts";
import { neutralType } from "./neutral-error.ts";
import type { ParsedFrame } from "./parse-stack.ts";

/** The frames of a stack as grouping sees them. */
export interface JudgedFrames {
  /** Of each frame of the stack, in its order. */
  verdicts: FrameVerdict[];
  /** Those that count, innermost first. */
  counted: GroupingFrame[];
  /** They are of the application, and the innermost is told by its name or its line. */
  tellsPlace: boolean;
}

/** A place in the code as builds and engines agree on it. */
export interface GroupingFrame {
  /** "" for none. */
  name: string;
  file: string;
  /** The source line of a frame without a name; "" for none. */
  line: string;
}

/** Chrome prints ten frames, native ones among them, Firefox and Safari all: only so many count. */
const MAX_GROUPING_FRAMES = 8;
/** The longest cycle of functions calling each other that counts as recursion. */
const MAX_CYCLE = 4;

/**
 * Decides which frames make the group of an error of a type: the application's own, else all, of
 * those that were running when it was made. What waits behind an asynchronous call, the
 * constructor of the error and repeated calls do not count.
 */
export function judgeFrames(frames: readonly ParsedFrame[], type: string): JudgedFrames {
  const verdicts = aloneVerdicts(frames);
  leaveConstructorsOut(frames, verdicts, type);
  const isInApp = hasInApp(frames, verdicts);
  const places: Place[] = [];
  let innermostCycle = 0;
  // Loops by hand: this runs for each new stack of the service, of up to a hundred frames.
  for (let at = 0; at < frames.length; at++) {
    if (verdicts[at] !== "counted") continue;
    const frame = frames[at]!;
    if (isInApp && !frame.in_app) verdicts[at] = "library";
    // Some beyond the limit, so that a cycle that begins at the limit still collapses.
    else if (places.length > MAX_GROUPING_FRAMES + MAX_CYCLE) verdicts[at] = "too_far";
    else {
      places.push(placeOf(frame, at));
      const cycle = takeRepeated(places, verdicts);
      if (cycle > 0 && cycle === places.length) innermostCycle = cycle;
    }
  }
  if (innermostCycle > 1 && neutralType(type) === "RangeError") rotateCycle(places, innermostCycle);
  while (places.length > MAX_GROUPING_FRAMES) verdicts[places.pop()!.at] = "too_far";
  const [innermost] = places;
  const tellsPlace = isInApp && innermost !== undefined && (innermost.name !== "" || innermost.line !== "");
  return { verdicts, counted: places, tellsPlace };
}

/** What a frame says by itself, and the ones above it by being asynchronous. */
function aloneVerdicts(frames: readonly ParsedFrame[]): FrameVerdict[] {
  const verdicts: FrameVerdict[] = [];
  let isBehind = false;
  for (const { kind, async } of frames) {
    isBehind ||= async;
    verdicts.push(isBehind ? "async" : kind === "script" ? "counted" : kind);
  }
  return verdicts;
}

function hasInApp(frames: readonly ParsedFrame[], verdicts: readonly FrameVerdict[]): boolean {
  for (let at = 0; at < frames.length; at++) if (verdicts[at] === "counted" && frames[at]!.in_app) return true;
  return false;
}

/** The engine makes these itself, so no class of the page was constructed. */
const ENGINE_TYPES = new Set(["TypeError", "ReferenceError", "RangeError", "SyntaxError", "URIError", "EvalError", "InternalError"]);

/**
 * V8 leaves the constructors of an error's class out of its stack, the others print them. Not all
 * of a stack is one, so the last frame stays.
 */
function leaveConstructorsOut(frames: readonly ParsedFrame[], verdicts: FrameVerdict[], type: string): void {
  const last = verdicts.lastIndexOf("counted");
  for (let at = 0; at < last; at++) {
    if (verdicts[at] !== "counted") continue;
    if (!isConstructorOf(type, frames[at]!)) return;
    verdicts[at] = "constructor";
  }
}

/** `new HttpError` of V8, `HttpError` of the others; ancestors are known by being called an error. */
function isConstructorOf(type: string, { function: printed }: ParsedFrame): boolean {
  if (printed === null) return false;
  const name = functionName(printed);
  return name === type || ((name.endsWith("Error") || name.endsWith("Exception")) && /^[A-Z]\w*$/.test(name) && !ENGINE_TYPES.has(type));
}

interface Place extends GroupingFrame {
  /** The frame's number. */
  at: number;
}

function placeOf({ function: printed, stable_file: file, source_line: line }: ParsedFrame, at: number): Place {
  const name = printed === null ? "" : functionName(printed);
  return { name, file, line: name === "" && line !== null ? line : "", at };
}

/**
 * Takes the end away when it repeats what stands right before it: `a b a b` → `a b`. Returns how
 * many places repeated, 0 for none.
 */
function takeRepeated(places: Place[], verdicts: FrameVerdict[]): number {
  const { length } = places;
  for (let cycle = 1; cycle <= MAX_CYCLE && cycle * 2 <= length; cycle++) {
    let at = length - 1;
    while (at >= length - cycle && isSame(places[at]!, places[at - cycle]!)) at--;
    if (at >= length - cycle) continue;
    for (let left = cycle; left > 0; left--) verdicts[places.pop()!.at] = "repeated";
    return cycle;
  }
  return 0;
}

/** Functions that call each other without end: which of them is the last depends on the stack's size alone. */
function rotateCycle(places: Place[], cycle: number): void {
  const texts = places.slice(0, cycle).map(({ name, file }) => `${name} ${file}`);
  const first = texts.indexOf(texts.toSorted()[0]!);
  places.unshift(...places.splice(first, cycle - first));
}

/** Lengths first: they settle most comparisons without reading the texts. */
function isSame(left: Place, right: Place): boolean {
  return left.name.length === right.name.length && left.name === right.name && left.file === right.file && left.line === right.line;
}
