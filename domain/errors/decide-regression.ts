import { compareVersions } from "../releases/compare-versions.ts";

/** When a service's releases were first seen, in milliseconds since the epoch. */
export type FirstSeen = ReadonlyMap<string, number>;

/**
 * Whether a release comes after another: by Semantic Versioning when both are such versions, else by which was first
 * seen later. An event that names no release comes after none, and nothing comes after a release that was never seen.
 */
export function comesAfter(release: string, other: string, firstSeen: FirstSeen): boolean {
  if (release === "") return false;
  const order = compareVersions(release, other);
  if (order !== null) return order > 0;
  const [seen, otherSeen] = [firstSeen.get(release), firstSeen.get(other)];
  return seen !== undefined && otherSeen !== undefined && seen > otherSeen;
}

/**
 * The release in which a signature resolved in `resolvedIn` happened again, null when it did not: of the events after
 * its resolution the one in a release after that. Moments as comparable texts, all of one shape.
 */
export function regressingRelease(lastSeenIn: ReadonlyMap<string, string>, { resolvedAt, resolvedIn }: { resolvedAt: string; resolvedIn: string }, firstSeen: FirstSeen): string | null {
  for (const [release, lastSeen] of lastSeenIn) if (lastSeen > resolvedAt && comesAfter(release, resolvedIn, firstSeen)) return release;
  return null;
}
