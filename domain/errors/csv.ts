import type { ExportedError } from "../../schemas/api/errors.ts";

const COLUMNS = ["id", "message", "type", "occurrences", "sessions_affected", "first_seen", "last_seen"] as const satisfies (keyof ExportedError)[];

/** Errors as CSV with a header (RFC 4180), page by page. */
export async function* errorsAsCsv(pages: AsyncIterable<readonly ExportedError[]>): AsyncIterable<string> {
  let before = `${COLUMNS.join(",")}\r\n`;
  for await (const page of pages) {
    yield before + page.map((error) => `${COLUMNS.map((column) => csvCell(error[column])).join(",")}\r\n`).join("");
    before = "";
  }
}

/** A spreadsheet runs what begins like this, the full-width forms too (OWASP, CSV injection). */
const DANGEROUS = /^[=+\-@\t\r\n＝＋－＠]/;

/**
 * Where semicolons part the cells, as in much of Europe, or somebody chose tabs, our quotes mean nothing: the text of a cell may then go on in
 * another one, behind quotes or blanks, and each of its lines in another row. The last part may be missing, so that nothing is ever tried twice.
 */
const LATER = /(?!^[\t\r])([;\t\r\n]["\s;]*)([=+\-@＝＋－＠]?)/g;

/**
 * One cell. Messages come from anybody's browser: what a spreadsheet would run gets an apostrophe in front, which
 * makes it a text there.
 */
export function csvCell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const later = value.replaceAll(LATER, (_, before: string, dangerous: string) => (dangerous ? `${before}'${dangerous}` : before));
  const text = DANGEROUS.test(value) ? `'${later}` : later;
  return /[",;\r\n\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
