import { Readable } from "node:stream";
import { describe, expect, it, test } from "vitest";
import type { ExportedError } from "../../schemas/api/errors.ts";
import { csvCell, errorsAsCsv } from "./csv.ts";

describe("csvCell", () => {
  test.each([
    ["plain", "plain"],
    ["a,b", '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ["two\nlines", '"two\nlines"'],
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\t=1", '"\'\t=1"'],
    ["\r=1", '"\'\r=1"'],
    ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
    ["＝1+1", "'＝1+1"],
    ["a=b", "a=b"],
    // In a spreadsheet that parts cells by semicolons or tabs, or takes each line for a row.
    ["a;=1+1", "\"a;'=1+1\""],
    ['a;"=1+1', "\"a;\"\"'=1+1\""],
    ["a;; @SUM(A1)", "\"a;; '@SUM(A1)\""],
    ["a\n=1+1", "\"a\n'=1+1\""],
    ["a\t-1", "\"a\t'-1\""],
    ["a; b", '"a; b"'],
    ["", ""],
    [-1, "-1"],
  ])("%j → %j", (value, expected) => {
    expect(csvCell(value)).toBe(expected);
  });
});

it("reads a message that is all separators once", () => {
  const begun = performance.now();
  csvCell(";".repeat(1_000_000));
  expect(performance.now() - begun).toBeLessThan(1_000);
});

async function csvOf(...pages: ExportedError[][]): Promise<string> {
  let text = "";
  for await (const chunk of errorsAsCsv(Readable.from(pages))) text += chunk;
  return text;
}

describe("errorsAsCsv", () => {
  it("has a header even without errors, and ends each line as RFC 4180 says", async () => {
    expect(await csvOf([])).toBe("id,message,type,occurrences,sessions_affected,first_seen,last_seen\r\n");
    const error = { id: "1", message: "x is broken", type: "TypeError", occurrences: 3, sessions_affected: 2, first_seen: "2026-01-31T12:00:00.000Z", last_seen: "2026-01-31T13:00:00.000Z" };
    const line = "1,x is broken,TypeError,3,2,2026-01-31T12:00:00.000Z,2026-01-31T13:00:00.000Z";
    expect((await csvOf([error], [error])).split("\r\n").slice(1)).toEqual([line, line, ""]);
  });
});
