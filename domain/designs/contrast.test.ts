import { expect, it } from "vitest";
import { contrastRatio, normalColor } from "./contrast.ts";

it.each([
  // The bounds by definition; the others as WebAIM's contrast checker tells them.
  { one: "#000000", other: "#ffffff", ratio: 21 },
  { one: "#2563eb", other: "#2563eb", ratio: 1 },
  { one: "#777777", other: "#ffffff", ratio: 4.48 },
  { one: "#767676", other: "#ffffff", ratio: 4.54 },
  { one: "#ff0000", other: "#ffffff", ratio: 4.0 },
  { one: "#0000ff", other: "#ffffff", ratio: 8.59 },
  { one: "#ffff00", other: "#ffffff", ratio: 1.07 },
])("$one on $other has a contrast of $ratio, either way round", ({ one, other, ratio }) => {
  expect(contrastRatio(one, other)).toBeCloseTo(ratio, 2);
  expect(contrastRatio(other, one)).toBeCloseTo(ratio, 2);
});

it.each([
  { text: "#2563EB", color: "#2563eb" },
  { text: "#aF0", color: "#aaff00" },
  { text: "2563eb", color: null },
  { text: "#2563e", color: null },
  { text: "#2563ebff", color: null },
  { text: "red", color: null },
  { text: "#fff;}", color: null },
  { text: "#fff\n", color: null },
  { text: "", color: null },
])("the color of $text is $color", ({ text, color }) => {
  expect(normalColor(text)).toBe(color);
});
