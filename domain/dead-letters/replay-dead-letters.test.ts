import { expect, test } from "vitest";
import { refusedReplay } from "./replay-dead-letters.ts";

test.each([
  ["open", false, null],
  ["open", true, null],
  ["replayed", false, "replayed before"],
  ["replayed", true, null],
  ["discarded", false, "discarded before"],
  ["discarded", true, null],
  ["rows_stand", false, "rows stand"],
  ["rows_stand", true, "rows stand"],
] as const)("a letter that is %s (again: %s) is refused as %s", (state, again, refused) => {
  expect(refusedReplay(state, again)).toBe(refused);
});
