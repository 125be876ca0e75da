import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AA_CONTRAST, contrastRatio } from "../../../domain/designs/contrast.ts";
import { PAGE_LANGUAGES, SERVICE_STATUSES } from "../../../schemas/vocabulary.ts";
import { browserAvailable, startBrowser } from "../../../testing/browser.ts";
import { pageMessages } from "../messages/all.ts";
import { BADGE_COLORS, LABEL_COLOR, makeBadge, UNKNOWN_COLOR } from "./badge.ts";
import { textWidth } from "./text-width.ts";

it.each<[string, string]>([...SERVICE_STATUSES.map((status): [string, string] => [status, BADGE_COLORS[status]]), ["no status", UNKNOWN_COLOR], ["the label", LABEL_COLOR]])("white text can be read on %s", (_of, color) => {
  expect(contrastRatio("#ffffff", color)).toBeGreaterThanOrEqual(AA_CONTRAST);
});

it.each(SERVICE_STATUSES)("%s has its own color", (status) => {
  const badge = makeBadge({ label: "status", text: "what it is", status });
  expect([...badge.matchAll(/fill="(#\w+)"/g)].map(([, color]) => color)).toEqual([LABEL_COLOR, BADGE_COLORS[status], "#ffffff"]);
});

it("a page without services has none of them", () => {
  expect(makeBadge({ label: "status", text: "None", status: null })).toContain(`fill="${UNKNOWN_COLOR}"`);
});

it("loads nothing, runs nothing and has no id that could clash", () => {
  expect(makeBadge({ label: "status", text: "Operational", status: "operational" })).not.toMatch(/href|url\(|@import|<style|<script|\bid=/);
});

describe("the width of a text", () => {
  it.each<[string, string, string]>([
    ["narrow letters are less than others", "illicit", "amazing"],
    ["a capital is more than its small letter", "status", "STATUS"],
    ["a CJK character is more than a letter", "status", "運用状況正常"],
    ["a joined letter is less than one that stands alone", "الحالة", "nouvea"],
    ["a flag is less than two emoji", "🇩🇪", "🔥🔥"],
    ["a family is less than its members", "👩‍👩‍👧", "👩👩👧"],
  ])("%s", (_what, less, more) => expect(textWidth(less, 11)).toBeLessThan(textWidth(more, 11)));

  it("an accent adds nothing", () => {
    expect(textWidth("re\u0301sume\u0301", 11)).toBe(textWidth("resume", 11));
  });

  it("is about what Verdana takes", () => {
    // The sums of its advance widths.
    expect(Math.abs(textWidth("Operational", 11) - 64)).toBeLessThan(5);
    expect(Math.abs(textWidth("status", 11) - 34)).toBeLessThan(4);
  });
});

describe.runIf(browserAvailable())("drawn by a browser", () => {
  let browser: Browser;
  let tab: Page;
  beforeAll(async () => {
    browser = await startBrowser();
    tab = await browser.newPage();
  });
  afterAll(() => browser.close());

  /** What a document made of the badge alone is; how far its texts are from leaving their halves, in pixels. */
  const drawn = (badge: string) =>
    tab.evaluate((badge) => {
      const parsed = new DOMParser().parseFromString(badge, "image/svg+xml");
      const svg = parsed.documentElement;
      document.body.replaceChildren(document.importNode(svg, true));
      const [left, right] = [...document.querySelectorAll("path")].map((path) => path.getBBox());
      const texts = [...document.querySelectorAll("text")];
      const [label, status] = texts.map((text) => text.getBBox());
      const room = (box: DOMRect, text: DOMRect) => Math.min(text.x - box.x, box.x + box.width - text.x - text.width);
      return {
        wellFormed: parsed.querySelector("parsererror") === null,
        elements: [...parsed.querySelectorAll("*")].map(({ nodeName }) => nodeName).join(" "),
        role: svg.getAttribute("role"),
        name: svg.getAttribute("aria-label"),
        title: parsed.querySelector("title")?.textContent,
        texts: texts.map((text) => text.textContent),
        rooms: [room(left!, label!), room(right!, status!)],
      };
    }, badge);

  it.each(PAGE_LANGUAGES)("its texts fit in %s", async (language) => {
    const messages = pageMessages(language);
    for (const status of SERVICE_STATUSES) {
      const { wellFormed, texts, rooms } = await drawn(makeBadge({ label: messages.badge_label, text: messages[status], status }));
      expect({ wellFormed, texts }).toEqual({ wellFormed: true, texts: [messages.badge_label, messages[status]] });
      for (const room of rooms) expect(room).toBeGreaterThan(2);
    }
  });

  it.each([["Iiiiiiiiiiil.", "WWWWWWWWWMMM"], ["運用状況", "一部の機能が停止しています"], ["स्थिति", "आंशिक रूप से बंद"], ["الحالة", "انقطاع جزئي"], ["🔥", "👩‍👩‍👧 🇩🇪"]])("%s and %s fit", async (label, text) => {
    const { rooms } = await drawn(makeBadge({ label, text, status: "degraded" }));
    for (const room of rooms) expect(room).toBeGreaterThan(2);
  });

  it("shows text as text, whatever it says", async () => {
    const nasty = `"><script>alert(1)</script>]]>&amp;\u0000\u0008\uFFFE\uD800<!--`;
    const legal = `"><script>alert(1)</script>]]>&amp;<!--`;
    const found = await drawn(makeBadge({ label: nasty, text: nasty, status: "major_outage" }));
    expect(found).toMatchObject({ wellFormed: true, elements: "svg title path path g text text", role: "img", name: `${legal}: ${legal}`, title: `${legal}: ${legal}`, texts: [legal, legal] });
  });
});
