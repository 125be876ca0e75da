import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { PAGE_THEMES } from "../../schemas/vocabulary.ts";
import { smallPng } from "./small-png.ts";

const SIZES = { mobile: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } } as const;

/** Below this a picture ends: what follows tells nothing new of a design. */
const MOST_HEIGHT = 2_200;

export interface Picture {
  /** Without its ending. */
  name: string;
  path: string;
  size: keyof typeof SIZES;
  scheme: "light" | "dark";
  print?: boolean;
  /** The smallest picture that shows it, for what is no page. */
  part?: string;
}

const both = (name: string, path: string): Picture[] => (["desktop", "mobile"] as const).map((size) => ({ name: `${name}-${size}`, path, size, scheme: "light" }));

/** In the order in which they are taken; `incident` is the path of an open one. */
export function allPictures(incident: string): Picture[] {
  const themes = PAGE_THEMES.flatMap((theme) =>
    (["desktop", "mobile"] as const).flatMap((size) => (["light", "dark"] as const).map((scheme): Picture => ({ name: `${theme.replace("_", "-")}-${size}-${scheme}`, path: `/pages/${theme.replace("_", "-")}`, size, scheme }))),
  );
  return [
    ...themes,
    ...both("header-banner", "/pages/banner"),
    ...both("header-center", "/pages/center"),
    ...both("template", "/pages/template"),
    ...both("arabic", "/pages/arabic"),
    { name: "german-mobile", path: "/pages/german", size: "mobile", scheme: "light" },
    ...both("incident", incident),
    ...both("history", "/pages/classic/history"),
    ...both("password", "/pages/locked"),
    ...both("all-operational", "/pages/well"),
    { name: "no-services", path: "/pages/empty", size: "desktop", scheme: "light" },
    { name: "print", path: "/pages/classic", size: "desktop", scheme: "light", print: true },
    { name: "badge", path: "/pages/classic/badge.svg", size: "desktop", scheme: "light", part: "svg" },
  ];
}

/** Taken first, when there is but one page. */
export const START: Picture = { name: "start-page", path: "/", size: "desktop", scheme: "light" };

/** Taken last, when the database is gone. */
export const STALE: Picture = { name: "database-away", path: "/pages/classic", size: "desktop", scheme: "light" };

interface Camera {
  browser: Browser;
  /** http://127.0.0.1:port */
  url: string;
  folder: string;
}

/** Takes one picture; `ready` is a selector of what must be there first, asked for again until it is. */
export async function takePicture({ browser, url, folder }: Camera, { name, path, size, scheme, print, part }: Picture, ready = "html"): Promise<void> {
  const context = await browser.newContext({ viewport: SIZES[size], colorScheme: scheme, locale: "en-GB", timezoneId: "Europe/Berlin", reducedMotion: "reduce" });
  try {
    const page = await context.newPage();
    if (print) await page.emulateMedia({ media: "print" });
    for (let tries = 0; tries < 100; tries++) {
      await page.goto(url + path, { waitUntil: "networkidle" });
      if ((await page.locator(part ?? ready).count()) > 0) break;
    }
    await page.locator(part ?? ready).first().waitFor();
    const { width } = SIZES[size];
    const taken = part ? await page.locator(part).first().screenshot() : await page.screenshot({ fullPage: true, clip: { x: 0, y: 0, width, height: await heightOf(page) } });
    await writeFile(join(folder, `${name}.png`), smallPng(taken));
  } finally {
    await context.close();
  }
}

async function heightOf(page: Page): Promise<number> {
  return Math.min(MOST_HEIGHT, await page.evaluate<number>("document.documentElement.scrollHeight"));
}
