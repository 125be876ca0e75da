import { describe, expect, test } from "vitest";
import { compareVersions } from "./compare-versions.ts";

describe("compareVersions", () => {
  const ordered = ["0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "v1.2.0", "1.10.0", "2.0.0"];

  test("puts versions in the order of Semantic Versioning", () => {
    for (const [at, version] of ordered.entries()) {
      for (const [other, compared] of ordered.entries()) expect(Math.sign(compareVersions(version, compared)!), `${version} against ${compared}`).toBe(Math.sign(at - other));
    }
  });

  test.each([
    ["1.0.0+a", "1.0.0+b", 0],
    ["v1.0.0", "1.0.0", 0],
    ["1.0", "1.0.0", null],
    ["9fceb02", "1.0.0", null],
    ["1.0.0", "", null],
    ["01.0.0", "1.0.0", null],
  ])("%s against %s is %s", (a, b, expected) => {
    expect(compareVersions(a, b)).toBe(expected);
  });
});
