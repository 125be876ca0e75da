import type { GroupingPart, StoredFrame } from "../../schemas/frames.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import { classify } from "./classify.ts";
import { fingerprint, framesOfGroup } from "./fingerprint.ts";
import { groupingPartsOf, storedFrames } from "./left-out.ts";
import { signatureId } from "./signature-id.ts";
import { factsOf, NO_STACK, type StackFacts } from "./stack-facts.ts";
import { symbolicate, type ScriptMaps } from "./symbolicate.ts";

/** What of an error's row its group is made of. */
export type GroupedRow = Pick<BeaconEventRow, "service_id" | "error_type" | "message" | "stack" | "causes" | "grouping_parts" | "release">;

/** A group, and what its signature shows of itself. */
export interface Group {
  id: string;
  version: string;
  fingerprint: string;
  culprit: string;
  parts: GroupingPart[];
  frames: StoredFrame[];
  /** Whether any frame has its original. */
  mapped: boolean;
}

/** The group of an error that was grouped before, with other maps: null for none. */
export function groupAgain(row: GroupedRow, maps: ScriptMaps | null): Group {
  const { service_id: serviceId, error_type: type, message, release } = row;
  const facts = factsWith(row.stack, message, maps, release);
  const causes = (JSON.parse(row.causes) as { error_type: string; message: string; stack: string }[]).map((cause) => ({
    type: cause.error_type,
    message: cause.message,
    frames: factsWith(cause.stack, cause.message, maps, release).frames,
  }));
  const { version, fingerprint: print, parts } = fingerprint({ type, message, frames: framesOfGroup({ category: classify({ kind: "error", type, message }), type }, facts.frames), custom: customOf(groupingPartsOf(row)), causes });
  const frames = facts.shown === null ? storedFrames(facts, release) : (JSON.parse(facts.shown) as StoredFrame[]);
  return { id: signatureId(serviceId, version, print), version, fingerprint: print, culprit: facts.culprit, parts, frames, mapped: frames.some(({ original }) => original !== null) };
}

function factsWith(stack: string, message: string, maps: ScriptMaps | null, release: string): StackFacts {
  const facts = stack === "" ? NO_STACK : factsOf(stack, message);
  return maps ? symbolicate(facts, maps, release) : facts;
}

/** What the sender wanted in place of the rules, from what came of it; null for nothing. */
export function customOf(parts: readonly GroupingPart[]): string[] | null {
  if (!parts.some(({ kind }) => kind === "custom")) return null;
  // The rules' own parts begin with the type.
  return parts.flatMap(({ kind, value }) => (kind === "custom" ? [value] : kind === "type" ? ["{{default}}"] : []));
}
