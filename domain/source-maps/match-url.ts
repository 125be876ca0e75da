/** `https://host/path`, `app:///main.jsbundle`, `//host/path`: what stands before the path. */
const ORIGIN = /^(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?#]*/i;
/** `data:`, `blob:`, `webpack-internal:` without slashes: nothing behind it is a path. A drive's single letter is no scheme. */
const OPAQUE = /^[a-z][a-z0-9+.-]+:/i;
const DRIVE = /^[a-z]:[\\/]/i;

/**
 * The key under which an uploaded map is kept: its script's url without blanks around it, scheme and host in lower case.
 * `~/path` stays as it is, and so does a query: a map uploaded for `app.js?v=2` is for that one alone.
 */
export function storedKey(url: string): string {
  return lowerOrigin(url.trim());
}

/**
 * The keys to look for the map of a frame's script, best first: the exact url, the same without query and fragment,
 * `~/path` whatever the host is. Never empty, never throws; a url without a path has no third key.
 */
export function keysOf(url: string): string[] {
  const exact = storedKey(url);
  const bare = exact.replace(/[?#].*$/s, "");
  const path = pathOf(bare);
  return [...new Set(path === null ? [exact, bare] : [exact, bare, `~/${path}`])];
}

/** What is kept under the best of a script's keys, null for nothing. */
export function matchUrl<Value>(byKey: ReadonlyMap<string, Value>, url: string): Value | null {
  const key = keysOf(url).find((each) => byKey.has(each));
  return key === undefined ? null : byKey.get(key)!;
}

/** Without the slash it begins with; null when there is none. */
function pathOf(bare: string): string | null {
  if (bare.startsWith("~/")) return bare.slice(2);
  const origin = ORIGIN.exec(bare)?.[0];
  if (origin === undefined && (OPAQUE.test(bare) || DRIVE.test(bare) || bare.startsWith("<"))) return null;
  const path = bare.slice(origin?.length ?? 0).replace(/^(?:\.?\/)+/, "");
  return path === "" ? null : path;
}

function lowerOrigin(url: string): string {
  const origin = ORIGIN.exec(url)?.[0] ?? "";
  return origin.toLowerCase() + url.slice(origin.length);
}
