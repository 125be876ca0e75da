import type { Frame, StoredFrame } from "../../schemas/frames.ts";
import { lineText } from "../source-maps/original-of.ts";
import type { ParsedFrame } from "./parse-stack.ts";
import { factsOf, NO_STACK } from "./stack-facts.ts";
import { judgeSource } from "./symbolicate.ts";

/**
 * The frames of a stack as they were grouped: those that `stored` has an original of by their
 * source. Those of a stack that was cut after it had been read are as printed.
 */
export function sourcedFrames(stack: string, message: string, stored: readonly (Frame | StoredFrame)[]): readonly ParsedFrame[] {
  const { frames } = stack === "" ? NO_STACK : factsOf(stack, message);
  if (stored.length !== frames.length) return frames;
  return frames.map((frame, index) => ofSource(frame, stored[index]!));
}

function ofSource(frame: ParsedFrame, { original, in_app: inApp }: Frame | StoredFrame): ParsedFrame {
  if (original === null) return frame;
  const { name, source } = original;
  const line = name === null && "context" in original ? lineText(original.context?.line) : null;
  return { ...frame, function: name, in_app: inApp, stable_file: judgeSource(source).stable, source_line: line };
}
