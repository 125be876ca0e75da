import type { Frame, FrameVerdict, GroupingPart } from "../../schemas/frames.ts";
import type { ErrorCategory } from "../../schemas/vocabulary.ts";
import { framesOfGroup, GROUPING_VERSION } from "./fingerprint.ts";
import { judgeFrames } from "./judge-frames.ts";
import { sourcedFrames } from "./sourced-frames.ts";

interface Explained {
  type: string;
  message: string;
  category: ErrorCategory;
  groupingVersion: string;
}

interface KeptStack {
  stackTrace: string;
  frames: readonly Frame[];
  groupingParts: readonly GroupingPart[];
}

/**
 * The frames of a signature, each with what it was for the grouping; null where frames do not
 * count: in the group of a message or of the sender's own, and in one of earlier rules.
 */
export function explainFrames(
  { type, message, category, groupingVersion }: Explained,
  { stackTrace, frames, groupingParts }: KeptStack,
): (Frame & { grouping: FrameVerdict | null })[] {
  const isOurs = groupingVersion === GROUPING_VERSION && groupingParts.some(({ kind }) => kind === "type");
  const read = isOurs ? framesOfGroup({ category, type }, sourcedFrames(stackTrace, message, frames)) : [];
  const verdicts = read.length === frames.length ? judgeFrames(read, type).verdicts : [];
  return frames.map((frame, index) => ({ ...frame, grouping: verdicts[index] ?? null }));
}
