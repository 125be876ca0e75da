// Starts dist/ on an empty data folder and free ports, asks it what a visitor and a script would ask, and stops it.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "pharos-ask-"));
const started = Date.now();
const child = spawn(process.execPath, ["dist/main.js"], {
  env: { ...process.env, PHAROS_DATA_DIR: folder, PORT: "0", EDGE_PORT: "0", LOG_LEVEL: "warn" },
  stdio: ["ignore", "pipe", "inherit"],
});
const exited = new Promise((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));

try {
  const banner = await bannerOf(child);
  const base = /http:\/\/[\w.:[\]-]+:\d+/.exec(banner)?.[0];
  const key = /psk_\w{40}/.exec(banner)?.[0];
  if (!base || !key) throw new Error(`the start message names no address or key:\n${banner}`);
  console.log(`ready after ${Date.now() - started} ms at ${base}`);
  await expectStatus(`${base}/readyz`, 200);
  await expectStatus(`${base}/`, 200);
  await expectStatus(`${base}/pages/demo`, 200);
  await expectStatus(`${base}/openapi.json`, 200);
  await expectStatus(`${base}/sdk/pharos.js`, 200);
  await expectStatus(`${base}/api/v1/services`, 401);
  const services = await expectStatus(`${base}/api/v1/services`, 200, { headers: { "X-API-Key": key } });
  const service_id = services.services[0].id;
  const push = await expectStatus(`${base}/api/metrics/ingest`, 200, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify({ service_id, metrics: { error_rate: 12 } }),
  });
  if (push.status_change?.current !== "partial_outage" || !push.incident_created) throw new Error(`the push was answered ${JSON.stringify(push)}`);
  const stopping = Date.now();
  child.kill("SIGTERM");
  const code = await exited;
  if (code !== 0) throw new Error(`it ended with ${code} on SIGTERM`);
  console.log(`stopped after ${Date.now() - stopping} ms`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  child.kill("SIGKILL");
  await exited;
  rmSync(folder, { recursive: true, force: true });
}

async function expectStatus(url, status, options) {
  const response = await fetch(url, options);
  const text = await response.text();
  if (response.status !== status) throw new Error(`${url} answered ${response.status} in place of ${status}: ${text.slice(0, 500)}`);
  return response.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text;
}

/** What the service prints until it says that it is ready. */
async function bannerOf({ stdout }) {
  let text = "";
  for await (const chunk of stdout) {
    text += chunk;
    if (text.includes("Pharos is ready")) return text;
  }
  throw new Error(`it ended before it was ready:\n${text}`);
}
