import { Feed, type FeedOptions, type Item } from "feed";
import { html } from "../../../domain/mail/html.ts";
import type { PageRecord, PublicPage } from "../../../domain/status-pages/public-page.ts";
import type { PageAddresses } from "../documents/addresses.ts";
import { fillIn, pageMessages } from "../messages/all.ts";
import { makeStories } from "./feed-story.ts";
import { legalText } from "./legal-text.ts";
import { capitalWord, maintenanceAddress } from "../documents/words.ts";
import type { PageLanguage } from "../../../schemas/vocabulary.ts";

export type FeedKind = "rss" | "atom" | "json";

export const FEED_TYPES: Record<FeedKind, string> = {
  rss: "application/rss+xml; charset=utf-8",
  atom: "application/atom+xml; charset=utf-8",
  json: "application/feed+json; charset=utf-8",
};

/** Readers keep what they have seen; so many are enough for one that was away for long. */
const MOST_ENTRIES = 50;

interface Fed {
  page: PublicPage;
  record: PageRecord;
  /** With their origin. */
  addresses: PageAddresses;
  language: PageLanguage;
}

interface Entry {
  /** Stays the same whatever changes, so that readers update what they show. */
  id: string;
  title: string;
  link: string;
  createdAt: string;
  updatedAt: string;
  /** HTML. */
  story: string;
  /** `name` is for people, `term` for programs. */
  category: { name: string; term: string }[];
}

/** Incidents and maintenance of a page, changed last first: RSS 2.0, Atom 1.0 (RFC 4287) or JSON Feed 1.1. Pure. */
export function makeFeed(kind: FeedKind, fed: Fed): string {
  const entries = entriesOf(fed);
  if (kind === "json") return jsonFeed(fed, entries);
  return legalText(kind === "rss" ? rss(fed, entries) : atom(fed, entries));
}

function entriesOf({ record, page, addresses, language }: Fed): Entry[] {
  const stories = makeStories(language, page.timezone);
  const category = (term: Parameters<typeof capitalWord>[0]) => ({ name: capitalWord(term, language), term });
  const incidents = latest(record.incidents).map((incident) => ({
    id: urn(incident.id),
    title: incident.title,
    link: addresses.incident(incident.id),
    createdAt: incident.createdAt,
    updatedAt: incident.updatedAt,
    story: stories.ofIncident(incident),
    category: [category(incident.status), category(incident.severity)],
  }));
  const maintenance = latest(record.maintenance).map((window) => ({
    id: urn(window.id),
    title: window.title,
    link: maintenanceAddress(addresses, window.id),
    createdAt: window.createdAt,
    updatedAt: window.updatedAt,
    story: stories.ofMaintenance(window),
    category: [category(window.status), { name: pageMessages(language).maintenance, term: "maintenance" }],
  }));
  return latest([...incidents, ...maintenance]);
}

/** What changed last, first; of those that changed at once always in the same order. */
function latest<Changed extends { id: string; updatedAt: string }>(changed: readonly Changed[]): Changed[] {
  return changed.toSorted((one, other) => compare(other.updatedAt, one.updatedAt) || compare(other.id, one.id)).slice(0, MOST_ENTRIES);
}

function rss({ addresses, page, language }: Fed, entries: Entry[]): string {
  const feed = new Feed({ ...about(page, language, asText), link: addresses.home, feedLinks: { rss: addresses.rss } });
  for (const { story, ...entry } of entries) {
    feed.addItem({
      ...itemOf(entry),
      description: story,
      // The package would write a title as CDATA, which the title itself could end. Text in RSS is plain, so it must not be escaped as HTML either.
      extensions: [{ name: "title", objects: { _text: asText(entry.title) } }],
    });
  }
  return feed.rss2();
}

function atom({ addresses, page, language }: Fed, entries: Entry[]): string {
  const feed = new Feed({ ...about(page, language, asText), link: addresses.home, feedLinks: { atom: addresses.atom }, author: { name: asText(page.name) } });
  // The package marks titles as HTML.
  for (const { story, createdAt, ...entry } of entries) feed.addItem({ ...itemOf(entry), title: html`${entry.title}`.html, content: story, published: new Date(createdAt) });
  return feed.atom1().replace("<feed ", `<feed xml:lang="${language}" `);
}

/** The package writes version 1, which knows neither languages nor several authors. */
function jsonFeed({ addresses, page, language }: Fed, entries: Entry[]): string {
  const feed = new Feed({ ...about(page, language, (text) => text), link: addresses.home, feedLinks: { json: addresses.jsonFeed } });
  for (const { story, createdAt, ...entry } of entries) feed.addItem({ ...itemOf(entry), content: story, published: new Date(createdAt) });
  const first = JSON.parse(feed.json1()) as Record<string, unknown>;
  const whole = { ...first, version: "https://jsonfeed.org/version/1.1", language, authors: [{ name: page.name }] };
  return JSON.stringify(whole, (_key, value: unknown) => (typeof value === "string" ? legalText(value) : value));
}

function about(page: PublicPage, language: PageLanguage, written: (text: string) => string): FeedOptions {
  const messages = pageMessages(language);
  return {
    id: urn(page.id),
    title: written(fillIn(messages.title, { page: page.name })),
    description: written(page.tagline ?? fillIn(messages.feed_incidents, { page: page.name })),
    updated: new Date(page.updatedAt),
    language,
    generator: "Pharos",
  };
}

/** `date` is the last change in all three: what many RSS readers go by is `pubDate`, and an update that they do not show is worth nothing. */
function itemOf({ id, title, link, updatedAt, category }: Omit<Entry, "story" | "createdAt">): Item {
  return { id, title, link, date: new Date(updatedAt), category };
}

function urn(id: string): string {
  return `urn:uuid:${id}`;
}

/** Text for an XML element: the package takes `&amp;` in it for an ampersand that is escaped already. */
function asText(text: string): string {
  return text.replaceAll("&amp;", "&amp;amp;");
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
