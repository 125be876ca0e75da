import { array, constantFrom, sample } from "fast-check";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PageRecord, PublicPage } from "../../../domain/status-pages/public-page.ts";
import { PAGE_LANGUAGES } from "../../../schemas/vocabulary.ts";
import { browserAvailable, startBrowser } from "../../../testing/browser.ts";
import { sampleId, sampleIncident, sampleMaintenance, samplePage, sampleRecord } from "../../../testing/sample-page.ts";
import { pageAddresses } from "../documents/addresses.ts";
import { makeFeed, type FeedKind } from "./feed.ts";
import type { PageLanguage } from "../../../schemas/vocabulary.ts";

const addresses = pageAddresses({ origin: "https://status.example.com", base: "", access: null });

function feedOf(kind: FeedKind, record: Partial<PageRecord>, page: Partial<PublicPage> = {}, language: PageLanguage = "en") {
  return makeFeed(kind, { page: samplePage(page), record: sampleRecord(record), addresses, language });
}

interface JsonFeed {
  items: { id: string; title: string; url: string; content_html: string; date_modified: string; date_published: string; tags: string[] }[];
  [name: string]: unknown;
}
const json = (record: Partial<PageRecord>, page?: Partial<PublicPage>, language?: PageLanguage) => JSON.parse(feedOf("json", record, page, language)) as JsonFeed;

const at = (hour: number) => `2026-05-04T${String(hour).padStart(2, "0")}:00:00.000Z`;

describe("the entries of a feed", () => {
  it("are incidents and maintenance together, changed last first", () => {
    const incidents = [9, 12].map((hour) => sampleIncident({ id: sampleId(hour), title: `Incident of ${hour}`, updatedAt: at(hour) }));
    const maintenance = [10, 11].map((hour) => sampleMaintenance({ id: sampleId(hour), title: `Maintenance of ${hour}`, updatedAt: at(hour) }));
    expect(json({ incidents, maintenance }).items.map(({ title }) => title)).toEqual(["Incident of 12", "Maintenance of 11", "Maintenance of 10", "Incident of 9"]);
  });

  it("are 50 at most", () => {
    const incidents = Array.from({ length: 60 }, (_, n) => sampleIncident({ id: sampleId(n), updatedAt: new Date(Date.UTC(2026, 0, 1 + n)).toISOString() }));
    const { items } = json({ incidents });
    expect([items.length, items[0]!.id, items[49]!.id]).toEqual([50, `urn:uuid:${sampleId(59)}`, `urn:uuid:${sampleId(10)}`]);
  });

  it("keep their id and link when an update is added, and carry its time", () => {
    const before = sampleIncident();
    const after = { ...before, status: "identified" as const, updatedAt: at(11), updates: [{ id: sampleId(30), status: "identified" as const, message: "A cable is cut.", createdAt: at(11) }] };
    const [one, other] = [json({ incidents: [before] }).items[0]!, json({ incidents: [after] }).items[0]!];
    expect([other.id, other.url, other.title, other.date_published]).toEqual([one.id, one.url, one.title, one.date_published]);
    expect([one.date_modified, other.date_modified]).toEqual([at(9), at(11)]);
  });

  it("tell what is known, updates newest first, in the page's zone", () => {
    const services = ["Website", "Shop"].map((name, n) => ({ id: sampleId(n), name }));
    const updates = [{ id: sampleId(31), status: "monitoring" as const, message: "A new cable.\nIt holds.", createdAt: at(11) }, { id: sampleId(30), status: "identified" as const, message: "A cable is cut.", createdAt: at(10) }];
    const incident = sampleIncident({ status: "monitoring", services, updates });
    const [entry] = json({ incidents: [incident] }, { timezone: "Asia/Tokyo" }, "de").items;
    expect(entry).toMatchObject({ url: `https://status.example.com/incidents/${incident.id}`, tags: ["Wird beobachtet", "Schwer"] });
    expect(entry!.content_html).toMatch(/Wird beobachtet<\/b> · Schwer · .*18:00.*Website, Shop.*11:00:00.000Z">.*20:00.*A new cable\.<br>It holds\..*Ursache gefunden.*A cable is cut\./s);
  });

  it("say from when to when something was or will be", () => {
    const { items } = json({ incidents: [sampleIncident({ status: "resolved", resolvedAt: at(12) })], maintenance: [sampleMaintenance({ description: "New disks." })] }, { timezone: "UTC" });
    expect(items[0]!.content_html).toMatch(/^<p dir="auto"><b>Resolved<\/b> · Major · .*9:00.*12:00.*UTC<\/p>$/);
    expect(items[1]!.content_html).toMatch(/^<p dir="auto"><b>Scheduled<\/b> · .*8:00.*10:00.*UTC<\/p><p dir="auto">New disks\.<\/p>$/);
  });

  it.each([["scheduled", "Scheduled"], ["in_progress", "In progress"], ["completed", "Completed"], ["cancelled", "Cancelled"]] as const)("call maintenance that is %s %s", (status, word) => {
    expect(json({ maintenance: [sampleMaintenance({ status })] }).items[0]!.tags).toEqual([word, "Maintenance"]);
  });
});

it("a JSON Feed is of version 1.1 and says where it stands and what it is", () => {
  const { items, ...head } = json({}, { tagline: "All of Acme" }, "pt-BR");
  expect(items).toEqual([]);
  expect(head).toMatchObject({ version: "https://jsonfeed.org/version/1.1", home_page_url: "https://status.example.com/", feed_url: "https://status.example.com/feed.json", description: "All of Acme", language: "pt-BR", authors: [{ name: "Acme" }] });
});

it("a JSON Feed holds no more than an XML one could", () => {
  const nasty = "a\u0000\u001Bb\uD83Dc<i>";
  const feed = json({ incidents: [sampleIncident({ title: nasty, services: [{ id: sampleId(1), name: nasty }] })] }, { name: nasty, tagline: nasty });
  expect(feed).toMatchObject({ title: "abc<i> status", description: "abc<i>", authors: [{ name: "abc<i>" }], items: [{ title: "abc<i>" }] });
  expect(feed.items[0]!.content_html).toContain("Affects abc&lt;i&gt;<");
});

it("is the same text when nothing changed, in whatever order it was read", () => {
  const incidents = [1, 2, 3].map((n) => sampleIncident({ id: sampleId(n) }));
  for (const kind of ["rss", "atom", "json"] as const) expect(feedOf(kind, { incidents: incidents.toReversed() })).toBe(feedOf(kind, { incidents }));
});

/** What people could write, and what of it is shown. */
const HOSTILE: readonly (readonly [string, string])[] = [
  ["]]>", "]]>"],
  ["]]><a>]]></a>", "]]><a>]]></a>"],
  ["]]", "]]"],
  ["<script>alert(1)</script>", "<script>alert(1)</script>"],
  ["<![CDATA[", "<![CDATA["],
  ["&amp;", "&amp;"],
  ["&#x3c;b&#x3e;", "&#x3c;b&#x3e;"],
  ["&", "&"],
  [`"'`, `"'`],
  ["-->", "-->"],
  ["\u0000\u0001\u0008\u000B\u001F", ""],
  ["\uFFFE\uFFFF", ""],
  ["\uD83D", ""],
  ["\uDE00", ""],
  ["😀", "😀"],
  ["\u202Eabc\u202C", "\u202Eabc\u202C"],
  ["تعطل", "تعطل"],
  ["$&", "$&"],
  ["{page}", "{page}"],
  ["word", "word"],
];

describe.runIf(browserAvailable())("read by an XML parser", () => {
  let browser: Browser;
  let tab: Page;
  beforeAll(async () => {
    browser = await startBrowser();
    tab = await browser.newPage();
  });
  afterAll(() => browser.close());

  /** A feed as a reader understands it: its titles as text, its stories as HTML. */
  const read = (xml: string) =>
    tab.evaluate((xml) => {
      const parsed = new DOMParser().parseFromString(xml, "application/xml");
      const asHtml = (text: string) => new DOMParser().parseFromString(`<div>${text}</div>`, "text/html").body;
      const atom = parsed.documentElement.localName === "feed";
      const text = (of: Element | Document, name: string) => of.querySelector(`:scope > ${name}`)?.textContent ?? null;
      const title = (of: Element) => (of.querySelector(":scope > title")?.getAttribute("type") === "html" ? asHtml(text(of, "title") ?? "").textContent : text(of, "title"));
      const head = atom ? parsed.documentElement : parsed.querySelector("channel");
      const self = [...parsed.getElementsByTagNameNS("http://www.w3.org/2005/Atom", "link")].find((link) => link.getAttribute("rel") === "self");
      return {
        error: parsed.querySelector("parsererror")?.textContent ?? null,
        namespace: parsed.documentElement.namespaceURI,
        language: atom ? parsed.documentElement.getAttribute("xml:lang") : head && text(head, "language"),
        title: head && title(head),
        about: head && text(head, atom ? "subtitle" : "description"),
        id: head && text(head, "id"),
        author: parsed.querySelector("author > name")?.textContent ?? null,
        updated: head && text(head, atom ? "updated" : "lastBuildDate"),
        self: self?.getAttribute("href"),
        entries: [...parsed.querySelectorAll(atom ? "entry" : "item")].map((entry) => {
          const story = asHtml(text(entry, atom ? "content" : "description") ?? "");
          return {
            id: text(entry, atom ? "id" : "guid"),
            permanent: entry.querySelector("guid")?.getAttribute("isPermaLink") ?? null,
            title: title(entry),
            link: atom ? entry.querySelector(":scope > link")?.getAttribute("href") : text(entry, "link"),
            updated: text(entry, atom ? "updated" : "pubDate"),
            published: text(entry, "published"),
            categories: [...entry.querySelectorAll("category")].map((category) => (atom ? category.getAttribute("label") : category.textContent)),
            story: story.textContent,
            elements: [...new Set([...story.querySelectorAll("*")].map((element) => element.localName))].sort().join(" "),
          };
        }),
      };
    }, xml);

  const incident = sampleIncident({ services: [{ id: sampleId(1), name: "Website" }], updatedAt: at(11), updates: [{ id: sampleId(30), status: "identified", message: "A cable\r\nis cut.", createdAt: at(11) }] });

  it("an RSS feed says all of it", async () => {
    expect(await read(feedOf("rss", { incidents: [incident] }, { timezone: "UTC" }))).toMatchObject({
      error: null,
      namespace: null,
      language: "en",
      title: "Acme status",
      about: "Incidents and maintenance of Acme",
      updated: "Mon, 04 May 2026 10:00:00 GMT",
      self: "https://status.example.com/feed.rss",
      entries: [{ id: `urn:uuid:${incident.id}`, permanent: "false", title: "Payments fail", link: `https://status.example.com/incidents/${incident.id}`, updated: "Mon, 04 May 2026 11:00:00 GMT", categories: ["Investigating", "Major"], elements: "b br div p time" }],
    });
  });

  it("an Atom feed says all of it", async () => {
    expect(await read(feedOf("atom", { incidents: [incident] }, {}, "fr"))).toMatchObject({
      error: null,
      namespace: "http://www.w3.org/2005/Atom",
      language: "fr",
      id: `urn:uuid:${sampleId(100)}`,
      author: "Acme",
      updated: "2026-05-04T10:00:00.000Z",
      self: "https://status.example.com/feed.atom",
      entries: [{ id: `urn:uuid:${incident.id}`, title: "Payments fail", link: `https://status.example.com/incidents/${incident.id}`, updated: at(11), published: at(9), elements: "b br div p time" }],
    });
  });

  it.each(["rss", "atom"] as const)("%s shows hostile text as text", async (kind) => {
    const drawn = sample(array(constantFrom(...HOSTILE), { minLength: 1, maxLength: 6 }), { seed: 7, numRuns: 50 - HOSTILE.length });
    const texts = [...HOSTILE.map((piece) => [piece]), ...drawn].map((pieces) => ({ given: pieces.map(([given]) => given).join("_"), shown: pieces.map(([, shown]) => shown).join("_") }));
    const incidents = texts.map(({ given }, n) => sampleIncident({ id: sampleId(n), title: given, services: [{ id: sampleId(1), name: given }], updates: [{ id: sampleId(900 + n), status: "identified", message: given, createdAt: at(9) }] }));
    const everything = texts.map(({ given }) => given).join("_");
    const { error, title, about, entries } = await read(feedOf(kind, { incidents }, { name: everything, tagline: everything }));
    const shown = texts.map(({ shown }) => shown).join("_");
    expect({ error, title, about }).toEqual({ error: null, title: `${shown} status`, about: shown });
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    for (const [n, { shown }] of texts.entries()) {
      const entry = byId.get(`urn:uuid:${sampleId(n)}`);
      expect(entry).toMatchObject({ title: shown, elements: "b br div p time" });
      expect(entry!.story).toContain(`Affects ${shown}`);
      expect(entry!.story.endsWith(shown)).toBe(true);
    }
  });

  it.each(PAGE_LANGUAGES)("is one in %s", async (language) => {
    const record = { incidents: [incident], maintenance: [sampleMaintenance()] };
    for (const kind of ["rss", "atom"] as const) expect(await read(feedOf(kind, record, {}, language))).toMatchObject({ error: null, language, entries: [{}, {}] });
  });
});
