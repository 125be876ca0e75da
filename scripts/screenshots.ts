import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { PROJECT_ROOT } from "../platform/root.ts";
import { startBrowser } from "../testing/browser.ts";
import { makePages } from "./screenshots/pages.ts";
import { allPictures, STALE, START, takePicture, type Picture } from "./screenshots/pictures.ts";
import { insertSamples } from "./screenshots/samples.ts";
import { startStage, type Stage } from "./screenshots/stage.ts";
import { BEGINNING, tellStory } from "./screenshots/story.ts";

/**
 * Takes the pictures of status pages in docs/images/status-pages anew: of a made-up organization on stores of its own, at a fixed moment,
 * with Debian's Chromium (`scripts/install-chromium`). Replaces what is in the folder.
 *
 *   npm run screenshots [part of the names of those to take]
 */
const FOLDER = join(PROJECT_ROOT, "docs/images/status-pages");
const [only = ""] = process.argv.slice(2);

async function takeAll(stage: Stage, browser: Browser): Promise<void> {
  const take = async (picture: Picture, ready?: string) => {
    if (!picture.name.includes(only)) return;
    await takePicture({ browser, url: stage.url, folder: FOLDER }, picture, ready);
    console.log(picture.name);
  };
  const services = await tellStory(stage);
  await insertSamples(stage.clickhouse, stage.organization.organizationId, services);
  await take(START);
  await makePages(stage, services);
  const { incidents } = await stage.call<{ incidents: { id: string }[] }>("GET", "/incidents?limit=1");
  for (const picture of allPictures(`/pages/classic/incidents/${incidents[0]!.id}`)) await take(picture);
  // It must have been seen once.
  await fetch(stage.url + STALE.path);
  await stage.cutPostgres();
  await take(STALE, "#stale .notice");
}

// First, because it is what may be missing: then nothing has been touched.
const browser = await startBrowser();
const stage = await startStage(BEGINNING);
try {
  if (only === "") await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  await takeAll(stage, browser);
} finally {
  await Promise.all([browser.close(), stage.stop()]);
}
const sizes = await Promise.all((await readdir(FOLDER)).map(async (name) => (await stat(join(FOLDER, name))).size));
console.log(`${sizes.length} pictures, ${(sizes.reduce((sum, size) => sum + size, 0) / 1e6).toFixed(1)} MB`);
