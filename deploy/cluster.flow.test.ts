import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createOrganization } from "../domain/organizations/create.ts";
import { readConfig } from "../platform/config.ts";
import { makeLog } from "../platform/log.ts";
import { openDatabase } from "../platform/postgres/database.ts";
import type { Role } from "../schemas/vocabulary.ts";
import { kafkaAvailable } from "../testing/kafka.ts";
import { buildService } from "../testing/service-process.ts";
import { findNginx } from "./cluster/gateway.ts";
import { startCluster, type Cluster } from "./cluster/start.ts";

const LIMIT = 40;

/** The machine may be busy with other tests. */
const PATIENT = { timeout: 60_000, interval: 250 };

function canRun(): boolean {
  const nginx = findNginx() !== null;
  if (!nginx && process.env.PHAROS_TEST_REQUIRE?.split(",").includes("nginx")) throw new Error("nginx is required by PHAROS_TEST_REQUIRE and is not installed (scripts/install-nginx)");
  return nginx && kafkaAvailable().available;
}

describe.runIf(canRun())("several processes behind the gateway", () => {
  let folder: string;
  let cluster: Cluster;

  beforeAll(async () => {
    await buildService();
    folder = await mkdtemp(join(tmpdir(), "pharos-cluster-"));
    const read = readConfig({ PHAROS_DATA_DIR: folder, PORT: "0" });
    if ("faults" in read) throw new Error(read.faults.join("\n"));
    const env = { ...process.env, LOG_LEVEL: "warn", RATE_LIMIT_STANDARD: `free:${LIMIT},pro:${LIMIT},team:0`, WORKER_THREADS: "1" };
    cluster = await startCluster({ config: read.config, env, log: makeLog("silent"), onLost: (sentence) => expect.fail(sentence) });
  }, 240_000);
  afterAll(async () => {
    await cluster?.stop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  interface Answer<Body> {
    status: number;
    headers: Headers;
    body: Body;
  }

  async function call<Body = Record<string, unknown>>(method: string, path: string, body?: unknown, headers: Record<string, string> = { "X-API-Key": cluster.demo!.apiKey }): Promise<Answer<Body>> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(`${cluster.url}${path}`, { method, headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers }, ...(body !== undefined && { body: text }) });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
  }

  const beacon = (message: string) => call("POST", "/api/beacon", { key: cluster.demo!.beaconKey, session_id: `s${Math.random()}`, events: [{ type: "message", message }] }, {}).then(({ status }) => status);

  async function counted(message: string): Promise<number> {
    const { body } = await call<{ errors: { message: string; occurrences: number }[] }>("GET", "/api/v1/errors?limit=100");
    return body.errors.find((error) => error.message === message)?.occurrences ?? 0;
  }

  const first = (role: Role) => cluster.processes.find((each) => each.role === role && each.running())!;

  test("beacons become errors, whichever edge takes them", async () => {
    const statuses = await Promise.all(Array.from({ length: 60 }, () => beacon("through the gateway")));
    expect(new Set(statuses)).toEqual(new Set([202]));
    await vi.waitFor(async () => expect(await counted("through the gateway")).toBe(60), PATIENT);
  }, 90_000);

  test("a heartbeat comes up", async () => {
    const made = await call<{ id: string }>("POST", "/api/v1/heartbeat-monitors", { name: "job", slug: "job", schedule_type: "interval", interval_seconds: 60, grace_seconds: 60 });
    expect(made.status).toBe(201);
    expect(await call("POST", "/api/heartbeat/job", { status: "ok" })).toMatchObject({ status: 200, body: { success: true, monitor_id: made.body.id } });
    await vi.waitFor(async () => expect((await call("GET", "/api/heartbeat/job")).body).toMatchObject({ status: "up" }), PATIENT);
  }, 90_000);

  test("a push is answered with its evaluation by either edge", async () => {
    const edges = cluster.processes.filter(({ role }) => role === "edge");
    const urls = [cluster.url, ...edges.map(({ port }) => `http://127.0.0.1:${port}`)];
    const service = await call<{ id: string }>("POST", "/api/v1/services", { name: "Pushed" });
    let errorRate = 0;
    for (const url of urls) {
      // The first push of a new consumer may meet its start, and is then answered 202.
      await vi.waitFor(async () => {
        errorRate = errorRate === 12 ? 0 : 12;
        const response = await fetch(`${url}/api/metrics/ingest`, { method: "POST", headers: { Authorization: `Bearer ${cluster.demo!.apiKey}` }, body: JSON.stringify({ service_id: service.body.id, metrics: { error_rate: errorRate } }) });
        const body = (await response.json()) as { status_change?: { current: string } };
        expect(response.status).toBe(200);
        expect(body.status_change?.current).toBe(errorRate === 12 ? "partial_outage" : "operational");
      }, PATIENT);
    }
  }, 180_000);

  test("a key's limit is exact over both control planes, and so is that of an address without a key", async () => {
    const database = openDatabase(cluster.databaseUrl, 1, makeLog("silent"));
    const organizations = await Promise.all(Array.from({ length: 6 }, (_, n) => createOrganization(database, { name: `Limited ${n}`, plan: "pro" })));
    await database.$client.end();
    await untilMinuteBegins();
    for (const { apiKey } of organizations) {
      const answers = await Promise.all(Array.from({ length: LIMIT + 10 }, () => call("GET", "/api/v1/services", undefined, { "X-API-Key": apiKey })));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(LIMIT);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
    }
    const strangers = await Promise.all(Array.from({ length: 20 }, () => call("GET", "/api/v1/services", undefined, {})));
    expect(new Set(strangers.map(({ headers }) => headers.get("x-ratelimit-remaining"))).size).toBe(20);
  }, 120_000);

  test("the client's address comes through, and one written by the client does not", async () => {
    const remaining = async (forwarded: string) => Number((await call("GET", "/api/v1/services", undefined, { "X-Forwarded-For": forwarded })).headers.get("x-ratelimit-limit"));
    expect(await remaining("203.0.113.9")).toBeGreaterThan(0);
    const audit = async () => (await call<{ entries: { ip: string }[] }>("GET", "/api/v1/audit-log?limit=1")).body.entries[0]!.ip;
    // Whatever a client writes, the gateway says whom it heard from.
    await call("POST", "/api/v1/services", { name: "Traced" }, { "X-API-Key": cluster.demo!.apiKey, "X-Forwarded-For": "198.51.100.1, 203.0.113.9" });
    expect(await audit()).toBe("127.0.0.1");
  });

  test("a body that is too large is told so as everywhere, to any origin", async () => {
    const { status, headers, body } = await call("POST", "/api/beacon", "x".repeat(257 * 1024), { Origin: "https://shop.example" });
    expect({ status, code: body.code, origin: headers.get("access-control-allow-origin") }).toEqual({ status: 413, code: "PAYLOAD_TOO_LARGE", origin: "*" });
    expect(headers.get("x-request-id")).toBe(body.request_id);
    expect(await call("GET", "/metrics")).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  });

  test("after kill -9 of an edge, a processor and a control plane it goes on answering, and nothing is lost", async () => {
    let taken = 0;
    const enough = new AbortController();
    onTestFinished(() => enough.abort());
    const senders = Array.from({ length: 4 }, async () => {
      while (!enough.signal.aborted) if ((await beacon("over the kill")) === 202) taken += 1;
    });
    await vi.waitFor(() => expect(taken).toBeGreaterThan(50), PATIENT);
    const killed = (["edge", "processor", "control-plane"] as const).map(first);
    for (const each of killed) each.signal("SIGKILL");
    for (const each of killed) expect(await each.exited()).toBe(128 + 9);
    const before = taken;
    await vi.waitFor(() => expect(taken).toBeGreaterThan(before + 100), PATIENT);
    const answers = await Promise.all(Array.from({ length: 20 }, () => call("GET", "/api/v1/services")));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    enough.abort();
    await Promise.all(senders);

    // Those that got no answer from the killed edge may have been taken; at most one of each sender.
    await vi.waitFor(async () => expect(await counted("over the kill")).toBeGreaterThanOrEqual(taken), PATIENT);
    expect(await counted("over the kill")).toBeLessThanOrEqual(taken + senders.length);
    await Promise.all(killed.map((each) => each.start()));
    await vi.waitFor(async () => expect(await beacon("after the kill")).toBe(202), PATIENT);
  }, 240_000);

  test("without a living control plane the answer is a 503 that says so, and ingest goes on", async () => {
    const planes = cluster.processes.filter(({ role }) => role === "control-plane");
    await Promise.all(planes.map((each) => each.end(10_000)));
    const away = await call("GET", "/api/v1/services");
    expect(away).toMatchObject({ status: 503, body: { code: "UNAVAILABLE" } });
    expect(away.headers.get("retry-after")).toBe("5");
    expect(await beacon("without a control plane")).toBe(202);
    await Promise.all(planes.map((each) => each.start()));
    await vi.waitFor(async () => expect((await call("GET", "/api/v1/services")).status).toBe(200), PATIENT);
  }, 120_000);

  test("stopping ends every process within 20 s", async () => {
    const pids = [...cluster.processes.map((each) => each.pid()), cluster.kafka.pid, cluster.gateway.pid];
    const began = performance.now();
    await cluster.stop();
    expect(performance.now() - began).toBeLessThan(20_000);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  }, 60_000);
});

/** Limits count in the wall's minutes: waits for the next one when this one is about to end. */
async function untilMinuteBegins(): Promise<void> {
  await vi.waitFor(() => expect(new Date().getSeconds()).toBeLessThan(30), { timeout: 35_000, interval: 100 });
}
