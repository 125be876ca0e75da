import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { PROJECT_ROOT } from "../platform/root.ts";
import { startBeaconReceiver, startTestSite } from "../testing/beacon-receiver.ts";
import { startBrowser } from "../testing/browser.ts";
import { machine, median, option, quantile, table } from "./measuring.ts";

/**
 * What the browser SDK costs a page in Chromium, each figure in fresh pages: reading its script and starting it, `init` alone, an error that
 * is sent, an error that is kept back, and the longest time in which a page that has 5,000 errors in a second can do nothing else.
 *
 *   npx tsx bench/browser-sdk.ts [--pages 30]
 *
 * Exits 1 when `init` takes more than 1 ms, the bundle has more than 4,096 bytes by gzip, or a page is blocked for more than 50 ms.
 */
const PAGES = Number(option("pages", "30"));
const MOST = { initMs: 1, gzipBytes: 4_096, blockedMs: 50 };
const ERRORS = 5_000;

/** Isolated, so that the browser's clock counts in 5 µs (High Resolution Time). */
const ISOLATED = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

/** 5,000 errors over a second in slices of 5 ms, as a broken animation or timer throws them; its own share is counted as well. */
const loop = (report: string) => `new Promise((resolve) => {
  let longest = 0, last = 0, thrown = 0;
  const began = performance.now();
  new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) longest = Math.max(longest, duration); }).observe({ type: "longtask" });
  const timer = setInterval(() => {
    const start = performance.now();
    for (const due = Math.min(${ERRORS}, (start - began) * ${ERRORS / 1_000}); thrown < due; thrown++) { ${report} }
    last += performance.now() - start;
    longest = Math.max(longest, performance.now() - start);
    if (thrown < ${ERRORS}) return;
    clearInterval(timer);
    setTimeout(() => resolve([longest, last]), 300);
  }, 5);
})`;

const FIGURES: Record<string, { script: string; unit: string }> = {
  "reading the script and init": { unit: "ms", script: `const start = performance.now(); (0, eval)(source); Pharos.init(options); result = performance.now() - start` },
  "init alone": { unit: "ms", script: `(0, eval)(source); const start = performance.now(); Pharos.init(options); result = performance.now() - start` },
  "an error that is sent": {
    unit: "µs",
    script: `(0, eval)(source); Pharos.init(options); Pharos.captureError(new Error("first")); const errors = Array.from({ length: 50 }, (_, i) => new Error("error " + i)); const start = performance.now(); errors.forEach((error) => Pharos.captureError(error)); result = (performance.now() - start) / 50 * 1000`,
  },
  "an error like ten before": {
    unit: "µs",
    script: `(0, eval)(source); Pharos.init(options); const errors = Array.from({ length: 2000 }, () => new Error("same")); const start = performance.now(); errors.forEach((error) => Pharos.captureError(error)); result = (performance.now() - start) / 2000 * 1000`,
  },
  "an error after a hundred in the minute": {
    unit: "µs",
    script: `(0, eval)(source); Pharos.init(options); for (let i = 0; i < 110; i++) Pharos.captureError(new Error("other " + i)); const errors = Array.from({ length: 2000 }, () => new Error("same")); const start = performance.now(); errors.forEach((error) => Pharos.captureError(error)); result = (performance.now() - start) / 2000 * 1000`,
  },
};

/** One value of each page. */
async function inPages(browser: Browser, url: string, pages: number, script: string): Promise<number[]> {
  const values: number[] = [];
  for (let number = 0; number < pages; number++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    if (!(await page.evaluate(`crossOriginIsolated`))) throw new Error("The page is not isolated, so its clock is coarse.");
    values.push(await page.evaluate<number>(`(async () => { let result; ${script}; return result })()`));
    await context.close();
  }
  return values;
}

async function main(): Promise<boolean> {
  execFileSync(process.execPath, ["scripts/bundle-sdk.mjs"], { cwd: PROJECT_ROOT });
  const source = await readFile(join(PROJECT_ROOT, "clients/browser/bundle/pharos.js"), "utf8");
  const [browser, receiver, site] = await Promise.all([startBrowser(), startBeaconReceiver(), startTestSite()]);
  try {
    site.put("/", `<!doctype html><link rel="icon" href="data:,"><h1>Shop</h1><script>const source = ${JSON.stringify(source).replaceAll("</", "<\\/")}; const options = { key: "bpk_1", url: "${receiver.url}" }</script>`, ISOLATED);
    const rows: string[][] = [["", "median", "p90", "slowest"]];
    const add = (name: string, unit: string, values: number[]) => rows.push([`${name}, ${unit}`, ...[median(values), quantile(values, 0.9), quantile(values, 1)].map((value) => value.toFixed(2))]);
    const figures: Record<string, number[]> = {};
    for (const [name, { script, unit }] of Object.entries(FIGURES)) {
      figures[name] = await inPages(browser, site.url, PAGES, script);
      add(name, unit, figures[name]);
    }
    const fail = `setTimeout(() => { throw new TypeError("same") })`;
    const start = `(0, eval)(source); Pharos.init(options);`;
    const without = await inPages(browser, site.url, 5, `[result] = await ${loop(fail)}`);
    add("longest block while 5,000 errors a second are thrown, without the SDK", "ms", without);
    const thrown = await inPages(browser, site.url, 5, `${start} [result] = await ${loop(fail)}`);
    add("the same with it", "ms", thrown);
    const captured = await inPages(browser, site.url, 5, `${start} [result] = await ${loop(`Pharos.captureError(new TypeError("error " + thrown))`)}`);
    add("the same with 5,000 different errors that are captured", "ms", captured);
    const gzipBytes = gzipSync(source, { level: 9 }).byteLength;
    console.log(`Chromium ${browser.version()}, ${PAGES} fresh pages, 5 for blocks; ${machine()}\n`);
    console.log(table(rows));
    console.log(`\nThe bundle: ${Buffer.byteLength(source)} bytes, gzip ${gzipBytes}, brotli ${brotliCompressSync(source).byteLength}.`);
    return median(figures["init alone"]!) <= MOST.initMs && gzipBytes <= MOST.gzipBytes && Math.max(median(thrown), median(captured)) <= MOST.blockedMs;
  } finally {
    await browser.close();
    await Promise.all([receiver.stop(), site.stop()]);
  }
}

process.exitCode = (await main()) ? 0 : 1;
