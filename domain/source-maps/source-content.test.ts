import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { makeContent } from "./source-content.ts";

const of = (text: string) => makeContent(deflateRawSync(text));

test("a long line is cut between characters", () => {
  expect(of(`${"a".repeat(499)}😀 end`)!.around(1)!.line).toBe("a".repeat(499));
});

test("a character that no store takes is left out, and what cannot be inflated is no source", () => {
  expect(of("a\0b\nc")!.around(1)).toEqual({ pre: [], line: "ab", post: ["c"] });
  expect([makeContent(Buffer.from("not deflated")), makeContent(Buffer.alloc(0)), of("a")!.around(2)]).toEqual([null, null, null]);
});
