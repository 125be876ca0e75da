import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contrastRatio } from "./contrast.ts";
import { inkOn, readableOn } from "./readable-color.ts";

describe("a brand's color as text", () => {
  it.each([
    { color: "#2563eb", ground: "#fafafa", ratio: 4.5, becomes: "#2563eb" },
    { color: "#ffffff", ground: "#ffffff", ratio: 4.5, becomes: "#707070" },
    { color: "#000000", ground: "#000000", ratio: 7, becomes: "#979797" },
  ])("$color on $ground at $ratio:1 becomes $becomes", ({ color, ground, ratio, becomes }) => {
    expect(readableOn(color, ground, ratio)).toBe(becomes);
  });

  const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, "0")}`);

  it("can be read on any ground of the themes, at the contrast of each", () => {
    fc.assert(
      fc.property(color, fc.constantFrom("#fafafa", "#ffffff", "#1a1d20", "#000000"), fc.constantFrom(4.5, 7), (brand, ground, ratio) => {
        expect(contrastRatio(readableOn(brand, ground, ratio), ground)).toBeGreaterThanOrEqual(ratio);
      }),
    );
  });

  it("and what is written on it can be read too", () => {
    fc.assert(fc.property(color, (brand) => contrastRatio(inkOn(brand), brand) >= 4.5));
  });
});
