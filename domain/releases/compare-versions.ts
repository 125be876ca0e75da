interface Version {
  core: [number, number, number];
  /** Empty for a release proper. */
  prerelease: string[];
}

const SEMVER = /^v?(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;

/**
 * The order of two versions by Semantic Versioning 2.0.0 §11: negative when `a` comes before `b`, 0 when they have the
 * same precedence (build metadata does not count). Null when either is no such version; a leading `v` is allowed.
 */
export function compareVersions(a: string, b: string): number | null {
  const [left, right] = [read(a), read(b)];
  if (!left || !right) return null;
  for (const at of [0, 1, 2] as const) if (left.core[at] !== right.core[at]) return left.core[at] - right.core[at];
  return comparePrereleases(left.prerelease, right.prerelease);
}

function read(text: string): Version | null {
  const [, major, minor, patch, prerelease] = SEMVER.exec(text) ?? [];
  return major === undefined ? null : { core: [Number(major), Number(minor), Number(patch)], prerelease: prerelease?.split(".") ?? [] };
}

function comparePrereleases(a: string[], b: string[]): number {
  // One without comes after all of its pre-releases.
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const order = compareIdentifiers(a[at]!, b[at]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareIdentifiers(a: string, b: string): number {
  const [numericA, numericB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (numericA && numericB) return Number(a) - Number(b);
  if (numericA !== numericB) return numericA ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
