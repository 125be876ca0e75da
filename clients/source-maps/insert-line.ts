type Fields = Record<string, unknown>;

/**
 * A map for the same code with one more line in it, without mappings, behind its first `after` lines (0-based: 0 puts it first).
 * Plain maps and index maps, nested too; what is no map comes back as it is.
 */
export function insertLine(map: Fields, after: number): Fields {
  if (Array.isArray(map["sections"])) return { ...map, sections: map["sections"].map((section: unknown) => (isFields(section) ? shiftSection(section, after) : section)) };
  return typeof map["mappings"] === "string" ? { ...map, mappings: insertSeparator(map["mappings"], after) } : map;
}

function shiftSection(section: Fields, after: number): Fields {
  const { offset, map } = section;
  if (!isFields(offset) || typeof offset["line"] !== "number") return section;
  if (offset["line"] >= after) return { ...section, offset: { ...offset, line: offset["line"] + 1 } };
  return isFields(map) ? { ...section, map: insertLine(map, after - offset["line"]) } : section;
}

/** Only columns begin anew with each line, so that an empty line more changes no other figure. */
function insertSeparator(mappings: string, after: number): string {
  let at = 0;
  for (let line = 0; line < after; line++) {
    at = mappings.indexOf(";", at) + 1;
    if (at === 0) return mappings;
  }
  return `${mappings.slice(0, at)};${mappings.slice(at)}`;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
