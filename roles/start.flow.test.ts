import { spawn } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PROJECT_ROOT } from "../platform/root.ts";
import { buildService, COMMAND_LINE_PROGRAM, SERVICE_PROGRAM, serviceEnvironment, startServiceProcess, type ServiceProcess } from "../testing/service-process.ts";

let folder: string;
let service: ServiceProcess;

beforeAll(async () => {
  await buildService();
  folder = await mkdtemp(join(tmpdir(), "pharos-start-"));
  service = await startServiceProcess(serviceEnvironment(folder));
});
afterAll(async () => {
  service.child.kill("SIGTERM");
  await service.exited;
  await rm(folder, { recursive: true, force: true });
});

/** Runs a command to its end. */
function run(file: string, args: string[], environment: NodeJS.ProcessEnv): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(file, args, { env: environment, cwd: PROJECT_ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

const start = (environment: NodeJS.ProcessEnv) => run(process.execPath, [SERVICE_PROGRAM], environment);
const pharos = (args: string[], environment: NodeJS.ProcessEnv) => run(process.execPath, [COMMAND_LINE_PROGRAM, ...args], environment);

test("the first start prints keys and three lines to paste, and each of them works", async () => {
  const lines = service.output().split("\n").filter((line) => line.trim().startsWith("curl "));
  expect(lines).toHaveLength(3);
  for (const line of lines) {
    const { code, out, err } = await run("bash", ["-c", `${line.trim()} -s -f`], process.env);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(() => JSON.parse(out) as unknown).not.toThrow();
  }
});

test("the start page, the demo's page, the API description and the probes answer", async () => {
  for (const path of ["/", "/pages/demo", "/docs", "/openapi.json", "/livez", "/readyz", "/metrics"]) {
    const response = await fetch(`${service.base}${path}`);
    await response.arrayBuffer();
    expect({ path, status: response.status }).toEqual({ path, status: 200 });
  }
  const metrics = await (await fetch(`${service.base}/metrics`)).text();
  // Not through a proxy that nobody named: it would look as if this machine asked.
  for (const base of [service.base, service.edge]) expect((await fetch(`${base}/metrics`, { headers: { "X-Forwarded-For": "203.0.113.9" } })).status).toBe(403);
  expect(metrics).toMatch(/pharos_pipeline_lag_events\{topic="beacons",group="errors"\} \d/);
  expect(metrics).toMatch(/pharos_http_request_duration_seconds_count\{method="GET",route="\/pages\/:slug",status="2xx"\} 1\n/);
});

test("one address serves the ingest endpoints as well", async () => {
  const response = await fetch(`${service.base}/api/beacon`, { method: "POST", body: "{}" });
  expect(response.status).toBe(401);
});

test("a second start on the same folder says what holds it and ends with 1", async () => {
  const { code, err } = await start(serviceEnvironment(folder));
  expect(code).toBe(1);
  expect(err).toContain(String(service.child.pid));
  expect(err).toContain("PHAROS_DATA_DIR");
  expect(err).not.toMatch(/\n\s+at /);
});

test("a taken port, a file in place of the folder and bad settings each get a sentence", async () => {
  const other = await mkdtemp(join(tmpdir(), "pharos-bad-"));
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as AddressInfo;
  const busy = await start(serviceEnvironment(join(other, "one"), { PORT: String(port) }));
  expect(busy).toMatchObject({ code: 1 });
  expect(busy.err).toContain(`Port ${port}`);
  const busyEdge = await start(serviceEnvironment(join(other, "one"), { EDGE_PORT: String(port) }));
  expect(busyEdge).toMatchObject({ code: 1 });
  expect(busyEdge.err).toContain("EDGE_PORT");
  taken.close();

  await writeFile(join(other, "file"), "");
  const file = await start(serviceEnvironment(join(other, "file")));
  expect(file).toMatchObject({ code: 1 });
  expect(file.err).toContain(join(other, "file"));

  const faults = await start(serviceEnvironment(join(other, "two"), { PORT: "http", METRICS_WAIT_MS: "-1", DATABASE_URL: "mysql://secret@x" }));
  expect(faults.code).toBe(1);
  for (const name of ["PORT", "METRICS_WAIT_MS", "DATABASE_URL"]) expect(faults.err).toContain(name);
  expect(faults.err).not.toContain("secret");
  await chmod(other, 0o700);
  await rm(other, { recursive: true, force: true });
});

test("the command line makes an organization while the service runs, and its key works at once", async () => {
  const environment = serviceEnvironment(folder);
  const { code, out } = await pharos(["organization", "create", "--name", "Acme", "--plan", "pro", "--json"], environment);
  expect(code).toBe(0);
  const made = JSON.parse(out) as Record<string, string>;
  expect(Object.keys(made)).toEqual(["organization_id", "api_key", "beacon_key", "service_id", "page_id"]);
  const response = await fetch(`${service.base}/api/v1/services`, { headers: { "X-API-Key": made.api_key! } });
  const { services } = (await response.json()) as { services: { id: string }[] };
  expect(services.map(({ id }) => id)).toEqual([made.service_id]);
  const push = await fetch(`${service.edge}/api/metrics/ingest`, { method: "POST", headers: { "X-API-Key": made.api_key! }, body: JSON.stringify({ service_id: made.service_id, metrics: { error_rate: 0 } }) });
  expect(push.status).toBe(200);

  const reader = await pharos(["key", "create", "--organization", made.organization_id!, "--name", "reader", "--scope", "services:read", "--json"], environment);
  const { key } = JSON.parse(reader.out) as { key: string };
  expect((await fetch(`${service.base}/api/v1/incidents`, { headers: { "X-API-Key": key } })).status).toBe(403);
});

test("the command line explains itself", async () => {
  const environment = serviceEnvironment(folder);
  expect(await pharos(["organization", "create", "--plan", "pro"], environment)).toMatchObject({ code: 2, err: expect.stringContaining("--name is required") });
  expect(await pharos(["organization", "create", "--name", "x", "--plan", "gold"], environment)).toMatchObject({ code: 2, err: expect.stringContaining("choose from free, pro, team") });
  expect((await pharos(["status", "--url", service.base], environment)).out).toContain("is ready");
});

test("SIGTERM answers what was taken in and ends with 0 within 10 s", async () => {
  const other = await mkdtemp(join(tmpdir(), "pharos-term-"));
  const mortal = await startServiceProcess(serviceEnvironment(other));
  const key = /bpk_\w{24}/.exec(mortal.output())![0];
  const body = JSON.stringify({ key, events: [{ type: "message", message: "late" }] });
  const requests = Array.from({ length: 200 }, () => fetch(`${mortal.edge}/api/beacon`, { method: "POST", body }).then((response) => response.status));
  await Promise.race(requests);
  const began = performance.now();
  mortal.child.kill("SIGTERM");
  const statuses = await Promise.allSettled(requests);
  expect(await mortal.exited).toBe(0);
  expect(performance.now() - began).toBeLessThan(10_000);
  // A connection that was never accepted may be refused; one that was taken in is answered.
  for (const status of statuses) if (status.status === "fulfilled") expect(status.value).toBe(202);
  await rm(other, { recursive: true, force: true });
});
