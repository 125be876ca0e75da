import { expect, it } from "vitest";
import { decideAsk } from "./decide-ask.ts";

const at = new Date("2026-01-31T12:00:00Z");
const ago = (minutes: number) => new Date(at.getTime() - minutes * 60_000);

it.each([
  { name: "the first", asked: { asks: 0, asksSince: at, lastAskedAt: at }, expected: { asks: 1, asksSince: at, lastAskedAt: at } },
  { name: "too soon", asked: { asks: 1, asksSince: ago(9), lastAskedAt: ago(9) }, expected: null },
  { name: "after ten minutes", asked: { asks: 1, asksSince: ago(10), lastAskedAt: ago(10) }, expected: { asks: 2, asksSince: ago(10), lastAskedAt: at } },
  { name: "the sixth of a day", asked: { asks: 5, asksSince: ago(1439), lastAskedAt: ago(60) }, expected: null },
  { name: "on the next day", asked: { asks: 5, asksSince: ago(1440), lastAskedAt: ago(60) }, expected: { asks: 1, asksSince: at, lastAskedAt: at } },
])("$name", ({ asked, expected }) => {
  expect(decideAsk(asked, at)).toEqual(expected);
});
