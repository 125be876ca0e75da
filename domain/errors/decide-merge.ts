import type { ErrorStatus } from "../../schemas/vocabulary.ts";
import { compareVersions } from "../releases/compare-versions.ts";
import type { StatusColumns } from "./decide-change.ts";

/** What of a signature decides what it becomes together with another. */
export interface Mergeable extends StatusColumns {
  occurrences: number;
  firstSeen: Date;
  lastSeen: Date;
  /** Of its first event; "" for none. */
  release: string;
  environment: string;
}

const NONE = { resolvedAt: null, resolvedInRelease: null, ignoreUntil: null, ignoreUntilOccurrences: null };

/**
 * Two signatures as one: nothing is counted twice or lost, and nobody's decision is undone without a reason. Open and ignored stay what they
 * are together with a resolved one, unless the event that is left came after the resolution: then it came back.
 */
export function decideMerge(one: Mergeable, other: Mergeable): Mergeable {
  const first = one.firstSeen <= other.firstSeen ? one : other;
  return {
    occurrences: one.occurrences + other.occurrences,
    firstSeen: first.firstSeen,
    lastSeen: one.lastSeen >= other.lastSeen ? one.lastSeen : other.lastSeen,
    release: first.release,
    environment: first.environment,
    ...statusOf(one, other),
  };
}

function statusOf(one: Mergeable, other: Mergeable): StatusColumns {
  if (one.status === other.status) return stricter(one, other);
  for (const [resolved, rest] of [[one, other], [other, one]] as const) {
    if (resolved.status !== "resolved") continue;
    if (rest.status === "ignored" || rest.status === "regressed") return columnsOf(rest, rest.status);
    return cameBack(resolved, rest) ? { ...columnsOf(resolved, "regressed"), ignoreUntil: null, ignoreUntilOccurrences: null } : columnsOf(resolved, "resolved");
  }
  if (one.status === "regressed" || other.status === "regressed") return columnsOf(one.status === "regressed" ? one : other, "regressed");
  // One is ignored and the other new: somebody wants not to hear of it, and nobody has said otherwise.
  return withRoom(one.status === "ignored" ? one : other, one, other);
}

/** Of two with the same status: the later resolution, the shorter silence. */
function stricter(one: Mergeable, other: Mergeable): StatusColumns {
  if (one.status === "ignored") return withRoom(one.ignoreUntil === null && one.ignoreUntilOccurrences === null ? other : one, one, other);
  return columnsOf((one.resolvedAt?.getTime() ?? 0) >= (other.resolvedAt?.getTime() ?? 0) ? one : other, one.status);
}

/** The limit of an ignored one is a total: what the other brings along must not use it up. */
function withRoom(ignored: Mergeable, one: Mergeable, other: Mergeable): StatusColumns {
  const limit = ignored.ignoreUntilOccurrences;
  const more = ignored === one ? other.occurrences : one.occurrences;
  return { ...NONE, status: "ignored", ignoreUntil: ignored.ignoreUntil, ignoreUntilOccurrences: limit === null ? null : limit + more };
}

function cameBack({ resolvedAt, resolvedInRelease }: Mergeable, { lastSeen, release }: Mergeable): boolean {
  if (resolvedAt === null || lastSeen <= resolvedAt) return false;
  return resolvedInRelease === null || (compareVersions(release, resolvedInRelease) ?? 0) > 0;
}

function columnsOf({ resolvedAt, resolvedInRelease, ignoreUntil, ignoreUntilOccurrences }: StatusColumns, status: ErrorStatus): StatusColumns {
  return { status, resolvedAt, resolvedInRelease, ignoreUntil, ignoreUntilOccurrences };
}
