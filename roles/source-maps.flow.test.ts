import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { and, eq } from "drizzle-orm";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { z } from "zod";
import { pharos } from "../clients/bundler-plugin/vite.ts";
import type { ErrorDetail, ErrorList } from "../schemas/api/errors.ts";
import { events } from "../schemas/tables/all.ts";
import { browserAvailable, startBrowser } from "../testing/browser.ts";
import { startTestHouse, type TestHouse } from "../testing/house.ts";
import { asFirefox, asSafari } from "../testing/print-stack.ts";
import { buildService, COMMAND_LINE_PROGRAM } from "../testing/service-process.ts";
import { startStaticServer } from "../testing/static-server.ts";
import { buildWithVite, type ViteBuild } from "../testing/vite-build.ts";

type Detail = z.infer<typeof ErrorDetail>;

/** An event, as a page tells it. */
interface Told {
  message: string;
  stack: string;
}

/** A shop: `#count` throws in the first script, `#pay` in one that is loaded when it is needed, in an asynchronous function. */
const SOURCES = {
  "src/main.ts": `import { Basket } from "./basket.ts";

const basket = new Basket([{ price: { amount: 3 } }, {}]);

document.querySelector("#count")!.addEventListener("click", () => basket.show(document));
document.querySelector("#pay")!.addEventListener("click", async () => {
  const { Receipt } = await import("./receipt.ts");
  await new Receipt(basket.lines).print(document);
});
`,
  "src/basket.ts": `import { sumOf } from "tally";

export interface Line {
  price?: { amount: number };
}

export class Basket {
  readonly lines: Line[];

  constructor(lines: Line[]) {
    this.lines = lines;
  }

  show(target: Document): void {
    if (sumOf(this.lines, () => 1) > 1) throw new RangeError("too many lines");
    target.title = "a basket";
  }
}
`,
  "src/receipt.ts": `import { sumOf } from "tally";
import type { Line } from "./basket.ts";
import { inEuros } from "./currency.ts";

/** What was bought. */
export class Receipt {
  private readonly lines: Line[];

  constructor(lines: Line[]) {
    this.lines = lines;
  }

  async print(target: Document): Promise<void> {
    target.title = inEuros(this.total());
  }

  private total(): number {
    return sumOf(this.lines, (line) => this.amountOf(line));
  }

  private amountOf(line: Line): number {
    return line.price!.amount;
  }
}
`,
  "src/currency.ts": `export function inEuros(amount: number): string {
  return \`€ \${amount.toFixed(2)}\`;
}
`,
  "node_modules/tally/package.json": `{ "name": "tally", "version": "1.0.0", "type": "module", "exports": "./tally.js" }`,
  "node_modules/tally/tally.js": `export function sumOf(items, amountOf) {
  return items.reduce((sum, item) => sum + amountOf(item), 0);
}
`,
};

/** Lines above the place that throws, another module changed, and one more. */
const CHANGED = {
  ...SOURCES,
  "src/receipt.ts": SOURCES["src/receipt.ts"].replace("/** What", `import { note } from "./note.ts";\n\nconst VAT = 0.19;\n\nnote("receipt", VAT);\n\n/** What`),
  "src/currency.ts": `const FORMAT = new Intl.NumberFormat("de", { style: "currency", currency: "EUR" });\n\nexport const inEuros = (amount: number): string => FORMAT.format(amount);\n`,
  "src/note.ts": `export const note = (what: string, value: number): void => console.debug(what, value);\n`,
};

/** The page, which tells of its errors as an SDK does: one way for what is thrown, the other for a promise that fails. */
const pageOf = (house: TestHouse, release: string) => `<!doctype html><button id="count"></button><button id="pay"></button><script>
  const told = (window.told = []);
  const report = (error, send) => {
    const ids = Object.entries(globalThis._pharosDebugIds ?? {}).map(([stack, id]) => [/https?:[^\\s)]+?(?=:\\d+:\\d+)/.exec(stack)[0], id]);
    const event = { type: "error", error_type: error.name, message: error.message, stack: error.stack, url: location.href, debug_ids: Object.fromEntries(ids) };
    send("${house.base}/api/beacon", JSON.stringify({ key: "${house.organization.beaconKey}", release: "${release}", session_id: "tab of ${release}", events: [event] }));
    told.push(event);
  };
  addEventListener("error", ({ error }) => report(error, (url, body) => fetch(url, { method: "POST", body, keepalive: true })));
  addEventListener("unhandledrejection", ({ reason }) => report(reason, (url, body) => navigator.sendBeacon(url, body)));
</script><script type="module" src="/src/main.ts"></script>`;

describe.runIf(browserAvailable())("a bundle by Vite in Chromium", () => {
  let house: TestHouse;
  let browser: Browser;
  /** What #pay fails with: as built first, as its page told it, as the service shows it. */
  let first: ViteBuild;
  let told: Told;
  let known: Detail;
  const builds: ViteBuild[] = [];
  const servers: { stop(): void }[] = [];

  beforeAll(async () => {
    [house, browser] = await Promise.all([startTestHouse(), startBrowser(), buildService()]);
    first = await build("1.0.0", SOURCES);
    told = await clickIn(first, "#pay");
    known = await errorOf("release=1.0.0");
  });
  afterAll(async () => {
    for (const server of servers) server.stop();
    await browser.close();
    await Promise.all(builds.map((each) => each.remove()));
    await house.stop();
  });

  /** Has its maps uploaded by the plugin, unless told otherwise. */
  async function build(release: string, files: Record<string, string>, { plugin = true, names = "assets/[name]-[hash].js" } = {}): Promise<ViteBuild> {
    const output = { entryFileNames: names, chunkFileNames: names };
    const settings = { name: "settings", config: () => ({ base: "./", build: { rolldownOptions: { output } } }) };
    const uploading = pharos({ url: house.base, apiKey: house.organization.apiKey, serviceId: house.organization.serviceId, release, failOnError: true });
    const built = await buildWithVite({ files: { "index.html": pageOf(house, release), ...files }, plugins: plugin ? [settings, uploading] : [settings] });
    builds.push(built);
    return built;
  }

  /** By the command line, without debug ids. */
  async function upload(release: string, folder: string): Promise<void> {
    const env = { PATH: process.env.PATH, PHAROS_URL: house.base, PHAROS_API_KEY: house.organization.apiKey, PHAROS_SERVICE: house.organization.serviceId };
    const { stdout } = await promisify(execFile)(process.execPath, [COMMAND_LINE_PROGRAM, "sourcemaps", "upload", "--release", release, folder], { env });
    expect(stdout).toContain(`Release ${release}: 2 uploaded, 0 failed`);
  }

  /** Serves a build, clicks, and gives what the page has told. */
  async function clickIn({ outDir }: ViteBuild, button: string, path = "/"): Promise<Told> {
    const server = await startStaticServer({ [path]: outDir });
    servers.push(server);
    const page = await browser.newPage();
    await page.goto(server.url + path);
    await page.click(button);
    await page.waitForFunction("told.length > 0");
    const [event] = await page.evaluate<Told[]>("told");
    await page.close();
    return event!;
  }

  const detailOf = async (id: string) => (await house.call<Detail>("GET", `/errors/${id}`)).body;

  function detailWhen(id: string, holds: (detail: Detail) => void): Promise<Detail> {
    return vi.waitFor(
      async () => {
        const detail = await detailOf(id);
        holds(detail);
        return detail;
      },
      { timeout: 60_000, interval: 50 },
    );
  }

  /** The one error of a type that the filter finds, once it is there. */
  function errorOf(filter: string, ofType = "TypeError"): Promise<Detail> {
    return vi.waitFor(
      async () => {
        const { body } = await house.call<z.infer<typeof ErrorList>>("GET", `/errors?${filter}`);
        const found = body.errors.filter(({ type }) => type === ofType);
        expect(found).toHaveLength(1);
        return detailOf(found[0]!.id);
      },
      { timeout: 60_000, interval: 50 },
    );
  }

  /** How often it was told that an error is new. */
  async function countNews(): Promise<number> {
    const { database } = house.pharos.house;
    return database.$count(events, and(eq(events.organizationId, house.organization.organizationId), eq(events.type, "error.new")));
  }

  test("what a click throws shows its places in the sources", async () => {
    await clickIn(first, "#count");
    const { culprit, frames, grouping, ...error } = await errorOf("release=1.0.0", "RangeError");
    expect(error).toMatchObject({ type: "RangeError", message: "too many lines", category: "javascript", occurrences: 1, sessions_affected: 1 });
    expect(frames).toMatchObject([
      { in_app: true, original: placeOf("src/basket.ts", "throw new RangeError", "show") },
      { in_app: true, original: placeOf("src/main.ts", "basket.show(document)", null) },
    ]);
    expect([culprit, grouping.parts.map(({ value }) => value)]).toEqual(["show (src/basket.ts)", ["RangeError", "show in src/basket.ts", 'src/main.ts: document.querySelector("#count")!.addEventListener("click", () => basket.show(document));']]);
  });

  test("so does what fails in a chunk that was loaded later, through a library that is not the application's own", async () => {
    const { culprit, frames, grouping, latest_occurrence: latest, ...error } = await errorOf("release=1.0.0");
    expect(error).toMatchObject({ type: "TypeError", message: told.message, stack_trace: told.stack, occurrences: 1, sessions_affected: 1 });
    expect(frames.filter((frame) => frame.file !== null)).toMatchObject([
      { in_app: true, original: placeOf("src/receipt.ts", "line.price!.amount", "amountOf") },
      { in_app: true, original: placeOf("src/receipt.ts", "this.amountOf(line)", null) },
      { in_app: false, original: placeOf("node_modules/tally/tally.js", "items.reduce", null) },
      { in_app: false, original: placeOf("node_modules/tally/tally.js", "items.reduce", "sumOf") },
      { in_app: true, original: placeOf("src/receipt.ts", "sumOf(this.lines", "total") },
      { in_app: true, original: placeOf("src/receipt.ts", "inEuros(this.total())", "print") },
      { in_app: true, original: placeOf("src/main.ts", "new Receipt(", null) },
    ]);
    expect(frames.filter((frame) => frame.file === null)).toMatchObject([{ function: "Array.reduce", in_app: false, original: null, unmapped_reason: "not_applicable" }]);
    expect(frames).toEqual(latest!.frames.map((frame, at) => Object.assign({}, frame, { grouping: frames[at]!.grouping })));
    expect(frames.map((frame) => frame.grouping)).toEqual(frames.map(({ in_app: inApp, file }) => (file === null ? "native" : inApp ? "counted" : "library")));
    const receipt = "src/receipt.ts";
    expect([culprit, grouping.parts.map(({ value }) => value)]).toEqual([`amountOf (${receipt})`, [
      "TypeError",
      `amountOf in ${receipt}`,
      `${receipt}: return sumOf(this.lines, (line) => this.amountOf(line));`,
      `total in ${receipt}`,
      `print in ${receipt}`,
      "src/main.ts: await new Receipt(basket.lines).print(document);",
    ]]);
  });

  test("built again, with changes and under other names, it is the same error", async () => {
    const again = await build("2.0.0", CHANGED, { names: "static/js/[name].[hash].js" });
    expect(again.emitted.filter((name) => first.emitted.includes(name))).toEqual(["index.html"]);
    const { stack } = await clickIn(again, "#pay");
    expect(stack).not.toContain("/assets/");
    const error = await errorOf("release=2.0.0");
    expect([error.id, releasesOf(error)]).toEqual([known.id, { "1.0.0": 1, "2.0.0": 1 }]);
    expect(error.latest_occurrence!.frames[0]!.original).toMatchObject({ line: known.frames[0]!.original!.line + 6, name: "amountOf", context: { line: "    return line.price!.amount;" } });
  });

  test.each([
    ["Firefox", `can't access property "amount", e.price is undefined`, asFirefox],
    ["Safari", "undefined is not an object (evaluating 'e.price.amount')", asSafari],
  ])("as %s prints it, it is the same error", async (engine, message, print) => {
    const { occurrences } = await detailOf(known.id);
    const stack = await print(told.stack);
    const body = JSON.stringify({ key: house.organization.beaconKey, release: "1.0.0", environment: engine, events: [{ type: "error", error_type: "TypeError", message, stack }] });
    expect((await fetch(`${house.base}/api/beacon`, { method: "POST", body })).status).toBe(202);
    const error = await errorOf(`environment=${engine}`);
    expect([error.id, error.occurrences]).toEqual([known.id, occurrences + 1]);
    expect(error.latest_occurrence).toMatchObject({ message, stack_trace: stack, environment: engine });
    expect(error.latest_occurrence!.frames[0]!.original).toMatchObject(placeOf("src/receipt.ts", "line.price!.amount", "amountOf"));
  });

  test("maps that come after the error lead it to the same one, with what was counted", async () => {
    const late = await build("3.0.0", SOURCES, { plugin: false });
    const { stack } = await clickIn(late, "#pay");
    const unmapped = await errorOf("release=3.0.0");
    expect([unmapped.id === known.id, releasesOf(unmapped)]).toEqual([false, { "3.0.0": 1 }]);
    const { file: url, line, column, ...frame } = unmapped.frames[0]!;
    expect(frame).toMatchObject({ original: null, unmapped_reason: "no_map_for_url" });
    const where = { service_id: house.organization.serviceId, release: "3.0.0", url, line, column };
    expect((await house.call("POST", "/sourcemaps/lookup", where)).body).toMatchObject({ original: null, unmapped_reason: "no_map_for_url" });
    const before = { ...(await detailOf(known.id)), news: await countNews() };

    await upload("3.0.0", late.outDir);
    expect((await house.call("POST", "/sourcemaps/lookup", where)).body).toMatchObject({ original: placeOf("src/receipt.ts", "line.price!.amount", "amountOf"), unmapped_reason: null });
    const merged = await detailWhen(unmapped.id, ({ id }) => expect(id).toBe(known.id));
    expect(merged).toMatchObject({ occurrences: before.occurrences + 1, sessions_affected: before.sessions_affected + 1, status: "new" });
    expect(releasesOf(merged)).toEqual({ ...releasesOf(before), "3.0.0": 1 });
    expect(merged.latest_occurrence).toMatchObject({ release: "3.0.0", stack_trace: stack });
    const { body } = await house.call<z.infer<typeof ErrorList>>("GET", "/errors");
    expect(body.errors.map(({ id, type }) => [id === known.id, type])).not.toContainEqual([false, "TypeError"]);
    expect(await countNews()).toBe(before.news);
  });

  test("served from elsewhere, its scripts are known by their debug ids", async () => {
    const { occurrences } = await detailOf(known.id);
    const { stack } = await clickIn(first, "#pay", "/mirror/of/it/");
    const url = /http\S+?(?=:\d+:\d+)/.exec(stack)![0];
    const error = await detailWhen(known.id, (detail) => expect(detail.occurrences).toBe(occurrences + 1));
    expect(error.latest_occurrence!.frames[0]).toMatchObject({ file: url, original: known.frames[0]!.original });
    const place = { service_id: house.organization.serviceId, release: "1.0.0", url, line: 1, column: 1 };
    expect((await house.call("POST", "/sourcemaps/lookup", place)).body).toMatchObject({ unmapped_reason: "no_map_for_url" });
  });
});

/** The place in SOURCES that holds `text`, with the lines around it. */
function placeOf(file: keyof typeof SOURCES, text: string, name: string | null) {
  const lines = SOURCES[file].split("\n");
  const at = lines.findIndex((line) => line.includes(text));
  return { source: `../../${file}`, line: at + 1, name, context: { pre: lines.slice(Math.max(0, at - 5), at), line: lines[at], post: lines.slice(at + 1, at + 6) } };
}

function releasesOf({ by_release: releases }: Pick<Detail, "by_release">): Record<string, number> {
  return Object.fromEntries(releases.map(({ release, occurrences }) => [release, occurrences]));
}
