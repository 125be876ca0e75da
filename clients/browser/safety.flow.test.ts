import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PROJECT_ROOT } from "../../platform/root.ts";
import { startBeaconReceiver, startTestSite, type BeaconReceiver, type TestSite } from "../../testing/beacon-receiver.ts";
import { browserAvailable, startBrowser } from "../../testing/browser.ts";

test.each(["pharos.js", "pharos.mjs"])("%s is at most 4 KB", async (name) => {
  const script = await readFile(join(PROJECT_ROOT, "clients/browser/bundle", name));
  expect(gzipSync(script, { level: 9 }).byteLength).toBeLessThanOrEqual(4_096);
});

/** What the SDK must never do to a page, in real Chromium. */
describe.runIf(browserAvailable())("a page with the SDK", () => {
  let browser: Browser;
  let context: BrowserContext;
  let receiver: BeaconReceiver;
  let site: TestSite;
  /** Of the page: what nothing caught, and what was said to its console. */
  let uncaught: string[] = [];
  let said: string[] = [];
  beforeAll(async () => {
    [browser, site] = await Promise.all([startBrowser(), startTestSite()]);
  });
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });
  beforeEach(async () => {
    [receiver, context] = await Promise.all([startBeaconReceiver(), browser.newContext()]);
    uncaught = [];
    said = [];
  });
  afterEach(async () => {
    await context.close();
    await receiver.stop();
  });

  interface Opened {
    /** Runs before the SDK. */
    before?: string;
    /** Runs after it. */
    script?: string;
    attributes?: string;
  }

  async function open({ before = "", script = "", attributes = "" }: Opened, path = "/"): Promise<Page> {
    site.put(path, `<!doctype html><link rel="icon" href="data:,"><body><script>${before}</script><script src="${receiver.url}/sdk/pharos.js" crossorigin="anonymous" data-key="bpk_1" ${attributes}></script><script>${script}</script></body>`);
    const page = await context.newPage();
    page.on("pageerror", ({ message }) => uncaught.push(message));
    page.on("console", (message) => said.push(message.text()));
    await page.goto(`${site.url}${path}`);
    return page;
  }

  const flush = (page: Page) => page.evaluate(`Pharos.flush()`);
  const told = () => receiver.events().map(({ message }) => message);

  test.each<[string, Opened]>([
    ["beforeSend throws", { script: `Pharos.close(); Pharos.init({ key: "bpk_1", url: "URL", vitals: false, beforeSend(event) { if (event.message === "a") throw new Error("hook"); return event; } }); Pharos.captureError(new Error("a"));` }],
    ["beforeSend reports", { script: `Pharos.close(); Pharos.init({ key: "bpk_1", url: "URL", beforeSend(event) { Pharos.captureError(new Error("again")); return event.message === "end" ? event : null; } }); Pharos.captureError(new Error("a"));` }],
    ["JSON is broken", { script: `const stringify = JSON.stringify; JSON.stringify = () => { throw new Error("json") }; Pharos.captureError(new Error("a")); JSON.stringify = stringify;` }],
    ["a tag is a ring", { script: `const ring = {}; ring.ring = ring; Pharos.setTag("ring", ring); Pharos.captureError(new Error("a")); Pharos.setTag("ring", null);` }],
    ["a tag is a BigInt", { script: `Pharos.captureError(new Error("a"), { tags: { big: 1n } });` }],
    ["the console throws", { script: `console.warn = () => { throw new Error("console") }; for (let i = 0; i < 3; i++) Pharos.addBreadcrumb(Object.defineProperty({}, "message", { get() { throw new Error("getter") }, enumerable: true }));` }],
    ["the stack is exhausted", { script: `try { (function dive() { try { dive() } catch (error) { try { Pharos.captureError(error) } catch {} throw error } })() } catch {}` }],
    ["it is called with nonsense", { script: `for (const name of Object.keys(Pharos)) if (name !== "close") { Pharos[name](); Pharos[name](null, null); Pharos[name](5, 5); Pharos[name](Symbol()); } Pharos.setUser(null);` }],
  ])("neither throws nor loops when %s", async (_, opened) => {
    const page = await open({ ...opened, script: opened.script!.replace("URL", receiver.url) });
    await page.evaluate(`Pharos.captureMessage("end")`);
    await flush(page);
    expect(told().at(-1)).toBe("end");
    expect(receiver.events().length).toBeLessThan(20);
    expect(uncaught).toEqual([]);
    expect(said.length).toBeLessThan(12);
  });

  test("a developer hears which event the service refuses", async () => {
    const page = await open({ script: `Pharos.captureError(new Error("a"), { tags: { cart: { lines: 2 } } }); Pharos.captureError(new Error("b"))` });
    expect(await flush(page)).toBe(true);
    expect(receiver.rejected).toEqual(["/events/0/tags/cart"]);
    expect(said).toEqual([expect.stringContaining("A tag must be a text, a number, true, false or null.")]);
  });

  test.each<[string, string]>([
    ["storage is refused", `for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError") } });`],
    ["storage is full", `Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError") };`],
    ["storage holds what is not ours", `localStorage.setItem("pharos:bpk_1:a", "{"); localStorage.setItem("pharos:bpk_1:b", "null"); localStorage.setItem("pharos:bpk_1:c", "[0]"); sessionStorage.setItem("pharos:session", "nonsense");`],
    ["its surroundings are frozen", `[history, console, window.fetch, XMLHttpRequest.prototype, Element.prototype, performance].forEach(Object.freeze);`],
    ["observers are missing", `delete window.PerformanceObserver; delete AbortSignal.timeout;`],
    ["the debug ids are no object of ours", `globalThis._pharosDebugIds = { "": 5, x: null };`],
  ])("reports when %s", async (_, before) => {
    const page = await open({ before, script: `Pharos.captureError(new Error("a")); fetch("/"); history.pushState(null, "", "/b");`, attributes: `data-console="true"` });
    await expect.poll(told).toEqual(["a"]);
    await page.evaluate(`Pharos.captureError(new Error("b"))`);
    expect(await flush(page)).toBe(true);
    expect(told()).toEqual(["a", "b"]);
    expect(new Set(receiver.beacons.map((beacon) => beacon.session_id)).size).toBe(1);
    expect(uncaught).toEqual([]);
  });

  test("an address where nothing answers is no error of the page's", async () => {
    const page = await open({ script: `addEventListener("unhandledrejection", () => window.unhandled = true); Pharos.captureError(new Error("a"));`, attributes: `data-url="http://127.0.0.1:1" data-console="true"` });
    expect(await flush(page)).toBe(false);
    await page.evaluate(`Pharos.captureError(new Error("b"))`);
    expect(await flush(page)).toBe(false);
    const stored = await page.evaluate<string>(`Object.values(localStorage).join()`);
    expect(stored.match(/event_id/g)).toHaveLength(2);
    // Its own requests are no breadcrumbs either.
    expect(stored).not.toContain("api/beacon");
    expect(await page.evaluate(`window.unhandled`)).toBeUndefined();
    expect(uncaught).toEqual([]);
  });

  test.each<[string, string, boolean]>([
    ["doNotTrack", `Object.defineProperty(navigator, "doNotTrack", { value: "1" })`, true],
    ["globalPrivacyControl", `Object.defineProperty(navigator, "globalPrivacyControl", { value: true })`, true],
    ["neither", ``, false],
  ])("sends nothing for %s when told to respect it", async (_, before, silent) => {
    const page = await open({ before, script: `Pharos.captureError(new Error("a"))`, attributes: `data-respect-do-not-track="true"` });
    expect(await page.evaluate(`Pharos.flush()`)).toBe(true);
    expect(told()).toEqual(silent ? [] : ["a"]);
    expect(await page.evaluate(`[localStorage.length, document.cookie, Object.keys(sessionStorage).length]`)).toEqual([0, "", silent ? 0 : 1]);
  });

  test("sends for the share of sessions that it was given, whole sessions", async () => {
    const page = await open({
      before: `sessionStorage.setItem("pharos:session", "3fffffff-0000-4000-8000-000000000000 " + Date.now())`,
    });
    for (const rate of [0, 0.2, 0.3, 1]) {
      await page.evaluate(`Pharos.close(); Pharos.init({ key: "bpk_1", url: "${receiver.url}", sampleRate: ${rate} }); Pharos.captureMessage("${rate} a"); Pharos.captureMessage("${rate} b")`);
      await flush(page);
    }
    expect(told()).toEqual(["0.3 a", "0.3 b", "1 a", "1 b"]);
  });

  test("a new session begins after half an hour without anything", async () => {
    await context.clock.install();
    const page = await open({});
    for (const minutes of [0, 29, 29, 31]) {
      await page.clock.fastForward(minutes * 60_000);
      await page.evaluate(`Pharos.captureMessage("at ${minutes}")`);
      await flush(page);
    }
    const sessions = receiver.beacons.map((beacon) => beacon.session_id);
    expect(new Set(sessions.slice(0, 3)).size).toBe(1);
    expect(sessions[3]).not.toBe(sessions[2]);
  });

  /** Errors as fast as a page can throw them for a second; returns how many, and the longest time in which the page could do nothing else, in ms. */
  const FLOOD = (report: string) => `new Promise((resolve) => {
    let longest = 0, last = performance.now(), thrown = 0;
    const timer = new MessageChannel();
    timer.port1.onmessage = () => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      for (let i = 0; i < 50 && thrown < 5000; i++, thrown++) { ${report} }
      if (thrown < 5000) timer.port2.postMessage(0);
      else setTimeout(() => resolve({ longest, thrown }), 200);
    };
    timer.port2.postMessage(0);
  })`;

  test.each([
    ["the same, thrown", `setTimeout(() => { throw new TypeError("same") })`, 10],
    ["different ones, captured", `Pharos.captureError(new TypeError("error " + thrown))`, 100],
    ["rejections", `Promise.reject(new TypeError("same"))`, 10],
  ])("5,000 errors in a second do not freeze it: %s", async (_, report, most) => {
    const page = await open({});
    const { longest, thrown } = await page.evaluate<{ longest: number; thrown: number }>(FLOOD(report));
    expect(thrown).toBe(5_000);
    // Of 50 errors and of what else a busy machine does.
    expect(longest).toBeLessThan(500);
    await flush(page);
    expect(receiver.events().length).toBeLessThanOrEqual(most * 3);
    expect(receiver.events().length).toBeGreaterThanOrEqual(10);
  });

  test("how many were kept back is told with the next one", async () => {
    await context.clock.install();
    const page = await open({});
    await page.evaluate(`for (let i = 0; i < 500; i++) Pharos.captureError(new Error("same"))`);
    await page.clock.fastForward(5_100);
    await page.evaluate(`Pharos.captureError(new Error("same")); Pharos.captureError(new Error("same"))`);
    await flush(page);
    const tags = receiver.events().map((event) => event.tags?.suppressed ?? 0);
    expect(tags).toEqual([...Array.from({ length: 10 }, () => 0), 490, 0]);
    await page.clock.fastForward(60_100);
    await page.evaluate(`for (let i = 0; i < 500; i++) Pharos.captureMessage("m" + i)`);
    // Else the minute that passes at once would be too long for the answer, and they would be sent again.
    await flush(page);
    await page.clock.fastForward(60_100);
    await page.evaluate(`Pharos.captureMessage("last")`);
    await flush(page);
    expect(receiver.events()).toHaveLength(12 + 100 + 1);
    expect(receiver.events().at(-1)).toMatchObject({ message: "last", tags: { suppressed: 400 } });
  });

  test("a second tag, and init again, change nothing", async () => {
    const page = await open({ script: `const again = document.createElement("script"); again.src = "${receiver.url}/sdk/pharos.js"; again.dataset.key = "bpk_2"; again.onload = () => { Pharos.init({ key: "bpk_3", url: "${receiver.url}" }); setTimeout(() => { throw new Error("a") }) }; document.body.append(again);` });
    await expect.poll(told).toEqual(["a"]);
    await flush(page);
    expect(receiver.beacons.map(({ key }) => key)).toEqual(["bpk_1"]);
  });

  test("works under a strict policy, pinned by its hash", async () => {
    const { createHash } = await import("node:crypto");
    const integrity = `sha384-${createHash("sha384").update(await readFile(join(PROJECT_ROOT, "clients/browser/bundle/pharos.js"))).digest("base64")}`;
    const policy = { "Content-Security-Policy": `default-src 'none'; script-src 'self' ${receiver.url}; connect-src ${receiver.url}; require-trusted-types-for 'script'` };
    const tag = (hash: string) => `<!doctype html><script src="${receiver.url}/sdk/pharos.js" integrity="${hash}" crossorigin="anonymous" data-key="bpk_1"></script><script src="/shop.js"></script>`;
    site.put("/shop.js", `setTimeout(() => { throw new Error("strict") })`);
    site.put("/strict", tag(integrity), policy);
    site.put("/changed", tag(integrity.replace(/.{4}$/, "AAAA")), policy);
    const page = await context.newPage();
    page.on("console", (message) => said.push(message.text()));
    await page.goto(`${site.url}/strict`);
    await expect.poll(told).toEqual(["strict"]);
    await flush(page);
    expect(said).toEqual([]);
    await page.goto(`${site.url}/changed`);
    expect(await page.evaluate(`typeof Pharos`)).toBe("undefined");
  });
});
