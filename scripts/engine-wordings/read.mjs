/*
 * Reads how Chromium, Firefox and JavaScriptCore word each failure of `cases.mjs`, for the test of
 * `domain/errors/neutral-error.ts`. Needs `chromium`, `firefox-esr` and `jsc` (Debian:
 * libjavascriptcoregtk-4.0-bin) on the PATH.
 *
 *   node scripts/engine-wordings/read.mjs > domain/errors/engine-wordings.json
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LANGUAGE_CASES, PAGE_CASES } from "./cases.mjs";

const PATIENCE_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), "engine-wordings-"));

/** Runs in the engine: leaves what was thrown in `said`, null for nothing. */
const languageScript = `
  var said = {};
  var told = (error) => (error === undefined ? null : [error.name, String(error.message)]);
  for (const [name, code] of Object.entries(${JSON.stringify(LANGUAGE_CASES)})) {
    try { (0, eval)("(function () {" + code + "\\n})()"); said[name] = null; }
    catch (error) { said[name] = told(error); }
  }`;

const page = `<!doctype html><body><script>${languageScript.replaceAll("</", "<\\/")}
  (async () => {
    for (const [name, code] of Object.entries(${JSON.stringify(PAGE_CASES)})) {
      try {
        const result = (0, eval)("(function () {" + code + "\\n})()");
        await Promise.race([result, new Promise((resolve) => setTimeout(resolve, 3000))]);
        said[name] = null;
      } catch (error) { said[name] = told(error); }
    }
    await fetch("/said", { method: "POST", body: JSON.stringify(said) });
  })();</script>`;

function readShell() {
  const script = join(folder, "language.js");
  writeFileSync(script, `${languageScript}; print(JSON.stringify(said))`);
  return JSON.parse(execFileSync("jsc", [script], { encoding: "utf8" }));
}

/** Lets a browser run the page; resolves with what it said. */
async function readBrowser(command, argumentsFor) {
  let answered;
  const answer = new Promise((resolve, reject) => {
    answered = resolve;
    setTimeout(() => reject(new Error(`${command} did not answer within ${PATIENCE_MS / 1_000} s`)), PATIENCE_MS).unref();
  });
  const server = createServer((request, response) => {
    if (request.url === "/slow") return;
    if (request.url === "/said") {
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => {
        response.end();
        answered(JSON.parse(Buffer.concat(chunks).toString()));
      });
      return;
    }
    const known = { "/": page, "/html": "<!doctype html><p>x", "/empty": "" }[request.url];
    response.writeHead(known === undefined ? 404 : 200, { "Content-Type": "text/html" }).end(known);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const profile = mkdtempSync(join(folder, "profile-"));
  const browser = spawn(command, argumentsFor(profile, `http://127.0.0.1:${server.address().port}/`), { stdio: "ignore" });
  try {
    return await answer;
  } finally {
    browser.kill();
    server.closeAllConnections();
    server.close();
  }
}

const versionOf = (command) => execFileSync(command, ["--version"], { encoding: "utf8" }).trim();
const shellVersion = execFileSync("dpkg-query", ["-W", "-f=${Version}", "libjavascriptcoregtk-4.0-bin"], { encoding: "utf8" });

const said = [
  await readBrowser("chromium", (profile, url) => ["--headless=new", "--no-sandbox", `--user-data-dir=${profile}`, url]),
  await readBrowser("firefox-esr", (profile, url) => ["--headless", "--no-remote", "--profile", profile, url]),
  readShell(),
];
const names = [...Object.keys(LANGUAGE_CASES), ...Object.keys(PAGE_CASES)];
// The port differs from run to run. What only one engine refuses is no failure to compare.
const rows = names
  .map((name) => [name, said.map((each) => each[name]?.map((text) => text?.replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:8080")) ?? null)])
  .filter(([, texts]) => texts.filter(Boolean).length >= 2);
const engines = [versionOf("chromium"), versionOf("firefox-esr"), `JavaScriptCore of WebKitGTK ${shellVersion}`];
console.log(JSON.stringify({ engines, failures: Object.fromEntries(rows) }, null, 2));
rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
process.exit(0);
