import { expect, it } from "vitest";
import { remember } from "./remember.ts";

it("does its work once for each of the latest texts, whatever comes of it", () => {
  const asked: string[] = [];
  const isLong = remember((text) => {
    asked.push(text);
    return text.length > 3;
  }, 2);
  expect(["abcd", "ab", "abcd", "ab"].map(isLong)).toEqual([true, false, true, false]);
  expect(asked).toEqual(["abcd", "ab"]);
  isLong("abc");
  isLong("abcd");
  expect(asked).toEqual(["abcd", "ab", "abc", "abcd"]);
});
