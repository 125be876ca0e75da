import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { transform } from "esbuild";
import type { Browser } from "playwright-core";
import { PROJECT_ROOT } from "../platform/root.ts";
import { browserAvailable, startBrowser } from "../testing/browser.ts";
import { startTestHouse, type TestHouse } from "../testing/house.ts";

interface Signature {
  id: string;
  type: string;
  message: string;
  occurrences: number;
  sessions_affected: number;
  frames: { function: string | null; file: string; line: number; column: number; in_app: boolean }[];
}

/** The shop's script before it is minified: the error happens three calls deep. */
const SHOP = `
  const cart = { lines: [{ price: 3 }, null] };
  function priceOf(line) { return line.price; }
  function total(lines) { let sum = 0; for (const line of lines) sum += priceOf(line); return sum; }
  function checkout() { document.title = "total " + total(cart.lines); }
  document.querySelector("button").addEventListener("click", () => checkout());
`;

describe.runIf(browserAvailable())("a page in Chromium", () => {
  let house: TestHouse;
  let browser: Browser;
  let server: Server;
  const files = new Map<string, { type: string; body: string }>();

  beforeAll(async () => {
    house = await startTestHouse();
    browser = await startBrowser();
    server = createServer((request, response) => {
      const file = files.get(new URL(request.url!, "http://x").pathname);
      if (file) response.writeHead(200, { "Content-Type": file.type }).end(file.body);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    await browser.close();
    server.closeAllConnections();
    server.close();
    await house.stop();
  });

  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** The signature of a message, read whole, once it has counted so many occurrences. */
  function counted(type: string, file: string, occurrences: number): Promise<Signature> {
    return vi.waitFor(
      async () => {
        const { body: list } = await house.call<{ errors: Signature[] }>("GET", "/errors");
        for (const { id } of list.errors.filter((error) => error.type === type)) {
          const { body } = await house.call<Signature>("GET", `/errors/${id}`);
          if (!body.frames.some((frame) => frame.file.includes(file))) continue;
          expect(body.occurrences).toBe(occurrences);
          return body;
        }
        throw new Error(`no ${type} in ${file} yet`);
      },
      { timeout: 60_000, interval: 100 },
    );
  }

  test("a TypeError inside a minified bundle arrives by sendBeacon with parsed frames", async () => {
    const { code } = await transform(SHOP, { minify: true });
    const report = `addEventListener("error", ({ message, error }) => navigator.sendBeacon("${house.base}/api/beacon", JSON.stringify({
      key: "${house.organization.beaconKey}", release: "7.0.1", session_id: "tab", events: [{ type: "error", error_type: error.name, message, stack: error.stack, url: location.href }] })));`;
    files.set("/", { type: "text/html", body: `<!doctype html><button>Buy</button><script>${report}</script><script src="/assets/shop.4be1a90c.js"></script>` });
    files.set("/assets/shop.4be1a90c.js", { type: "text/javascript", body: code });

    const page = await browser.newPage();
    await page.goto(address());
    await page.click("button");
    await page.click("button");
    const signature = await counted("TypeError", "shop.4be1a90c.js", 2);
    await page.close();

    expect(signature.message).toContain("Cannot read properties of null");
    expect(signature.sessions_affected).toBe(1);
    expect(signature.frames.length).toBeGreaterThanOrEqual(3);
    expect(signature.frames[0]).toMatchObject({ file: `${address()}/assets/shop.4be1a90c.js`, line: 1, in_app: true });
    expect(signature.frames[0]!.column).toBeGreaterThan(1);
  });

  test("the snippet of the first five minutes works as it is printed", async () => {
    const guide = await readFile(join(PROJECT_ROOT, "docs/first-five-minutes.md"), "utf8");
    const snippet = /```html\n([\s\S]*?)```/.exec(guide)![1]!;
    expect(snippet.trim().split("\n").length).toBeLessThanOrEqual(12);
    const body = snippet.replace("bpk_…", house.organization.beaconKey).replace("http://localhost:8080", house.base);
    files.set("/page.html", { type: "text/html", body: `<!doctype html>${body}` });
    const page = await browser.newPage();
    await page.goto(`${address()}/page.html`);
    await page.click("button");
    const signature = await counted("ReferenceError", "page.html", 1);
    await page.close();
    expect(signature.message).toContain("cart is not defined");
    expect(signature.frames[0]!.function).toBe("checkout");
  });

  test("the start page and the organization's page show what a visitor came for", async () => {
    await house.call("POST", "/incidents", { title: "Payments fail", severity: "major", message: "We are looking.", services: [house.organization.serviceId] });
    const page = await browser.newPage();
    await page.goto(house.base);
    expect(await page.textContent("body")).toContain("Pharos");
    const answer = await page.goto(`${house.base}/pages/${house.organization.pageSlug}`);
    expect(answer!.status()).toBe(200);
    const text = (await page.textContent("body"))!;
    expect(text).toContain("Payments fail");
    expect(text).toContain("We are looking.");
    await page.close();
  });
});
