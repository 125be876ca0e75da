import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

const EXECUTABLE = process.env.PHAROS_TEST_CHROMIUM ?? "/usr/bin/chromium";

/** Whether tests can drive a real Chromium; with PHAROS_TEST_REQUIRE=browser its absence is a failure. */
export function browserAvailable(): boolean {
  if (existsSync(EXECUTABLE)) return true;
  const reason = `${EXECUTABLE} is not there (set PHAROS_TEST_CHROMIUM, or install Debian's chromium)`;
  if ((process.env.PHAROS_TEST_REQUIRE ?? "").split(",").includes("browser")) throw new Error(`PHAROS_TEST_REQUIRE names the browser, but ${reason}`);
  process.stderr.write(`Tests in a browser do not run: ${reason}.\n`);
  return false;
}

/** A headless Chromium that asks nothing of the network by itself; it finds no host but this one. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: EXECUTABLE,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"],
  });
}
