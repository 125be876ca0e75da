import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashPassword } from "../../../platform/password.ts";
import { browserAvailable, startBrowser } from "../../../testing/browser.ts";
import { freshClickHouse } from "../../../testing/clickhouse.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";
import { barContrasts, bracketsOf, clippedIn, focused, luminance, overflowOf, violationsIn } from "../../../testing/look-at-page.ts";
import { storeRichContent, storeRichPage, storeSubscribers, type RichContent } from "../../../testing/rich-page.ts";
import { PAGE_THEMES } from "../../../schemas/vocabulary.ts";

describe.runIf(browserAvailable())("in Chromium", () => {
  let browser: Browser;
  let plane: TestControlPlane;
  let clickhouse: Awaited<ReturnType<typeof freshClickHouse>>;
  let content: RichContent;
  /** Milliseconds by which the control plane's clock is ahead. */
  let ahead = 0;
  let base: string;
  /** Paths by what stands there. */
  let paths: Record<string, string>;

  beforeAll(async () => {
    [browser, clickhouse] = await Promise.all([startBrowser(), freshClickHouse()]);
    plane = await startTestControlPlane({ clock: { now: () => Date.now() + ahead, monotonic: () => performance.now() + ahead }, clickhouse: clickhouse.clickhouse, settings: { SMTP_URL: "smtp://127.0.0.1:9", MAIL_FROM: "status@acme.example", RATE_LIMIT_SUBSCRIBE: "0" } });
    base = await plane.app.listen({ host: "127.0.0.1", port: 0 });
    content = await storeRichContent(plane, clickhouse.clickhouse);
    const page = await storeRichPage(plane, content);
    const locked = await storeRichPage(plane, content, { visibility: "password", passwordHash: await hashPassword("open sesame") });
    const own = await storeRichPage(plane, content, { customHeaderHtml: "<header><p>Ours</p></header>", customCss: ".own{border:1px solid}" }, { html: '<main class="own"><h1>Ours</h1>{{overall_status}}{{services_list}}{{footer}}</main>' });
    const { confirm, own: unsubscribe } = await storeSubscribers(plane, page);
    paths = {
      home: `/pages/${page.slug}`,
      incident: `/pages/${page.slug}/incidents/${content.openIncident}`,
      history: `/pages/${page.slug}/history`,
      password: `/pages/${locked.slug}`,
      "own template": `/pages/${own.slug}`,
      "not found": "/pages/there-is-none",
      start: "/",
      confirm,
      unsubscribe,
    };
  });
  afterAll(async () => {
    await browser.close();
    await plane.stop();
    await clickhouse.drop();
  });

  async function withTab<Result>(path: string, options: BrowserContextOptions, use: (tab: Page) => Promise<Result>): Promise<Result> {
    const context = await browser.newContext(options);
    const tab = await context.newPage();
    try {
      await tab.goto(`${base}${path}`);
      return await use(tab);
    } finally {
      await context.close();
    }
  }

  it.each(PAGE_THEMES.flatMap((theme, t) => (["light", "dark"] as const).map((mode, m) => ({ theme, mode, n: 2 * t + m }))))("a page is accessible with theme $theme, $mode", async ({ theme, mode, n }) => {
    const color = ["#ffff00", "#ffffff", "#000000", "#ff0000", "#7f7f7f"][n % 5]!;
    const page = await storeRichPage(plane, content, {
      statusPageTheme: theme,
      themeMode: mode,
      headerStyle: (["left", "center", "banner"] as const)[(n + 2) % 3]!,
      announcementType: (["info", "warning", "critical", "success"] as never[])[n % 4]!,
      language: ["en", "ar", "he", "ja", "de", "fr", "hi", "zh-CN"][n]!,
      matchVisitorLanguage: false,
      primaryColor: color,
      secondaryColor: color,
    });
    await withTab(`/pages/${page.slug}`, {}, async (tab) => expect(await violationsIn(tab, theme === "high_contrast" ? ["color-contrast-enhanced"] : [])).toEqual([]));
  });

  it("every kind of page is accessible, in light and dark", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const [name, path] of Object.entries(paths)) await withTab(path, { colorScheme }, async (tab) => expect(await violationsIn(tab), name).toEqual([]));
      await withTab(paths.password!, { colorScheme }, async (tab) => {
        await tab.getByLabel("Password").fill("wrong");
        await tab.getByRole("button").click();
        await tab.getByRole("alert").waitFor();
        expect(await violationsIn(tab), "wrong password").toEqual([]);
      });
    }
  });

  it("is used by keyboard", async () => {
    await withTab(paths.home!, {}, async (tab) => {
      const expected = await tab.evaluate(() => [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']")].filter((element) => !element.closest("details:not([open])") || element.localName === "summary").length);
      await tab.keyboard.press("Tab");
      expect(await focused(tab)).toMatchObject({ text: "Skip to the content", outlined: true });
      expect(await tab.locator(".skip").evaluate((element) => element.getBoundingClientRect().height)).toBeGreaterThan(24);
      const reached = [await focused(tab)];
      for (let n = 1; n < expected; n++) {
        await tab.keyboard.press("Tab");
        reached.push(await focused(tab));
      }
      expect(reached.filter(({ outlined }) => !outlined)).toEqual([]);
      // In the order of the document, each once.
      const places = reached.map(({ at }) => at);
      expect(places).toEqual([...new Set(places)].toSorted((one, other) => one - other));
      expect(reached).toHaveLength(expected);

      await tab.locator(".skip").focus();
      await tab.keyboard.press("Enter");
      expect(await tab.evaluate(() => document.activeElement?.id)).toBe("main");
      await tab.locator("#days-with-trouble > summary").focus();
      await tab.keyboard.press("Enter");
      expect(await tab.locator("#days-with-trouble").getAttribute("open")).toBe("");
    });
  });

  it.each(["light", "dark"] as const)("tells statuses in text and shows bars with forced colors, %s", async (colorScheme) => {
    await withTab(paths.home!, { colorScheme, forcedColors: "active" }, async (tab) => {
      expect(await tab.locator("#services > ul .status").allTextContents()).toEqual(["Operational", "Maintenance", "Degraded", "Partial outage", "Major outage"]);
      expect(Math.min(...(await tab.evaluate(barContrasts)))).toBeGreaterThanOrEqual(3);
    });
  });

  it("moves nothing for those who want no motion", async () => {
    await withTab(paths.home!, { reducedMotion: "reduce" }, async (tab) => {
      expect(await tab.evaluate(() => [...document.querySelectorAll("*")].filter((element) => getComputedStyle(element).transitionDuration !== "0s" || getComputedStyle(element).animationName !== "none").length)).toBe(0);
    });
  });

  it.each(["light", "dark"] as const)("is printed black on white, without what nobody can use on paper: %s", async (themeMode) => {
    const { slug } = await storeRichPage(plane, content, { themeMode, headerStyle: "banner" });
    await withTab(`/pages/${slug}`, {}, async (tab) => {
      await tab.emulateMedia({ media: "print" });
      expect(await tab.locator("form:visible, nav:visible, .skip:visible, .branding:visible").count()).toBe(0);
      const { text, heading, exact } = await tab.evaluate(() => ({
        text: getComputedStyle(document.body).color,
        heading: getComputedStyle(document.querySelector("h1")!).color,
        exact: getComputedStyle(document.querySelector(".bars path")!).printColorAdjust,
      }));
      for (const color of [text, heading]) expect(luminance(color)).toBeLessThan(0.2);
      expect(exact).toBe("exact");
      expect(await clippedIn(tab)).toEqual([]);
    });
  });

  it("needs no scrolling sideways at 320 pixels, and loses nothing with wider spacing", async () => {
    for (const [name, path] of Object.entries(paths)) {
      await withTab(path, { viewport: { width: 320, height: 640 } }, async (tab) => {
        for (const details of await tab.locator("details").all()) await details.evaluate((element) => element.setAttribute("open", ""));
        expect(await overflowOf(tab), name).toBe(0);
        await tab.evaluate(() => {
          const sheet = new CSSStyleSheet();
          sheet.replaceSync("* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important } p { margin-bottom: 2em !important }");
          document.adoptedStyleSheets = [sheet];
        });
        expect(await overflowOf(tab), `${name}, spaced`).toBe(0);
        expect(await clippedIn(tab), name).toEqual([]);
      });
    }
  });

  it.each(PAGE_THEMES)("has targets of 24 pixels, or with as much room: %s", async (statusPageTheme) => {
    const { slug } = await storeRichPage(plane, content, { statusPageTheme });
    await withTab(`/pages/${slug}`, {}, async (tab) => {
      for (const details of await tab.locator("details").all()) await details.evaluate((element) => element.setAttribute("open", ""));
      expect(await tab.evaluate(() => [...document.querySelectorAll("button, select, summary, input:not([type=hidden]), nav a")].filter((element) => element.getBoundingClientRect().height < 24 || element.getBoundingClientRect().width < 24).map((element) => element.outerHTML.slice(0, 80)))).toEqual([]);
    });
  });

  it.each(["ar", "he"])("reads from right to left: %s", async (language) => {
    const { slug } = await storeRichPage(plane, content, { language, matchVisitorLanguage: false });
    await withTab(`/pages/${slug}`, { viewport: { width: 320, height: 640 } }, async (tab) => {
      expect(await tab.evaluate(() => getComputedStyle(document.body).direction)).toBe("rtl");
      expect(await overflowOf(tab)).toBe(0);
      // A closing bracket of a Latin name stands right of the name's text, not at the far left of the line.
      for (const text of ["API (v2)", "Payments fail (500)"]) expect(await bracketsOf(tab, text), text).toEqual({ found: true, ordered: true });
    });
  });

  describe("its script", () => {
    it("writes moments in the visitor's time zone; without it they are in the page's", async () => {
      await withTab(paths.incident!, { timezoneId: "Asia/Tokyo", locale: "en-US" }, async (tab) => {
        const moments = await tab.locator("time[data-at]").evaluateAll((all) => all.map((each) => [each.textContent, (each as HTMLTimeElement).dateTime]));
        const format = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", timeZone: "Asia/Tokyo" });
        expect(moments.length).toBeGreaterThan(2);
        for (const [text, at] of moments) expect(plain(text!)).toBe(plain(format.format(new Date(at!))));
        await expect.poll(() => tab.locator("[data-zone]").textContent()).toBe("Times are in Asia/Tokyo.");
      });
      await withTab(paths.incident!, { timezoneId: "Asia/Tokyo", javaScriptEnabled: false }, async (tab) => {
        expect(await tab.locator("[data-zone]").textContent()).toBe("Times are in UTC.");
        expect(await tab.getByText("Payments fail (500)").count()).toBe(1);
      });
    });

    it("shows every minute what changed, and moves neither the focus nor what is open", async () => {
      const { slug } = await storeRichPage(plane, { ...content, serviceIds: content.serviceIds.slice(0, 1) });
      const context = await browser.newContext();
      const tab = await context.newPage();
      await tab.clock.install();
      await tab.goto(`${base}/pages/${slug}`);
      await tab.locator("#days-with-trouble > summary").click();
      await tab.locator("#open-incidents a").first().focus();
      const focus = await focused(tab);
      await tab.evaluate(() => Object.assign(document.getElementById("overall")!, { mark: true }));
      expect(await tab.getByRole("status").textContent()).toBe("All services are working");
      await plane.call("PATCH", `/services/${content.serviceIds[0]}`, { status: "major_outage" });
      await tab.clock.runFor(60_000);
      // What has the role of a status is read out when its content changes, and only while it stays the same element.
      await expect.poll(() => tab.getByRole("status").textContent()).toBe("Some services are down");
      expect(await tab.evaluate(() => Reflect.get(document.getElementById("overall")!, "mark"))).toBe(true);
      expect(await tab.locator("#overall").getAttribute("class")).toBe("overall major_outage");
      expect(await tab.locator("#services .status").first().textContent()).toBe("Major outage");
      expect(await focused(tab)).toEqual(focus);
      expect(await tab.locator("#days-with-trouble").getAttribute("open")).toBe("");
      await context.close();
    });

    it("says since when the page is not current, until it is again", async () => {
      await withTab(paths.home!, {}, async (tab) => {
        const notices = async () => {
          await tab.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
          return tab.getByRole("alert").allTextContents();
        };
        expect(await notices()).toEqual([]);
        await plane.cutPostgres();
        ahead += 30_000;
        await expect.poll(notices).toEqual([expect.stringContaining("The live data cannot be reached.")]);
        await plane.mendPostgres();
        await expect.poll(async () => {
          ahead += 2_000;
          return notices();
        }).toEqual([]);
      });
    });
  });
});

/** Browsers and Node differ in which blank stands before AM. */
function plain(text: string): string {
  return text.replaceAll(/\s/g, " ");
}
