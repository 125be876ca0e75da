import { describe, expect, it } from "vitest";
import { PAGE_LANGUAGES } from "../../../schemas/vocabulary.ts";
import { fill, isRightToLeft, messagesOf } from "./all.ts";

const english = Object.entries(messagesOf("en"));
const placeholders = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();

describe.each(PAGE_LANGUAGES)("%s", (language) => {
  it("says everything that English does, with the same placeholders", () => {
    const messages = new Map(Object.entries(messagesOf(language)));
    expect([...messages.keys()]).toEqual(english.map(([name]) => name));
    for (const [name, text] of english) {
      expect(messages.get(name)?.trim(), name).not.toBe("");
      expect(placeholders(messages.get(name) ?? ""), name).toEqual(placeholders(text));
    }
  });
});

it.each(PAGE_LANGUAGES.filter((language) => language !== "en"))("%s says it in words of its own", (language) => {
  const same = Object.entries(messagesOf(language)).filter(([name, text]) => text === new Map(english).get(name));
  expect(same.map(([name]) => name)).toEqual([]);
});

it("an unknown language is English", () => {
  expect(messagesOf("tlh")).toBe(messagesOf("en"));
});

it("what is filled in is not read again", () => {
  expect(fill("{address} on {page}", { address: "{page}", page: "$&" })).toBe("{page} on $&");
});

it("knows which way a language is written", () => {
  expect(PAGE_LANGUAGES.filter(isRightToLeft)).toEqual(["ar", "he"]);
});
