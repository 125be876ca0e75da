const MILLISECONDS_END = "2026-01-02T03:04:05.678".length;

/**
 * Rows as JSONEachRow. A row is a plain object, column → value: string, number (NaN and infinities too), boolean, bigint,
 * Date (as `YYYY-MM-DD HH:MM:SS.mmm` in UTC), null for a Nullable column, arrays and maps of strings and numbers. A column left out, or
 * undefined, gets its default. Halves of surrogate pairs, which no UTF-8 can hold, become U+FFFD.
 */
export function rowsText(rows: readonly object[]): string {
  let text = "";
  for (const row of rows) {
    const line = JSON.stringify(withoutSpecials(row));
    // Only halves of surrogate pairs are written as escapes that begin so.
    text += line.includes("\\ud") ? JSON.stringify(withoutSpecials(row), (_key, value: unknown) => wellFormed(value)) : line;
    text += "\n";
  }
  return text;
}

/** `YYYY-MM-DD HH:MM:SS.mmm` in UTC. */
function timestampText(date: Date): string {
  return date.toISOString().slice(0, MILLISECONDS_END).replace("T", " ");
}

/** The same row, or a copy without what JSON cannot say. Most rows need no copy. */
function withoutSpecials(row: object): object {
  let copy: Record<string, unknown> | null = null;
  const values = row as Record<string, unknown>;
  for (const name in values) {
    const value = values[name];
    if (typeof value === "string") continue;
    const plain = plainValue(value);
    if (plain === value) continue;
    copy ??= { ...values };
    copy[name] = plain;
  }
  return copy ?? row;
}

function plainValue(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  // JSON would make null of them, and ClickHouse 0 of that.
  if (typeof value === "number" && !Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  return value instanceof Date ? timestampText(value) : value;
}

function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return replaceHalves(value);
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [replaceHalves(key), each]));
}

function replaceHalves(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");
}
