const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * A body as JSON. The edge and the processors read the same bytes by this one function, so what was taken in can be read
 * again: a byte order mark is left out, bytes that are no UTF-8 are refused. Throws TypeError or SyntaxError.
 */
export function readJson(body: Uint8Array): unknown {
  return JSON.parse(decoder.decode(body));
}

/** True when arrays and objects stand in each other more than `levels` deep; looks no deeper than that. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}
