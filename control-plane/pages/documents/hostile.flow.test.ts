import { eq } from "drizzle-orm";
import * as fc from "fast-check";
import type { Browser } from "playwright-core";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PageSettings } from "../../../domain/status-pages/find-page.ts";
import { lookOf } from "../../../domain/status-pages/look.ts";
import { statusPages } from "../../../schemas/tables/all.ts";
import { browserAvailable, startBrowser } from "../../../testing/browser.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";
import { AWKWARD_HTML, HOSTILE_HTML, HOSTILE_URLS } from "../../../testing/hostile-markup.ts";
import { storeHostilePages, type Hostile } from "../../../testing/hostile-pages.ts";
import { AWKWARD_CSS, HOSTILE_CSS } from "../../../testing/hostile-styles.ts";
import { samplePage } from "../../../testing/sample-page.ts";
import { watchFrames, type WatchedDocument } from "../../../testing/watch-frames.ts";
import { pageAddresses } from "./addresses.ts";
import { makeDrawing } from "./drawing.ts";
import { HomePage } from "./home-page.tsx";

const HTML = Object.values(HOSTILE_HTML).flat();

let plane: TestControlPlane;
let base: string;
beforeAll(async () => {
  plane = await startTestControlPlane({ settings: { SMTP_URL: "smtp://127.0.0.1:9", MAIL_FROM: "status@acme.example" } });
  base = await plane.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => plane.stop());

const page = () => `/status-pages/${plane.organization.pageId}`;
const change = (fields: object) => plane.call("PATCH", page(), fields);
const draft = (template: object) => plane.call("PUT", `${page()}/design/draft`, { template, template_mode: "custom" });

describe("the API", () => {
  it.each(Object.entries(HOSTILE_HTML))("refuses HTML wherever it may be written: %s", async (_group, inputs) => {
    for (const html of inputs) {
      for (const [path, fields] of [["/custom_header_html", { custom_header_html: html }], ["/custom_footer_html", { custom_footer_html: html }], ["/custom_template/html", { custom_template: { html } }]] as const) {
        expect(await change(fields), html).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path } });
      }
      const refused = await draft({ html });
      expect(refused, html).toMatchObject({ status: 400, body: { code: storable(html) === html ? "INVALID_DESIGN" : "INVALID_REQUEST", path: "/template/html" } });
    }
  });

  it("refuses CSS wherever it may be written", async () => {
    for (const css of HOSTILE_CSS) {
      expect(await change({ custom_css: css }), css).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path: "/custom_css" } });
      expect(await change({ custom_template: { html: "", css } }), css).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path: "/custom_template/css" } });
      expect(await draft({ html: "", css }), css).toMatchObject({ status: 400, body: { code: storable(css) === css ? "INVALID_DESIGN" : "INVALID_REQUEST", path: "/template/css" } });
    }
  });

  it("refuses addresses of images", async () => {
    for (const url of HOSTILE_URLS) for (const field of ["logo_url", "favicon_url"]) expect(await change({ [field]: url }), url).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path: `/${field}` } });
  });

  it("takes what is awkward and not unsafe", async () => {
    for (const html of AWKWARD_HTML) expect(await change({ custom_header_html: html }), html).toMatchObject({ status: 200 });
    for (const css of AWKWARD_CSS) expect(await change({ custom_css: css }), css).toMatchObject({ status: 200 });
  });
});

it("the address of an image adds nothing to the policy but its origin", async () => {
  const [path] = await storeHostilePages(plane, "page", [{ url: "https://cdn.example;form-action/x" }]);
  const answer = await plane.app.inject({ method: "GET", url: path! });
  expect(answer.headers["content-security-policy"]).toMatch(/; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'$/);
});

it("a password's hint is text", async () => {
  const [path] = await storeHostilePages(plane, "page", [{ text: `"><script>alert(1)</script>` }]);
  await plane.database.update(statusPages).set({ visibility: "password", passwordHash: "none" }).where(eq(statusPages.slug, path!.split("/").at(-1)!));
  const { statusCode, body } = await plane.app.inject({ method: "GET", url: path! });
  expect(statusCode).toBe(401);
  expect(body).toContain("&lt;script");
  expect(body).not.toContain("<script");
});

it.each([
  { name: "open tags", html: "<i>".repeat(21_000) },
  { name: "open blocks", html: "<div><p>".repeat(8_000) },
  { name: "forbidden tags", html: "<svg><x1>".repeat(7_000) },
  { name: "attributes", html: `<p ${"a ".repeat(32_000)}>` },
  { name: "placeholders", html: "{{header}}".repeat(6_500) },
  { name: "open placeholders", html: "{{ ".repeat(21_000) },
  { name: "entities", html: "&lt;".repeat(16_000) },
  { name: "rules", css: "a{}".repeat(21_000) },
  { name: "open rules", css: "a{".repeat(32_000) },
  { name: "calculations", css: `a{b:${"calc(".repeat(13_000)}` },
])("64 KiB of $name are drawn in bounded time, and nothing is swallowed", async ({ html, css }) => {
  const [path] = await storeHostilePages(plane, "page", [{ ...(html !== undefined && { html }), ...(css !== undefined && { css }) }]);
  const begun = process.cpuUsage();
  const { statusCode, body } = await plane.app.inject({ method: "GET", url: path! });
  const { user, system } = process.cpuUsage(begun);
  expect(user + system).toBeLessThan(10_000_000);
  expect(statusCode).toBe(200);
  for (const text of ['<main id="main"', "<p>All services are working", '<footer class="bottom">', "Pharos</a>"]) expect(body.split(text), text).toHaveLength(2);
});

describe.runIf(browserAvailable())("in Chromium, stored past all checks,", () => {
  let browser: Browser;
  let pages: WatchedDocument[];
  let designs: WatchedDocument[];
  beforeAll(async () => {
    browser = await startBrowser();
    const html = [...HTML, ...AWKWARD_HTML].map((each) => ({ html: storable(each) }));
    const css = [...HOSTILE_CSS, ...AWKWARD_CSS].map((each) => ({ css: storable(each) }));
    const text = together(HTML).map((each) => ({ text: each }));
    pages = await store("page", [...html, ...css, ...text, ...HOSTILE_URLS.map((url) => ({ url }))]);
    // A template is drawn the same way wherever it comes from; here what is hostile meets its like.
    const designed = [...together([...HTML, ...AWKWARD_HTML]).map((each) => ({ html: each })), ...together([...HOSTILE_CSS, ...AWKWARD_CSS]).map((each) => ({ css: each }))];
    designs = [...(await store("published", designed)), ...(await store("draft", designed))];
  });
  afterAll(() => browser.close());

  async function store(place: "page" | "published" | "draft", hostile: readonly Hostile[]): Promise<WatchedDocument[]> {
    const paths = await storeHostilePages(plane, place, hostile);
    return paths.map((path, n) => ({ name: `${place}: ${JSON.stringify(hostile[n])}`, source: { path } }));
  }

  async function faultsOf(documents: readonly WatchedDocument[], { bypassCSP }: { bypassCSP: boolean }): Promise<Record<string, string[]>> {
    const watched = await watchFrames(browser, base, { bypassCSP });
    const found = await watched.draw(documents);
    await watched.close();
    return Object.fromEntries(found);
  }

  it("nothing gets through sanitising alone", async () => {
    expect(await faultsOf([...pages, ...designs], { bypassCSP: true })).toEqual({});
  });

  it("nothing is left for the policy to hold back", async () => {
    expect(await faultsOf(pages, { bypassCSP: false })).toEqual({});
  });

  it("no mixture of tags reaches past its place", async () => {
    const name = fc.constantFrom(..."a b p div li dd dt ul dl main header footer section table caption tr td th details summary h1 h2 address span br colgroup col body html form button".split(" "));
    const part = fc.oneof({ weight: 4, arbitrary: name.map((each) => `<${each}>`) }, { weight: 3, arbitrary: name.map((each) => `</${each}>`) }, { weight: 1, arbitrary: fc.constantFrom("x", "<!--", "-->", "<p title='", "'>", "<", "&") });
    const mixtures = fc.sample(fc.array(part, { maxLength: 24 }).map((parts) => parts.join("")), 2_000);
    const tab = await browser.newPage();
    const lost = await tab.evaluate(
      (pages) =>
        pages.flatMap((page, n) => {
          const { body } = new DOMParser().parseFromString(`<!doctype html><body>${page}`, "text/html");
          const branding = body.querySelector(":scope > footer.bottom > .branding");
          return branding?.textContent === "Made with Pharos" && (body.querySelector(":scope > [id=main] #overall") || !page.includes('id="overall"')) && !body.querySelector("own-markup own-markup .bottom, #main .bottom") ? [] : [n];
        }),
      mixtures.map(drawn),
    );
    await tab.close();
    expect(lost.map((n) => mixtures[n])).toEqual([]);
  });

  it.each([
    { policy: "none", bypassCSP: true, runs: true },
    { policy: "the page's", bypassCSP: false, runs: false },
  ])("unsanitised, with $policy policy, a script runs: $runs", async ({ bypassCSP, runs }) => {
    const raw = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg onload=alert(1)></svg>"];
    const documents = raw.map((html): WatchedDocument => ({ name: html, source: { body: `<!doctype html><body>${html}`, headers: { "Content-Security-Policy": "default-src 'none'; script-src 'self'" } } }));
    const found = await faultsOf(documents, { bypassCSP });
    for (const html of raw) {
      if (runs) expect(found[html], html).toContain("alert ran");
      else expect(found[html]?.join(), html).toMatch(/^(?!.*alert ran).*Content Security Policy/s);
    }
  });
});

/** A page with this HTML in each place, as it stands in the body; the section comes last, behind all that the template leaves open, unless an open comment holds it. */
function drawn(html: string): string {
  const look = lookOf({ page: { ...PAGE, customHeaderHtml: html, customFooterHtml: html, customTemplate: { html: `${html}{{overall_status}}` } }, published: null, draft: null }, { preview: false });
  const addresses = pageAddresses({ origin: "", base: "/pages/acme", access: null });
  const drawing = makeDrawing({ look, language: "en", timezone: "UTC", addresses, absolute: addresses, access: null, startPage: "/", subscribeAt: null, languages: [], preview: false, staleSince: null });
  return renderToString(h(HomePage, { drawing, model: { page: samplePage(), uptime: {}, metrics: null } }));
}

const PAGE = { announcementEnabled: false, showSubscribeForm: false, showIncidentHistory: false, showUptimeGraph: false, logoUrl: null, faviconUrl: null, hideBranding: false } as PageSettings["page"];

/** Some of these at a time. */
function together(texts: readonly string[]): string[] {
  const size = 5;
  return Array.from({ length: Math.ceil(texts.length / size) }, (_none, n) => storable(texts.slice(n * size, (n + 1) * size).join(" ")));
}

/** PostgreSQL holds neither NUL nor half a character, and the API refuses both. */
function storable(text: string): string {
  return text.replaceAll(/[\0\ud800]/g, "");
}
