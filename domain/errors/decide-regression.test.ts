import { describe, expect, test } from "vitest";
import { comesAfter, regressingRelease } from "./decide-regression.ts";

const seen = new Map([["abc", 1], ["def", 2], ["1.0.0", 5], ["2.0.0", 4]]);

describe("comesAfter", () => {
  test.each([
    ["1.0.1", "1.0.0", true],
    ["1.0.0", "1.0.0", false],
    ["1.0.0", "2.0.0", false],
    ["1.10.0", "1.9.0", true],
    ["def", "abc", true],
    ["abc", "def", false],
    ["abc", "abc", false],
    ["1.0.0", "abc", true],
    ["abc", "1.0.0", false],
    ["unseen", "abc", false],
    ["abc", "unseen", false],
    ["", "1.0.0", false],
  ])("%j after %j is %s", (release, other, expected) => {
    expect(comesAfter(release, other, seen)).toBe(expected);
  });
});

describe("regressingRelease", () => {
  const resolved = { resolvedAt: "2026-01-31T12:00:00.000Z", resolvedIn: "1.0.0" };
  const at = (minute: string) => `2026-01-31T12:${minute}:00.000Z`;

  test.each([
    ["an event in a later release, after the resolution", [["1.1.0", at("01")]], "1.1.0"],
    ["one in a later release, before the resolution", [["1.1.0", "2026-01-31T11:59:00.000Z"]], null],
    ["one at the very moment", [["1.1.0", resolved.resolvedAt]], null],
    ["one in that release", [["1.0.0", at("01")]], null],
    ["one of several", [["", at("01")], ["0.9.0", at("02")], ["2.0.0", at("03")]], "2.0.0"],
  ] as [string, [string, string][], string | null][])("%s", (_, events, expected) => {
    expect(regressingRelease(new Map(events), resolved, seen)).toBe(expected);
  });
});
