import type { GroupingPart, StoredFrame } from "../../schemas/frames.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import type { ParsedFrame } from "./parse-stack.ts";
import { factsOf, groupedByFrames, NO_STACK, type StackFacts } from "./stack-facts.ts";
import { reasonWithoutMap } from "./symbolicate.ts";

// What follows from an event's stack is left out of its row: it would take twice the room of all the rest, for each event anew.

/** The frames of a row, which stores none when its stack tells them. */
export function framesOf({ frames, stack, message, release }: Pick<BeaconEventRow, "frames" | "stack" | "message" | "release">): StoredFrame[] {
  return frames === "" ? storedFrames(stack === "" ? NO_STACK : factsOf(stack, message), release) : (JSON.parse(frames) as StoredFrame[]);
}

/** Why a row is in its group; it stores nothing when its type and the frames of its stack tell. */
export function groupingPartsOf({ grouping_parts: parts, stack, message, error_type: type }: Pick<BeaconEventRow, "grouping_parts" | "stack" | "message" | "error_type">): GroupingPart[] {
  return parts === "" ? (groupedByFrames(factsOf(stack, message), type)?.parts ?? []) : (JSON.parse(parts) as GroupingPart[]);
}

/** Frames without maps, for an event of a release ("" for none). */
export function storedFrames({ frames }: StackFacts, release: string): StoredFrame[] {
  return frames.map((frame) => storedFrame(frame, release));
}

function storedFrame(frame: ParsedFrame, release: string): StoredFrame {
  const { file, line, column } = frame;
  return { function: frame.function, file, line, column, in_app: frame.in_app, original: null, unmapped_reason: reasonWithoutMap(frame, release) };
}
