import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startBeaconReceiver, startTestSite, type BeaconAnswer, type BeaconReceiver, type TestSite } from "../../testing/beacon-receiver.ts";
import { browserAvailable, startBrowser } from "../../testing/browser.ts";

const DOWN: BeaconAnswer = { status: 503 };
const TAKEN: BeaconAnswer = { status: 202 };

/** How events leave a page in Chromium, by the answers they get. */
describe.runIf(browserAvailable())("how the SDK delivers", () => {
  let browser: Browser;
  let context: BrowserContext;
  let receiver: BeaconReceiver;
  let site: TestSite;
  let page: Page;
  const warnings: string[] = [];
  beforeAll(async () => {
    [browser, site] = await Promise.all([startBrowser(), startTestSite()]);
  });
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });
  beforeEach(async () => {
    [receiver, context] = await Promise.all([startBeaconReceiver(), browser.newContext()]);
    // Time stands still, for all pages, until a test moves it: no timer fires in between on a slow machine.
    const now = Date.now();
    await context.clock.install({ time: now });
    await context.clock.pauseAt(now + 1_000);
    site.put("/", `<!doctype html><link rel="icon" href="data:,"><script src="${receiver.url}/sdk/pharos.js" crossorigin="anonymous" data-key="bpk_1" data-vitals="false"></script>`);
    page = await open();
    warnings.length = 0;
    page.on("console", (message) => message.type() === "warning" && warnings.push(message.text()));
  });
  afterEach(async () => {
    await context.close();
    await receiver.stop();
  });

  async function open(): Promise<Page> {
    const opened = await context.newPage();
    await opened.goto(site.url);
    return opened;
  }

  const say = (...texts: string[]) => page.evaluate(`${JSON.stringify(texts)}.forEach((text) => Pharos.captureMessage(text))`);
  const flush = () => page.evaluate(`Pharos.flush()`);
  const told = () => receiver.events().map(({ message }) => message);
  /** Until the page has had its last answer and planned what follows. */
  const settled = () => expect.poll(() => page.evaluate(`Object.values(localStorage).filter((stored) => /"s":0/.test(stored))`)).toHaveLength(1);
  /** As the browser does to a page that it puts aside. */
  const freezeTimers = async () => {
    await page.clock.runFor(1_200);
    await page.evaluate(`window.setTimeout = () => 0`);
  };
  const stored = () => page.evaluate<string[]>(`Object.keys(localStorage).filter((name) => name.startsWith("pharos:"))`);

  test.each<[string, BeaconAnswer]>([
    ["503", DOWN],
    ["500", { status: 500 }],
    ["429", { status: 429 }],
    ["408", { status: 408 }],
    ["a page in place of an answer", { status: 200, body: "<!doctype html>Log in to the hotel's network" }],
    ["a redirection to nowhere", { status: 302, headers: { Location: "http://127.0.0.1:1/" } }],
  ])("%s: tried again with the same id and session, in the same order", async (_, answer) => {
    receiver.answer(() => answer);
    await say("a", "b");
    expect(await flush()).toBe(false);
    expect(await flush()).toBe(false);
    expect(await stored()).toHaveLength(1);
    receiver.answer(() => TAKEN);
    expect(await flush()).toBe(true);
    expect(receiver.beacons.length).toBeGreaterThanOrEqual(3);
    for (const { events } of receiver.beacons) expect(events).toEqual(receiver.beacons[0]!.events);
    expect(told().slice(0, 2)).toEqual(["a", "b"]);
    expect(new Set(receiver.events().map((event) => event.event_id)).size).toBe(2);
    expect(new Set(receiver.beacons.map((beacon) => beacon.session_id)).size).toBe(1);
    expect(await stored()).toEqual([]);
  });

  test.each([400, 401, 403, 413])("%i: dropped, with a warning", async (status) => {
    receiver.answer(() => ({ status, body: "the reason" }));
    await say("a");
    expect(await flush()).toBe(true);
    expect(await stored()).toEqual([]);
    expect(warnings).toEqual(["Pharos: the reason"]);
    expect(told()).toEqual(["a"]);
  });

  test("waits as long as Retry-After says, else longer each time", async () => {
    receiver.answer((number) => (number === 0 ? { status: 503, headers: { "Retry-After": "30" } } : DOWN));
    await say("a");
    await flush();
    await page.clock.fastForward(25_000);
    await settled();
    expect(told()).toHaveLength(1);
    await page.clock.fastForward(6_000);
    await expect.poll(told).toHaveLength(2);
    // The second wait is of 1 to 2 s, the third of 2 to 4, and none is of more than a minute.
    for (const [number, ms] of [2_100, 4_100, 8_100, 16_100, 32_100, 60_100, 60_100].entries()) {
      await settled();
      await page.clock.fastForward(ms);
      await expect.poll(told).toHaveLength(3 + number);
    }
  });

  test("tries at once when the browser is online again", async () => {
    receiver.answer((number) => (number === 0 ? DOWN : TAKEN));
    await say("a");
    await flush();
    await page.evaluate(`dispatchEvent(new Event("online"))`);
    await expect.poll(told).toEqual(["a", "a"]);
  });

  test("the page that is left sends a beacon, and the next one asks again with the same ids", async () => {
    receiver.answer(() => null);
    await page.evaluate(`Pharos.captureMessage("a"); location.href = "about:blank"`);
    await expect.poll(told).toEqual(["a"]);
    receiver.answer(() => TAKEN);
    page = await open();
    await page.clock.runFor(1_200);
    await expect.poll(told).toEqual(["a", "a"]);
    const [first, second] = receiver.beacons;
    expect(second).toEqual(first);
    await expect.poll(stored).toEqual([]);
  });

  test("a tab that is hidden and shown again asks again, and vitals it does not", async () => {
    site.put("/vitals", `<!doctype html><link rel="icon" href="data:,"><h1>Shop</h1><script src="${receiver.url}/sdk/pharos.js" crossorigin="anonymous" data-key="bpk_1"></script>`);
    await page.goto(`${site.url}/vitals`);
    await page.evaluate(`new Promise((resolve) => new PerformanceObserver((list) => list.getEntriesByName("first-contentful-paint").length && resolve()).observe({ type: "paint", buffered: true }))`);
    await page.clock.runFor(1_200);
    const show = (state: string) => page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true }); document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))`);
    await page.evaluate(`Pharos.captureMessage("a")`);
    await show("hidden");
    await show("hidden");
    await expect.poll(told).toContain("a");
    expect(told().filter((message) => message === "a")).toHaveLength(1);
    const names = () => receiver.events().filter(({ type }) => type === "vital").map(({ name }) => name);
    expect(names()).toContain("FCP");
    await show("visible");
    await page.clock.runFor(1_000);
    await expect.poll(() => told().filter((message) => message === "a")).toHaveLength(2);
    expect(new Set(names()).size).toBe(names().length);
    await expect.poll(stored).toEqual([]);
  });

  test("a page that was put aside does not send what another has taken over", async () => {
    receiver.answer(() => DOWN);
    await freezeTimers();
    await say("a", "b");
    await flush();
    const leave = (type: string) => page.evaluate(`dispatchEvent(new PageTransitionEvent("${type}", { persisted: true }))`);
    await leave("pagehide");
    receiver.answer(() => TAKEN);
    const other = await open();
    await other.clock.runFor(1_200);
    await expect.poll(() => told().slice(2)).toEqual(["a", "b"]);
    await leave("pageshow");
    await say("c");
    expect(await flush()).toBe(true);
    expect(told().slice(4)).toEqual(["c"]);
  });

  test("a page that was frozen for long does not either", async () => {
    receiver.answer(() => DOWN);
    await freezeTimers();
    await say("a");
    await flush();
    receiver.answer(() => TAKEN);
    await page.clock.fastForward(121_000);
    const other = await open();
    await other.clock.runFor(1_200);
    await expect.poll(() => told().slice(1)).toEqual(["a"]);
    await say("b");
    expect(await flush()).toBe(true);
    expect(told().slice(2)).toEqual(["b"]);
  });

  test("what may have arrived is sent for 50 minutes, what surely has not for a day", async () => {
    receiver.answer(() => null);
    await page.evaluate(`Pharos.captureMessage("perhaps"); location.href = "about:blank"`);
    await expect.poll(told).toEqual(["perhaps"]);
    receiver.answer(() => DOWN);
    page = await open();
    await say("surely not");
    await flush();
    await page.goto("about:blank");
    receiver.answer(() => TAKEN);
    page = await open();
    await page.clock.fastForward(51 * 60_000);
    await page.clock.runFor(200);
    await expect.poll(() => told().slice(1).filter((text) => text === "surely not").length).toBeGreaterThan(1);
    const before = told().length;
    receiver.answer(() => DOWN);
    await say("too old");
    await flush();
    await page.clock.fastForward(25 * 3_600_000);
    receiver.answer(() => TAKEN);
    expect(await flush()).toBe(true);
    expect(told().slice(before).filter((text) => text !== "too old")).toEqual([]);
    expect(await stored()).toEqual([]);
  });

  test("bodies stay below what outlives a page, and a huge event goes by itself", async () => {
    await page.evaluate(`for (let i = 0; i < 12; i++) Pharos.captureMessage(i + "ü".repeat(8_000))`);
    await page.evaluate(`Pharos.captureError(Object.assign(new Error("huge"), { stack: ("at " + "ü".repeat(1_900) + "\\n").repeat(90) }))`);
    expect(await flush()).toBe(true);
    expect(told()).toHaveLength(13);
    for (const beacon of receiver.beacons) expect(Buffer.byteLength(JSON.stringify(beacon))).toBeLessThan(64 * 1_024);
  });

  test("while nothing is taken, the latest hundred are kept", async () => {
    receiver.answer(() => DOWN);
    for (let minute = 0; minute < 2; minute++) {
      await page.evaluate(`for (let i = 0; i < 90; i++) Pharos.captureMessage("m${minute}." + i)`);
      await page.clock.fastForward(61_000);
    }
    await flush();
    const before = receiver.events().length;
    receiver.answer(() => TAKEN);
    expect(await flush()).toBe(true);
    const sent = told().slice(before);
    expect(sent).toHaveLength(100);
    expect(sent[0]).toBe("m0.80");
    expect(sent.at(-1)).toBe("m1.89");
  });
});
