import type { Look } from "../../../domain/status-pages/look.ts";
import type { Moment } from "../../../domain/status-pages/public-page.ts";
import { messagesOf, type Messages } from "../../../domain/subscribers/messages/all.ts";
import type { PageLanguage } from "../../../schemas/vocabulary.ts";
import type { PageAddresses } from "./addresses.ts";
import { formatsOf, type Formats } from "./formats.ts";
import { pageMessages } from "../messages/all.ts";
import type { PageMessages } from "../messages/en.ts";

/** What every part of a page is drawn with. */
export interface Drawing {
  look: Look;
  language: PageLanguage;
  /** What the page says by itself. */
  words: PageMessages;
  /** What mails say too: statuses and severities. */
  said: Messages;
  formats: Formats;
  timezone: string;
  /** On the page's own host. */
  addresses: PageAddresses;
  /** The same from everywhere. */
  absolute: PageAddresses;
  /** What a link to a private page carries, for forms; null for none. */
  access: string | null;
  /** Pharos' own start page. */
  startPage: string;
  /** Where mail addresses are sent to subscribe; null when nobody can. */
  subscribeAt: string | null;
  /** Languages that a visitor may choose from; none when the page has but one. */
  languages: readonly PageLanguage[];
  /** Whether the page shows a draft. */
  preview: boolean;
  /** Since when the page could not be read again; null while it can. */
  staleSince: Moment | null;
}

interface DrawingNeeds extends Omit<Drawing, "words" | "said" | "formats"> {}

/** Adds the words and formats of the language. */
export function makeDrawing(needs: DrawingNeeds): Drawing {
  return { ...needs, words: pageMessages(needs.language), said: messagesOf(needs.language), formats: formatsOf(needs.language, needs.timezone) };
}
