import { createHash } from "node:crypto";
import { derivedId } from "../ids.ts";

/**
 * Edge ids of frames that are put back for one group. Real edges have random (version 4) ids; these are version 8 and begin with
 * the group's tag, so that the other groups of the topic, which counted the record the first time, pass them by.
 */
export function replayEdgeId(group: string, ...source: string[]): string {
  return tagOf(group) + derivedId("replay", group, ...source).slice(8);
}

/** Whether a frame was put back for another group than this one. */
export function isReplayForAnother(edgeId: string, group: string): boolean {
  return edgeId[14] === "8" && !edgeId.startsWith(tagOf(group));
}

const tags = new Map<string, string>();

function tagOf(group: string): string {
  let tag = tags.get(group);
  if (tag === undefined) tags.set(group, (tag = createHash("sha256").update(group).digest("hex").slice(0, 8)));
  return tag;
}
