import { describe, expect, it } from "vitest";
import { isRightToLeft, messagesOf } from "../../../domain/subscribers/messages/all.ts";
import { PAGE_LANGUAGES, type PageLanguage } from "../../../schemas/vocabulary.ts";
import { fillIn, pageLanguage, pageMessages } from "./all.ts";
import { en } from "./en.ts";

const english = new Map(Object.entries(en));
const translations = PAGE_LANGUAGES.filter((language) => language !== "en");
const textsOf = (language: PageLanguage) => Object.entries(pageMessages(language));
const placeholdersOf = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();
/** The messages of a language of which something is true. */
const keysWhere = (language: PageLanguage, isSo: (text: string, key: string) => boolean) => textsOf(language).flatMap(([key, text]) => (isSo(text, key) ? [key] : []));

/** What is truly the same word there as in English. */
const SAME_AS_ENGLISH: Partial<Record<PageLanguage, readonly string[]>> = {
  da: ["badge_label"],
  fr: ["maintenance", "services"],
  it: ["password"],
  nb: ["badge_label"],
  nl: ["updates", "password_hint", "badge_label"],
  "pt-BR": ["badge_label"],
  sv: ["badge_label"],
};

/** One letter of a language's own; Latin ones where it is not named. */
const LETTERS: Partial<Record<PageLanguage, RegExp>> = {
  ar: /\p{Script=Arabic}/u,
  he: /\p{Script=Hebrew}/u,
  hi: /\p{Script=Devanagari}/u,
  ja: /[\p{Script=Han}\p{Script=Hiragana}\p{Script_Extensions=Katakana}]/u,
  ko: /\p{Script=Hangul}/u,
  "zh-CN": /\p{Script=Han}/u,
};

describe.each(PAGE_LANGUAGES)("%s", (language) => {
  it("says everything that English does, in its order", () => {
    expect(textsOf(language).map(([key]) => key)).toEqual([...english.keys()]);
    expect(keysWhere(language, (text) => text === "" || text !== text.trim() || text.includes("  "))).toEqual([]);
  });

  it("has English's placeholders", () => {
    const names = textsOf(language).map(([key, text]) => [key, placeholdersOf(text)]);
    expect(names).toEqual([...english].map(([key, text]) => [key, placeholdersOf(text)]));
    expect(keysWhere(language, (text) => /[{}]/.test(text.replaceAll(/\{\w+\}/g, "")))).toEqual([]);
  });

  it("ends a sentence where English does, and no label like one", () => {
    expect(keysWhere(language, (text, key) => /[.。।]$/.test(text) !== english.get(key)?.endsWith("."))).toEqual([]);
  });

  it("has no typewriter's quotes or dots", () => {
    expect(keysWhere(language, (text) => /["'`´]|\.\.\.| - /.test(text))).toEqual([]);
  });

  it("is written in its own letters, without look-alikes of another script", () => {
    const own = LETTERS[language] ?? /\p{Script=Latin}/u;
    const lettersOf = (text: string) => text.replaceAll(/\{\w+\}/g, "").match(/\p{L}/gu) ?? [];
    expect(keysWhere(language, (text) => lettersOf(text).length === 0 || !lettersOf(text).every((letter) => own.test(letter)))).toEqual([]);
  });

  it("is composed: one code point for a letter with its mark where there is one", () => {
    expect(keysWhere(language, (text) => text !== text.normalize("NFC"))).toEqual([]);
  });

  it("leads back in the words of the subscribers' pages", () => {
    expect(pageMessages(language).back).toBe(messagesOf(language).back);
  });

  it("is a language whose times and numbers can be formatted", () => {
    expect(Intl.DateTimeFormat.supportedLocalesOf(language)).toEqual([language]);
    expect(Intl.NumberFormat.supportedLocalesOf(language)).toEqual([language]);
  });
});

it.each(translations)("%s says it in words of its own", (language) => {
  expect(keysWhere(language, (text, key) => text === english.get(key))).toEqual(SAME_AS_ENGLISH[language] ?? []);
});

it.each(translations)("%s tells apart what a visitor must tell apart", (language) => {
  const { operational, maintenance, degraded, partial_outage, major_outage, open_incidents, past, older, newer } = pageMessages(language);
  for (const words of [[operational, maintenance, degraded, partial_outage, major_outage], [open_incidents, past], [older, newer]]) expect(new Set(words).size).toBe(words.length);
});

it.each(PAGE_LANGUAGES.filter(isRightToLeft))("%s, read from right to left, begins no message with a name, which could be Latin", (language) => {
  expect(keysWhere(language, (text) => text.startsWith("{"))).toEqual([]);
});

it.each([
  ["pt-BR", "pt-BR"],
  ["he", "he"],
  ["tlh", "en"],
  ["toString", "en"],
  ["", "en"],
])("a page's stored language %o is shown in %s", (stored, shown) => {
  expect(pageLanguage(stored)).toBe(shown);
});

describe("filling in", () => {
  it.each([
    ["a value everywhere its name stands", "{page}, {page}", { page: "Acme" }, "Acme, Acme"],
    ["no value without a name", "No incident is open.", { page: "Acme" }, "No incident is open."],
    ["no name without a value", "{service}: {percent}", { percent: "99.98%" }, "{service}: 99.98%"],
    ["an empty value", "Hint: {hint}", { hint: "" }, "Hint: "],
    ["what looks like a placeholder in a value as it is", "{service} {percent}", { service: "{percent}", percent: "99%" }, "{percent} 99%"],
    ["what a replacement pattern would be as it is", "{page} status", { page: "$& $1 $$" }, "$& $1 $$ status"],
  ])("%s", (_what, message, values: Record<string, string>, filled) => {
    expect(fillIn(message, values)).toBe(filled);
  });
});
