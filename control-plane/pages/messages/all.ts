import { PAGE_LANGUAGES, type PageLanguage } from "../../../schemas/vocabulary.ts";
import { ar } from "./ar.ts";
import { cs } from "./cs.ts";
import { da } from "./da.ts";
import { de } from "./de.ts";
import { en, type PageMessages } from "./en.ts";
import { es } from "./es.ts";
import { fi } from "./fi.ts";
import { fr } from "./fr.ts";
import { he } from "./he.ts";
import { hi } from "./hi.ts";
import { it } from "./it.ts";
import { ja } from "./ja.ts";
import { ko } from "./ko.ts";
import { nb } from "./nb.ts";
import { nl } from "./nl.ts";
import { pl } from "./pl.ts";
import { ptBr } from "./pt-BR.ts";
import { sv } from "./sv.ts";
import { tr } from "./tr.ts";
import { zhCn } from "./zh-CN.ts";

const MESSAGES: Record<PageLanguage, PageMessages> = {
  ar,
  cs,
  da,
  de,
  en,
  es,
  fi,
  fr,
  he,
  hi,
  it,
  ja,
  ko,
  nb,
  nl,
  pl,
  "pt-BR": ptBr,
  sv,
  tr,
  "zh-CN": zhCn,
};

/** The words of a language. */
export function pageMessages(language: PageLanguage): PageMessages {
  return MESSAGES[language];
}

/** The shipped language of a page's stored one; English for one that is not shipped any more. */
export function pageLanguage(stored: string): PageLanguage {
  return PAGE_LANGUAGES.find((each) => each === stored) ?? "en";
}

/** A message with its placeholders filled; a name that has no value stays as it is. What is filled in is not read again. */
export function fillIn(message: string, values: Readonly<Record<string, string>>): string {
  return message.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}
