import { PAGE_LANGUAGES } from "../../../schemas/vocabulary.ts";
import { en, type PageMessages } from "./en.ts";

export type PageLanguage = (typeof PAGE_LANGUAGES)[number];

const MESSAGES: Partial<Record<PageLanguage, PageMessages>> = { en };

/** The words of a language. */
export function pageMessages(language: PageLanguage): PageMessages {
  return MESSAGES[language] ?? en;
}

/** The shipped language of a page's stored one; English for one that is not shipped any more. */
export function pageLanguage(stored: string): PageLanguage {
  return PAGE_LANGUAGES.find((each) => each === stored) ?? "en";
}

/** A message with its placeholders filled; a name that has no value stays as it is. What is filled in is not read again. */
export function fillIn(message: string, values: Readonly<Record<string, string>>): string {
  return message.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}
