import type { ExportedError } from "../../schemas/api/errors.ts";

const COLUMNS = ["id", "message", "type", "occurrences", "sessions_affected", "first_seen", "last_seen"] as const satisfies (keyof ExportedError)[];

/** Errors as CSV with a header (RFC 4180). */
export function errorsAsCsv(errors: readonly ExportedError[]): string {
  const lines = errors.map((error) => COLUMNS.map((column) => csvCell(error[column])).join(","));
  return [COLUMNS.join(","), ...lines].map((line) => `${line}\r\n`).join("");
}

/** A spreadsheet runs what begins like this, the full-width forms too (OWASP, CSV injection). */
const DANGEROUS = /^[=+\-@\t\r\n＝＋－＠]/;

/**
 * One cell. Messages come from anybody's browser: one that a spreadsheet would run gets an apostrophe in front, which
 * makes it a text there.
 */
export function csvCell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = DANGEROUS.test(value) ? `'${value}` : value;
  return /[",\r\n\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
