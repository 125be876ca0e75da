import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startBeaconReceiver, startTestSite, type BeaconReceiver, type TestSite } from "../../testing/beacon-receiver.ts";
import { browserAvailable, startBrowser } from "../../testing/browser.ts";

/** What the SDK says of a page, in real Chromium; each body is read as the edge reads it. */
describe.runIf(browserAvailable())("what the SDK reports", () => {
  let browser: Browser;
  let context: BrowserContext;
  let receiver: BeaconReceiver;
  let site: TestSite;
  beforeAll(async () => {
    [browser, site] = await Promise.all([startBrowser(), startTestSite()]);
  });
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });
  beforeEach(async () => {
    [receiver, context] = await Promise.all([startBeaconReceiver(), browser.newContext()]);
  });
  afterEach(async () => {
    expect(receiver.rejected).toEqual([]);
    await context.close();
    await receiver.stop();
  });

  /** A page with the SDK by a script tag. */
  async function open(script: string, { attributes = "", path = "/shop", query = "" } = {}): Promise<Page> {
    site.put(path, `<!doctype html><link rel="icon" href="data:,"><body><script src="${receiver.url}/sdk/pharos.js" crossorigin="anonymous" data-key="bpk_1" ${attributes}></script><script>${script}</script></body>`);
    const page = await context.newPage();
    await page.goto(`${site.url}${path}${query}`);
    return page;
  }

  async function eventOf(type: string) {
    await expect.poll(() => receiver.events().filter((event) => event.type === type)).not.toHaveLength(0);
    return receiver.events().find((event) => event.type === type)!;
  }

  test("a thrown error, with what the page has said of itself, without its query", async () => {
    await open(
      `Pharos.setUser({ id: 7, email: "a@b.c" }); Pharos.setTag("team", "pay"); Pharos.addBreadcrumb({ category: "cart", message: "filled", data: { lines: 2 } });
       function checkout() { throw new TypeError("broken", { cause: new RangeError("the cause") }); }
       setTimeout(function later() { checkout(); });`,
      { attributes: `data-release="1.4.0" data-environment="staging"`, query: "?token=secret#secret" },
    );
    expect(await eventOf("error")).toMatchObject({
      error_type: "TypeError",
      message: "broken",
      handled: false,
      url: `${site.url}/shop`,
      stack: expect.stringMatching(/^TypeError: broken\n {4}at checkout \(http.*\/shop.*:\d+:\d+\)\n {4}at later \(/),
      causes: [{ error_type: "RangeError", message: "the cause", stack: expect.stringContaining("at checkout") }],
      tags: { team: "pay" },
      breadcrumbs: [{ category: "cart", message: "filled", data: { lines: 2 }, timestamp: expect.any(Number) }],
      event_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    });
    expect(receiver.beacons[0]).toMatchObject({ key: "bpk_1", release: "1.4.0", environment: "staging", user: { id: 7 }, session_id: expect.stringMatching(/^[0-9a-f-]{36}$/), sdk: expect.stringContaining("pharos/") });
    expect(JSON.stringify(receiver.beacons).replaceAll("/shop?token=secret", "")).not.toMatch(/secret|a@b\.c/);
  });

  const BIG = "x".repeat(100_000);
  test.each([
    ["a rejected promise", `Promise.reject(new URIError("no"))`, { error_type: "URIError", message: "no", handled: false }],
    ["a text as the reason", `Promise.reject("no")`, { error_type: "UnhandledRejection", message: "no" }],
    ["no reason", `Promise.reject()`, { error_type: "UnhandledRejection", message: "undefined" }],
    ["an object as the reason, without its values", `Promise.reject({ card: "4111", pin: 1 })`, { error_type: "UnhandledRejection", message: "Object with card,pin" }],
    ["a thrown text, with its place", `setTimeout(() => { throw "text" })`, { error_type: "Error", message: "text", stack: expect.stringMatching(/^at http.*shop:1:\d+$/) }],
    ["a thrown null", `setTimeout(() => { throw null })`, { message: "Uncaught null" }],
    ["a symbol", `Pharos.captureError(Symbol("s"))`, { message: "Symbol(s)", handled: true }],
    ["a frozen error", `Pharos.captureError(Object.freeze(new Error("cold")))`, { message: "cold" }],
    ["a DOMException", `try { document.querySelector("!") } catch (e) { Pharos.captureError(e) }`, { error_type: "SyntaxError" }],
    ["an error of another realm", `const f = document.body.appendChild(document.createElement("iframe")); Pharos.captureError(new f.contentWindow.TypeError("there"))`, { error_type: "TypeError", message: "there" }],
    ["a proxy that throws at every touch", `Pharos.captureError(new Proxy({}, new Proxy({}, { get() { throw 1 } })))`, { message: "Unreadable error" }],
    ["a toString that throws", `Pharos.captureError({ toString() { throw 1 }, message: 5 })`, { message: "Object with toString,message" }],
    ["a getter that throws for the cause", `Pharos.captureError(Object.defineProperty(new Error("outer"), "cause", { get() { throw 1 } }))`, { message: "outer", causes: [] }],
    ["causes in a circle", `const a = new Error("a"), b = new Error("b"); a.cause = b; b.cause = a; Pharos.captureError(a)`, { message: "a", causes: [{ message: "b" }] }],
    ["details of the caller", `Pharos.captureError(new Error("x"), { tags: { a: 1 }, fingerprint: ["f"], level: "fatal", handled: false })`, { tags: { a: 1 }, fingerprint: ["f"], level: "fatal", handled: false }],
  ])("%s", async (_, script, expected) => {
    await open(script);
    expect(await eventOf("error")).toMatchObject(expected);
  });

  test("a huge error is cut, with its frames", async () => {
    await open(`Pharos.captureError(new Error("${BIG}"))`);
    const { message, stack } = await eventOf("error");
    expect(message).toHaveLength(8_192);
    expect(stack!.length).toBeLessThan(9_000);
    expect(stack).toMatch(/x\n {4}at http/);
  });

  test("a deep stack keeps its innermost and outermost frames", async () => {
    await open(`Error.stackTraceLimit = 500; (function dive(n) { if (n) dive(n - 1); else Pharos.captureError(new Error("deep")) })(300)`);
    const frames = (await eventOf("error")).stack!.split("\n").filter((line) => line.startsWith("    at "));
    expect(frames.length).toBeLessThanOrEqual(100);
    expect(frames.at(-1)).not.toContain("dive");
  });

  test("a message", async () => {
    await open(`Pharos.captureMessage("hello", "warning")`);
    expect(await eventOf("message")).toMatchObject({ message: "hello", level: "warning" });
  });

  test("clicks, navigation, requests and the console become breadcrumbs, without text, values or queries", async () => {
    const page = await open(
      `document.body.insertAdjacentHTML("beforeend", '<form class="pay now"><button id="buy" type="button">secret</button><input value="secret"></form>');
       document.querySelector("#buy").addEventListener("click", async () => {
         console.warn("careful", { a: 1 });
         history.pushState(null, "", "/cart?secret");
         await fetch("/missing?secret", { method: "PUT" });
         const request = new XMLHttpRequest();
         request.open("GET", "/shop?secret");
         request.onloadend = () => setTimeout(() => Pharos.captureError(new Error("done")));
         request.send();
       })`,
      { attributes: `data-console="true"` },
    );
    await page.click("#buy");
    const { breadcrumbs } = await eventOf("error");
    expect(breadcrumbs).toMatchObject([
      { category: "click", message: "body > form.pay.now > button#buy" },
      { category: "console", message: "careful [object Object]", data: { level: "warn" } },
      { category: "navigation", message: `${site.url}/cart` },
      { category: "fetch", message: "PUT /missing", data: { status: 404 } },
      { category: "xhr", message: "GET /shop", data: { status: 200 } },
    ]);
    expect(JSON.stringify(breadcrumbs)).not.toContain("secret");
  });

  test("only so many breadcrumbs are kept, and one that is too long or no JSON does no harm", async () => {
    await open(`const ring = {}; ring.ring = ring;
      for (let i = 0; i < 50; i++) Pharos.addBreadcrumb({ message: "m" + i });
      Pharos.addBreadcrumb({ message: "ring", data: ring }); Pharos.addBreadcrumb({ message: "${"y".repeat(5_000)}", data: "${"z".repeat(5_000)}" });
      Pharos.captureError(new Error("x"));`, { attributes: `data-breadcrumbs="5"` });
    const { breadcrumbs } = await eventOf("error");
    expect(breadcrumbs!.map((each) => (each as { message: string }).message.slice(0, 3))).toEqual(["m46", "m47", "m48", "m49", "yyy"]);
    expect(JSON.stringify(breadcrumbs).length).toBeLessThan(1_000);
  });

  test("what is wrapped works as before", async () => {
    const page = await open(``);
    const outcome = await page.evaluate(`(async () => {
      const out = [];
      out.push((await (await fetch(new Request("/shop"))).text()).startsWith("<!doctype"));
      out.push(await fetch("http://127.0.0.1:1/").catch((e) => e.name + " " + e.message));
      out.push(await fetch().catch((e) => e.name));
      out.push(history.pushState(1, "", "/a"), history.state, location.pathname);
      try { history.pushState(null, "", "http://elsewhere.example/") } catch (e) { out.push(e.name) }
      const x = new XMLHttpRequest();
      try { x.open("BAD METHOD", "/") } catch (e) { out.push(e.name) }
      const reason = await new Promise((resolve) => { addEventListener("unhandledrejection", ({ reason }) => resolve(reason.message), { once: true }); fetch("http://127.0.0.1:1/") });
      out.push(reason);
      return out;
    })()`);
    expect(outcome).toEqual([true, "TypeError Failed to fetch", "TypeError", undefined, 1, "/a", "SecurityError", "SyntaxError", "Failed to fetch"]);
    // The SDK's own frames would make every such error look the same.
    const { stack } = await eventOf("error");
    expect(stack).not.toContain("pharos.js");
  });

  test("elements that do not load are errors when wanted", async () => {
    await open(`document.body.append(Object.assign(new Image(), { src: "/none.png?secret" }))`, { attributes: `data-resources="true"` });
    expect(await eventOf("error")).toMatchObject({ error_type: "ResourceError", message: `Failed to load img: ${site.url}/none.png`, handled: false });
  });

  test("errors of another origin's scripts, of which nothing is known, are told once", async () => {
    const other = await startTestSite();
    other.put("/widget.js", `setTimeout(() => { throw new Error("a") }); setTimeout(() => { throw new Error("b") })`);
    const page = await open(`const s = document.createElement("script"); s.src = "${other.url}/widget.js"; s.onload = () => setTimeout(() => Pharos.captureMessage("end"), 50); document.body.append(s)`);
    await eventOf("message");
    expect(receiver.events().filter(({ type }) => type === "error")).toMatchObject([{ message: "Script error." }]);
    await page.close();
    await other.stop();
  });

  test("debug ids of the scripts in the stack, of one that came late too", async () => {
    const snippet = (id: string) => `!function(){try{var g=globalThis,s=(new Error).stack;s&&((g._pharosDebugIds=g._pharosDebugIds||{})[s]="${id}")}catch(e){}}();`;
    const ids = ["11111111-1111-5111-8111-111111111111", "22222222-2222-5222-8222-222222222222"];
    site.put("/app.js", `${snippet(ids[0]!)}function fail() { Pharos.captureError(new Error("one")) } fail();`);
    site.put("/late.js", `${snippet(ids[1]!)} export const go = () => Pharos.captureError(new RangeError("two"));`);
    await open(`const s = document.createElement("script"); s.src = "/app.js"; s.onload = async () => (await import("/late.js")).go(); document.body.append(s)`);
    await expect.poll(() => receiver.events()).toHaveLength(2);
    expect(receiver.events().map((event) => event.debug_ids)).toEqual([{ [`${site.url}/app.js`]: ids[0] }, { [`${site.url}/late.js`]: ids[1] }]);
  });

  test("vitals, once, when the page is hidden", async () => {
    const page = await open(`document.body.insertAdjacentHTML("beforeend", "<h1>Shop</h1><button>slow</button>");
      document.querySelector("button").onclick = () => { const end = performance.now() + 120; while (performance.now() < end); };
      setTimeout(() => { document.querySelector("h1").style.marginTop = "200px"; setTimeout(() => document.title = "shifted", 200) }, 700);`);
    await page.waitForFunction(`document.title === "shifted"`);
    await page.click("button");
    await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 100)))`);
    await page.goto("about:blank");
    await expect.poll(() => receiver.events()).toHaveLength(5);
    const vitals = Object.fromEntries(receiver.events().map(({ name, value }) => [name, value!]));
    expect(Object.keys(vitals).sort()).toEqual(["CLS", "FCP", "INP", "LCP", "TTFB"]);
    expect(vitals.CLS).toBeGreaterThan(0);
    expect(vitals.INP).toBeGreaterThanOrEqual(100);
    expect(vitals.LCP).toBeGreaterThanOrEqual(vitals.FCP);
    expect(vitals.FCP).toBeGreaterThanOrEqual(vitals.TTFB);
  });

  test("the module gives the same, and close ends it", async () => {
    site.put("/module", `<!doctype html><script type="module">
      import * as Pharos from "${receiver.url}/sdk/pharos.mjs";
      Pharos.captureError(new Error("before init"));
      Pharos.init({ key: "bpk_1", url: "${receiver.url}/", tags: { from: "module" }, queryStrings: true });
      Pharos.init({ key: "bpk_2", url: "${receiver.url}" });
      Pharos.captureError(new Error("within"));
      document.title = String(await Pharos.flush());
      Pharos.close();
      Pharos.captureError(new Error("after"));
      Pharos.init({ key: "bpk_3", url: "${receiver.url}" });
      Pharos.captureMessage("again");
      await Pharos.flush();
    </script>`);
    const page = await context.newPage();
    const warnings: string[] = [];
    page.on("console", (message) => warnings.push(message.text()));
    await page.goto(`${site.url}/module?a=1`);
    await eventOf("message");
    expect(receiver.beacons.map(({ key }) => key)).toEqual(["bpk_1", "bpk_3"]);
    expect(receiver.events()[0]).toMatchObject({ message: "within", tags: { from: "module" }, url: `${site.url}/module?a=1` });
    expect(await page.title()).toBe("true");
    expect(warnings.filter((text) => text.includes("url, once"))).toHaveLength(1);
  });
});
