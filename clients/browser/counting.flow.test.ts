import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PROJECT_ROOT } from "../../platform/root.ts";
import { startTestSite, type TestSite } from "../../testing/beacon-receiver.ts";
import { browserAvailable, startBrowser } from "../../testing/browser.ts";
import { startFaultProxy, type FaultProxy } from "../../testing/fault-proxy.ts";
import { startTestHouse, type TestHouse } from "../../testing/house.ts";

interface Listed {
  type: string;
  occurrences: number;
}

/** From a page in Chromium over a network that fails into the real service: nothing lost, nothing twice. */
describe.runIf(browserAvailable())("what the service counts", () => {
  let house: TestHouse;
  let browser: Browser;
  let site: TestSite;
  let proxy: FaultProxy;
  let context: BrowserContext;
  let organization: TestHouse["organization"];
  beforeAll(async () => {
    [house, browser, site] = await Promise.all([startTestHouse(), startBrowser(), startTestSite()]);
  });
  afterAll(async () => {
    await browser.close();
    await site.stop();
    await house.stop();
  });
  beforeEach(async () => {
    [proxy, context, organization] = await Promise.all([startFaultProxy({ host: "127.0.0.1", port: Number(new URL(house.base).port) }), browser.newContext(), house.createOrganization("team")]);
    // Timers go on by themselves, and a test can let a minute pass at once.
    await context.clock.install();
    site.put("/shop", `<!doctype html><link rel="icon" href="data:,"><script src="${house.base}/sdk/pharos.js" crossorigin="anonymous" data-key="${organization.beaconKey}" data-url="http://127.0.0.1:${proxy.port}"></script>
      <script>const fail = (...names) => names.forEach((name) => Pharos.captureError(Object.assign(new Error(name), { name })));</script>`);
  });
  afterEach(async () => {
    await context.close();
    await proxy.stop();
  });

  async function open(): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${site.url}/shop`);
    return page;
  }

  const counted = async () => {
    const { body } = await house.call<{ errors: Listed[] }>("GET", "/errors?limit=100", undefined, { "X-API-Key": organization.apiKey });
    return Object.fromEntries(body.errors.map(({ type, occurrences }) => [type, occurrences]));
  };

  /** That these were counted once each; then lets every page and a new one send what they still have, and looks again. */
  async function expectOnce(...types: string[]): Promise<void> {
    const once = Object.fromEntries(types.map((type) => [type, 1]));
    await expect.poll(counted).toEqual(once);
    const last = await open();
    for (const page of context.pages()) await page.clock.fastForward(180_000).catch(() => undefined);
    // Of this tab's session and so behind everything it sends before; other sessions' retries were counted or left out by now as well.
    await last.evaluate(`fail("Last"); Pharos.flush()`);
    for (const page of context.pages()) await page.evaluate(`typeof Pharos === "object" && Pharos.flush?.()`);
    await expect.poll(counted).toEqual({ ...once, Last: 1 });
    expect(await last.evaluate(`Object.values(localStorage).filter((stored) => stored.includes("event"))`)).toEqual([]);
  }

  test("an error in the moment that the page is left", async () => {
    const page = await open();
    await page.evaluate(`fail("Leaving"); location.href = "about:blank"`);
    await page.waitForURL("about:blank");
    await expectOnce("Leaving");
  });

  test("a page that is left while its request is under way", async () => {
    const page = await open();
    proxy.halfOpen();
    await page.evaluate(`fail("UnderWay"); new Promise((resolve) => setTimeout(resolve, 200))`);
    await expect.poll(() => proxy.connections()).toBeGreaterThan(0);
    await page.goto("about:blank");
    await proxy.pass();
    await expect.poll(counted).toEqual({ UnderWay: 1 });
    await page.goto(`${site.url}/shop`);
    await expectOnce("UnderWay");
  });

  test("an answer that is lost", async () => {
    const page = await open();
    // The way back takes as long as the way there, and by then the connection is broken.
    proxy.delay(1_500);
    await page.evaluate(`fail("Unanswered")`);
    await expect.poll(counted).toEqual({ Unanswered: 1 });
    proxy.reset();
    await proxy.pass();
    await page.clock.fastForward(5_000);
    await expectOnce("Unanswered");
  });

  test("a server that is down for a minute, while the page is loaded anew", async () => {
    const page = await open();
    await proxy.cut();
    await page.evaluate(`fail("One", "Two"); Pharos.flush()`);
    for (let seconds = 0; seconds < 30; seconds += 6) await page.clock.fastForward(6_000);
    await page.evaluate(`fail("Three")`);
    await page.reload();
    await page.evaluate(`fail("Four"); Pharos.flush()`);
    for (let seconds = 0; seconds < 30; seconds += 6) await page.clock.fastForward(6_000);
    expect(await counted()).toEqual({});
    await proxy.pass();
    await page.clock.fastForward(61_000);
    await expectOnce("One", "Two", "Three", "Four");
  });

  test("tabs that were closed while the server was down", async () => {
    await proxy.cut();
    for (const name of ["InTabOne", "InTabTwo"]) {
      const page = await open();
      await page.evaluate(`fail("${name}"); Pharos.flush()`);
      await page.close({ runBeforeUnload: true });
    }
    await expect.poll(() => context.pages().length).toBe(0);
    await proxy.pass();
    const pages = await Promise.all([open(), open(), open()]);
    await Promise.all(pages.map((page) => page.clock.fastForward(2_000)));
    await expectOnce("InTabOne", "InTabTwo");
  });

  test("a tab that crashed", async () => {
    await proxy.cut();
    const page = await open();
    await page.evaluate(`fail("BeforeTheCrash"); Pharos.flush()`);
    const crashed = page.waitForEvent("crash");
    await page.goto("chrome://crash").catch(() => undefined);
    await crashed;
    await page.close();
    await proxy.pass();
    const next = await open();
    await next.clock.fastForward(2_000);
    expect(await next.evaluate(`Pharos.flush()`)).toBe(true);
    expect(await counted()).toEqual({});
    // Nobody writes its lease any more.
    await next.clock.fastForward(130_000);
    await next.reload();
    await next.clock.fastForward(2_000);
    await expectOnce("BeforeTheCrash");
  });

  test("many tabs at once, under a network that breaks", async () => {
    const pages = await Promise.all([open(), open(), open()]);
    const names: string[] = [];
    for (let round = 0; round < 5; round++) {
      for (const [tab, page] of pages.entries()) {
        names.push(`Tab${tab}Round${round}`);
        await page.evaluate(`fail("${names.at(-1)}")`);
      }
      if (round % 2) proxy.reset();
      else await proxy.cut();
      await proxy.pass();
      await pages[round % 3]!.reload();
      await Promise.all(pages.map((page) => page.clock.fastForward(10_000)));
    }
    await Promise.all(pages.map((page) => page.clock.fastForward(120_000)));
    await expectOnce(...names);
  });

  test("the tags of the guide and of the service, and the guide's module", async () => {
    const guide = await readFile(join(PROJECT_ROOT, "docs/browser.md"), "utf8");
    const block = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide)![1]!;
    const { snippet } = (await (await fetch(`${house.base}/sdk`)).json()) as { snippet: string };
    const script = block("js").replace("pharos/browser", "http://localhost:8080/sdk/pharos.mjs");
    const pages = [block("html"), snippet, `<script type="module">${script}; window.Pharos = { captureError }</script>`];
    for (const [number, page] of pages.entries()) {
      const here = page.replace(/http:\/\/localhost:\d+/g, house.base).replace("bpk_…", organization.beaconKey);
      site.put(`/guide${number}`, `<!doctype html><link rel="icon" href="data:,">${here}`);
      const tab = await context.newPage();
      await tab.goto(`${site.url}/guide${number}`);
      await tab.evaluate(`Pharos.captureError(Object.assign(new Error("guide"), { name: "Guide${number}" }))`);
    }
    await expectOnce("Guide0", "Guide1", "Guide2");
    const { body } = await house.call<{ releases: { version: string }[] }>("GET", "/releases", undefined, { "X-API-Key": organization.apiKey });
    expect(body.releases.map(({ version }) => version).sort()).toEqual(["1.0.0", "1.4.0"]);
  });
});
