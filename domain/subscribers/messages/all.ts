import { ar } from "./ar.ts";
import { cs } from "./cs.ts";
import { da } from "./da.ts";
import { de } from "./de.ts";
import { en } from "./en.ts";
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
import { PAGE_LANGUAGES } from "../../../schemas/vocabulary.ts";

/**
 * What Pharos itself says to subscribers, in one language: the words of an incident and of a maintenance, of mails, of the form and of the
 * pages that links lead to. `{page}` and `{address}` stand for their names. Each language is a file; the compiler wants all of them whole.
 */
export interface Messages {
  investigating: string;
  identified: string;
  monitoring: string;
  resolved: string;
  minor: string;
  major: string;
  critical: string;
  scheduled: string;
  reminder: string;
  started: string;
  completed: string;
  severity: string;
  affected: string;
  time: string;
  viewPage: string;
  why: string;
  leave: string;
  confirmSubject: string;
  confirmText: string;
  confirmButton: string;
  confirmIgnore: string;
  confirmFrom: string;
  subscribe: string;
  email: string;
  services: string;
  allServices: string;
  subscribeButton: string;
  sent: string;
  sentText: string;
  confirmAsk: string;
  confirmed: string;
  leaveAsk: string;
  leaveButton: string;
  left: string;
  saveButton: string;
  saved: string;
  invalidLink: string;
  back: string;
  failed: string;
}

const MESSAGES: Record<(typeof PAGE_LANGUAGES)[number], Messages> = {
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

/** The messages of a page's language; English for one that is not shipped any more. */
export function messagesOf(language: string): Messages {
  return MESSAGES[PAGE_LANGUAGES.find((each) => each === language) ?? "en"];
}

/** A message with its placeholders filled. */
export function fill(message: string, values: { page?: string; address?: string }): string {
  return message.replaceAll(/\{(page|address)\}/g, (_placeholder, name: "page" | "address") => values[name] ?? "");
}

/** Whether the language is written from right to left. */
export function isRightToLeft(language: string): boolean {
  return /^(?:ar|he)\b/.test(language);
}
