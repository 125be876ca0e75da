import { expect, it } from "vitest";
import { makeRecent } from "./recent.ts";

it("keeps what is asked for again through a flood of new texts", () => {
  const recent = makeRecent<{ of: string }>({ entries: 4, characters: 1_000 });
  recent.set("usual", { of: "usual" });
  for (let number = 0; number < 100; number++) {
    recent.set(`new ${number}`, { of: `new ${number}` });
    expect(recent.get("usual")).toEqual({ of: "usual" });
  }
  expect(recent.get("new 0")).toBeUndefined();
  expect(recent.get("new 99")).toEqual({ of: "new 99" });
});

it("holds no more characters than twice what it may", () => {
  const recent = makeRecent<{ of: number }>({ entries: 100, characters: 10 });
  const texts = ["aaaaaa", "bbbbbb", "cccccc"];
  for (const text of texts) recent.set(text, { of: text.length });
  expect(texts.map((text) => recent.get(text) !== undefined)).toEqual([false, true, true]);
});
