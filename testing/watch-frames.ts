import type { Browser, Request } from "playwright-core";

/** So many documents are drawn at a time. */
const AT_A_TIME = 24;

interface Watched {
  /** By its name, what each document did that no page may do; nothing for those that did nothing. */
  draw(documents: readonly WatchedDocument[]): Promise<Map<string, string[]>>;
  close(): Promise<void>;
}

export interface WatchedDocument {
  /** For the report. */
  name: string;
  /** Path on the watched server, or the document itself. */
  source: { path: string } | { body: string; headers: Record<string, string> };
}

/**
 * Draws documents in frames of one tab and tells what they did: a script that ran (it calls `alert`), a request to another host than for
 * images and fonts by https, a policy that was violated, and what stands in the document. With `bypassCSP` the policy does not hold anything back.
 */
export async function watchFrames(browser: Browser, base: string, { bypassCSP }: { bypassCSP: boolean }): Promise<Watched> {
  const context = await browser.newContext({ bypassCSP });
  const page = await context.newPage();
  const bodies = new Map<string, { body: string; headers: Record<string, string> }>();
  let told: { at: string; what: string }[] = [];
  const tell = (at: string, what: string) => void told.push({ at, what });

  await page.addInitScript("for (const name of ['alert', 'confirm', 'prompt', 'print', 'open']) window[name] = () => top.postMessage(`${name} ran`, '*')");
  page.on("dialog", (dialog) => {
    tell(page.url(), "a dialog opened");
    void dialog.dismiss();
  });
  page.on("popup", (popup) => tell(popup.url(), "a window opened"));
  page.on("console", (message) => message.type() === "error" && !message.text().startsWith("Failed to load resource") && tell(message.location().url || page.url(), message.text()));
  page.on("request", (request) => {
    const fault = faultOf(request, base);
    if (fault !== null) tell(request.frame().url(), fault);
  });
  await page.route(`${base}/documents/*`, async (route) => {
    const own = bodies.get(new URL(route.request().url()).pathname);
    if (!own) return route.continue();
    const { headers, body } = own;
    await route.fulfill({ headers: { "Content-Type": "text/html; charset=utf-8", ...headers }, body });
  });

  async function drawSome(documents: readonly WatchedDocument[], found: Map<string, string[]>): Promise<void> {
    told = [];
    const paths = documents.map(({ source }, n) => {
      if ("path" in source) return source.path;
      bodies.set(`/documents/${n}`, source);
      return `/documents/${n}`;
    });
    // Any document of the server that may hold frames.
    await page.goto(`${base}/openapi.json`);
    await page.evaluate(openFrames, paths);
    // What a document does by itself is another question; there a name can stand for a function that the audit needs.
    for (const { frame, what } of await page.evaluate(() => (window as unknown as { ran: { frame: number; what: string }[] }).ran)) tell(`${base}${paths[frame] ?? "/elsewhere"}`, what);
    const faults = documents.every(({ source }) => "path" in source) ? await page.evaluate(auditFrames, base) : [];
    for (const [n, { name }] of documents.entries()) {
      const own = told.filter(({ at }) => at === `${base}${paths[n]!}`).map(({ what }) => what);
      const all = [...own, ...(faults[n] ?? [])];
      if (all.length > 0) found.set(name, [...(found.get(name) ?? []), ...all]);
    }
    const known = new Set(paths.map((path) => `${base}${path}`));
    const others = told.filter(({ at }) => !known.has(at));
    if (others.length > 0) found.set(`one of ${documents.map(({ name }) => name).join(" · ")}`, others.map(({ at, what }) => `${at}: ${what}`));
  }

  return {
    async draw(documents) {
      const found = new Map<string, string[]>();
      for (let from = 0; from < documents.length; from += AT_A_TIME) await drawSome(documents.slice(from, from + AT_A_TIME), found);
      return found;
    },
    close: () => context.close(),
  };
}

function faultOf(request: Request, base: string): string | null {
  const { origin, protocol } = new URL(request.url());
  if (origin === base || protocol === "data:" || protocol === "about:") return null;
  return protocol === "https:" && ["image", "font"].includes(request.resourceType()) ? null : `asked for ${request.url()} (${request.resourceType()})`;
}

/** In the browser: opens a frame for each path and resolves when all are loaded. */
async function openFrames(paths: string[]): Promise<void> {
  const ran: { frame: number; what: string }[] = [];
  Object.assign(window, { ran });
  addEventListener("message", ({ source, data }) => ran.push({ frame: [...document.querySelectorAll("iframe")].findIndex(({ contentWindow }) => contentWindow === source), what: String(data) }));
  await Promise.all(
    paths.map((path) => {
      const frame = document.createElement("iframe");
      frame.src = path;
      const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
      document.body.append(frame);
      return loaded;
    }),
  );
}

/** In the browser: what stands in each frame that a page of ours never holds. */
function auditFrames(base: string): string[][] {
  const FORBIDDEN =
    "iframe,frame,frameset,object,embed,applet,portal,fencedframe,base,template,noscript,math,marquee,video,audio,source,map,area,canvas,dialog,textarea,xmp,plaintext,listing,meta[http-equiv]," +
    "link[rel~=stylesheet],link[rel~=preload],link[rel~=import],link[rel~=modulepreload],link[rel~=dns-prefetch],svg :not(path),[style],[srcdoc],[formaction],[ping],[download],[srcset],[background],[xlink\\:href]";
  const SCHEMES = new Set(["https:", "http:", "mailto:", "tel:"]);

  function addressesIn(root: Document): string[] {
    return [...root.querySelectorAll<HTMLElement>("[href], [src], [cite], [action]")].flatMap((element) =>
      ["href", "src", "cite", "action"].flatMap((name) => {
        const value = element.getAttribute(name);
        if (value === null || value === "data:,") return [];
        const url = URL.canParse(value, root.baseURI) ? new URL(value, root.baseURI) : null;
        const allowed = url !== null && SCHEMES.has(url.protocol) && (name !== "action" || url.origin === base) && (name !== "src" || url.origin === base || url.protocol === "https:");
        return allowed ? [] : [`<${element.localName} ${name}="${value}">`];
      }),
    );
  }

  function structureOf(root: Document, view: Window): string[] {
    const main = root.querySelectorAll("body > [id=main]:is(main, own-markup)");
    const branding = root.querySelector<HTMLElement>("body > footer.bottom > .branding a");
    return [
      ...(main.length === 1 ? [] : [`${main.length} mains below the body`]),
      ...([...root.querySelectorAll("#overall[data-live]")].every((section) => main[0]?.contains(section)) ? [] : ["a section outside of the main element"]),
      ...(root.querySelector("h1") ? [] : ["no h1"]),
      ...(branding && branding.getClientRects().length > 0 ? [] : ["no branding in the footer"]),
      ...(view.getComputedStyle(root.body).margin === "0px" && view.getComputedStyle(root.body).display === "block" ? [] : ["the page is not styled"]),
      ...(root.querySelectorAll("style").length === 1 ? [] : [`${root.querySelectorAll("style").length} styles`]),
      ...([...root.scripts].every(({ src }) => src.startsWith(`${base}/assets/page.js`)) && root.scripts.length === 1 ? [] : [`${root.scripts.length} scripts`]),
    ];
  }

  return [...document.querySelectorAll("iframe")].map((frame) => {
    const [root, view] = [frame.contentDocument, frame.contentWindow];
    if (!root || !view || root.URL !== frame.src) return ["navigated away"];
    const handlers = [...root.querySelectorAll("*")].flatMap((element) => element.getAttributeNames().filter((name) => /^on|[^a-z0-9-]/i.test(name)).map((name) => `<${element.localName} ${name}>`));
    const forbidden = [...root.querySelectorAll(FORBIDDEN)].map((element) => element.outerHTML.slice(0, 80));
    return structureOf(root, view).concat(handlers, forbidden, addressesIn(root));
  });
}
