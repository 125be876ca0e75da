import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Clock } from "../platform/clock.ts";
import { startTestHouse, type TestHouse } from "../testing/house.ts";
import { makeCertificate, type Certificate } from "../testing/certificate.ts";
import { startReceiver, type Receiver } from "../testing/receiver.ts";

interface Monitor {
  id: string;
  status: string;
  next_expected_at: string | null;
}

const run = promisify(execFile);

/** The time, which the test can let run faster; a leap would look like an outage, after which monitors get their grace anew. */
const pace = { since: Date.now(), from: Date.now(), speed: 1 };
const clock: Clock = { now: () => pace.from + Math.round((Date.now() - pace.since) * pace.speed), monotonic: () => clock.now() };
const runAt = (speed: number) => Object.assign(pace, { from: clock.now(), since: Date.now(), speed });

let folder: string;
let certificate: Certificate;
let receiver: Receiver;
let house: TestHouse;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos-heartbeat-"));
  certificate = makeCertificate();
  receiver = await startReceiver(certificate, (response) => response.writeHead(204).end());
  house = await startTestHouse({ OUTBOUND_CA_FILE: certificate.file }, clock);
});
afterAll(async () => {
  await house.stop();
  await receiver.stop();
  certificate.remove();
  await rm(folder, { recursive: true, force: true });
});

const read = (id: string) => house.call<Monitor>("GET", `/heartbeat-monitors/${id}`).then(({ body }) => body);

async function makeMonitor(slug: string, more: object = {}): Promise<Monitor> {
  const { status, body } = await house.call<Monitor>("POST", "/heartbeat-monitors", { name: slug, slug, schedule_type: "interval", interval_seconds: 60, grace_seconds: 60, ...more });
  expect(status).toBe(201);
  return body;
}

function ping(slug: string, body?: object): Promise<{ status: number; body: { success: boolean; status: string; next_expected_at: string | null } }> {
  return house.call("POST", `/api/heartbeat/${slug}`, body);
}

/** What the webhook has been sent about a monitor, oldest first. */
function eventsAbout(id: string): string[] {
  return receiver.received.map(({ body }) => JSON.parse(body) as { event: string; data: { id: string } }).filter(({ data }) => data.id === id).map(({ event }) => event);
}

test("a script pings with curl and stops: the monitor goes into grace, then down, once, and a signed webhook arrives over TLS", async () => {
  const { body: hook } = await house.call<{ webhook: { id: string }; signing_secret: string }>("POST", "/webhooks", {
    name: "on call",
    url: `${receiver.url}/hook`,
    events: ["heartbeat.missed", "monitor.down", "monitor.up", "service.status_changed"],
  });
  const monitor = await makeMonitor("nightly-backup", { service_id: house.organization.serviceId });
  expect(monitor.status).toBe("new");

  const script = join(folder, "backup.sh");
  await writeFile(script, `set -eu\nfor run in 1 2 3; do curl -fsS -X POST -H "X-API-Key: ${house.organization.apiKey}" "${house.base}/api/heartbeat/nightly-backup"; echo; done\n`);
  const { stdout } = await run("sh", [script]);
  const answers = stdout.trim().split("\n").map((line) => JSON.parse(line) as { success: boolean; monitor_id: string; status: string });
  expect(answers).toHaveLength(3);
  for (const answer of answers) expect(answer).toMatchObject({ success: true, monitor_id: monitor.id, status: "up" });
  await vi.waitFor(async () => expect((await read(monitor.id)).status).toBe("up"), { timeout: 60_000, interval: 50 });

  runAt(15);
  await vi.waitFor(async () => expect((await read(monitor.id)).status).toBe("grace"), { timeout: 60_000, interval: 50 });
  expect(eventsAbout(monitor.id)).toEqual([]);
  await vi.waitFor(async () => expect((await read(monitor.id)).status).toBe("down"), { timeout: 60_000, interval: 50 });
  await vi.waitFor(() => expect(eventsAbout(monitor.id).toSorted()).toEqual(["heartbeat.missed", "monitor.down"]), { timeout: 60_000 });
  expect((await house.call<{ status: string }>("GET", `/services/${house.organization.serviceId}`)).body.status).toBe("major_outage");

  const delivered = receiver.received.find(({ body }) => body.includes("heartbeat.missed"))!;
  expect(delivered.headers["x-service-signature"]).toBe(createHmac("sha256", hook.signing_secret).update(delivered.body).digest("hex"));
  const { "webhook-id": messageId, "webhook-timestamp": sentAt, "webhook-signature": signature } = delivered.headers as Record<string, string>;
  // Not its `verify`, which refuses timestamps that are far from the machine's own clock.
  expect(signature).toBe(new Webhook(hook.signing_secret).sign(messageId!, new Date(Number(sentAt) * 1_000), delivered.body));

  // From here at its own pace, or a slow machine would be late with the next ping.
  runAt(1);
  expect((await ping("nightly-backup")).body.status).toBe("up");
  await vi.waitFor(() => expect(eventsAbout(monitor.id)).toContain("monitor.up"), { timeout: 60_000 });
  expect(eventsAbout(monitor.id).toSorted()).toEqual(["heartbeat.missed", "monitor.down", "monitor.up"]);
  await vi.waitFor(async () => expect((await house.call<{ status: string }>("GET", `/services/${house.organization.serviceId}`)).body.status).toBe("operational"), { timeout: 60_000 });
});

test("a failing run is down at once, and its history can be read with one look", async () => {
  const monitor = await makeMonitor("import");
  await ping("import", { status: "start", run_id: "7" });
  await ping("import", { exit_code: 3, run_id: "7", message: "disk full" });
  await vi.waitFor(async () => expect((await read(monitor.id)).status).toBe("down"), { timeout: 60_000, interval: 50 });
  await vi.waitFor(
    async () => {
      const { body } = await house.call<{ status: string; recent: { status: string; run_id: string; message: string }[] }>("GET", "/api/heartbeat/import");
      expect(body.status).toBe("down");
      expect(body.recent.map(({ status, run_id }) => [status, run_id])).toEqual([
        ["fail", "7"],
        ["start", "7"],
      ]);
      expect(body.recent[0]!.message).toBe("disk full");
    },
    { timeout: 60_000, interval: 100 },
  );
});

test.each([
  ["text", "3 files, 5 MB", "up", { status: "ok", message: "3 files, 5 MB" }],
  ["form", "exit_code=2&message=disk+full", "down", { status: "fail", message: "disk full" }],
])("what curl -d sends as %s is taken", async (kind, body, status, shown) => {
  const slug = `curl-${kind}`;
  await makeMonitor(slug);
  const headers = { "X-API-Key": house.organization.apiKey, "Content-Type": "application/x-www-form-urlencoded" };
  const answer = await fetch(`${house.edge}/api/heartbeat/${slug}/`, { method: "POST", headers, body });
  expect([answer.status, await answer.json()]).toMatchObject([200, { status }]);
  await vi.waitFor(
    async () => {
      const { body: state } = await house.call<{ status: string; recent: object[] }>("GET", `/api/heartbeat/${slug}`);
      expect(state).toMatchObject({ status, recent: [shown] });
    },
    { timeout: 60_000, interval: 100 },
  );
});

test("a bad ping is refused and says why, and pings of one monitor have their own limit", async () => {
  await makeMonitor("limited");
  const bad = await fetch(`${house.edge}/api/heartbeat/limited`, { method: "POST", headers: { "X-API-Key": house.organization.apiKey }, body: "{plain words" });
  expect(bad.status).toBe(400);
  expect(await bad.json()).toMatchObject({ code: "INVALID_JSON", fix: expect.any(String) });
  const large = await fetch(`${house.edge}/api/heartbeat/limited`, { method: "POST", headers: { "X-API-Key": house.organization.apiKey }, body: JSON.stringify({ message: "x".repeat(11_000) }) });
  expect(large.status).toBe(413);

  const statuses = await Promise.all(Array.from({ length: 130 }, () => ping("limited").then(({ status }) => status)));
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(119);
  const refused = await fetch(`${house.edge}/api/heartbeat/limited`, { method: "POST", headers: { "X-API-Key": house.organization.apiKey } });
  if (refused.status === 429) expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("a body of 10 KiB is kept to its last character, one byte more is refused, packed or not", async () => {
  await makeMonitor("wordy");
  const frame = Buffer.byteLength(JSON.stringify({ message: "" }));
  const message = `${"é".repeat((10_240 - frame - 4) / 2)}last`;
  const body = JSON.stringify({ message });
  const send = (bytes: Uint8Array, headers: Record<string, string> = {}) => fetch(`${house.edge}/api/heartbeat/wordy`, { method: "POST", headers: { "X-API-Key": house.organization.apiKey, ...headers }, body: bytes as Uint8Array<ArrayBuffer> }).then(({ status }) => status);
  expect(Buffer.byteLength(body)).toBe(10_240);
  const longer = Buffer.from(JSON.stringify({ message: `${message}.` }));
  expect([await send(longer), await send(gzipSync(longer), { "Content-Encoding": "gzip" })]).toEqual([413, 413]);
  expect(await send(gzipSync(Buffer.from(body)), { "Content-Encoding": "gzip" })).toBe(200);
  await vi.waitFor(
    async () => {
      const { body: state } = await house.call<{ recent: { message: string }[] }>("GET", "/api/heartbeat/wordy");
      expect(state.recent.map((each) => each.message)).toEqual([message]);
    },
    { timeout: 60_000, interval: 100 },
  );
});

test("runs with names are paired on their way through edge and log, and a run in progress is shown", async () => {
  const monitor = await makeMonitor("runs", { max_runtime_seconds: 600 });
  interface Shown {
    status: string;
    running_since: string | null;
    run_exceeded: boolean;
    last_duration_ms: number | null;
  }
  const shown = (path: string) => house.call<Shown>("GET", path).then(({ body: { status, running_since, run_exceeded, last_duration_ms } }) => ({ status, running: running_since !== null, run_exceeded, measured: last_duration_ms !== null }));
  await ping("runs", { status: "start", run_id: "b" });
  // The start of a had to wait somewhere: it comes after its own end.
  await ping("runs", { run_id: "a" });
  await ping("runs", { status: "start", run_id: "a" });
  for (const path of [`/heartbeat-monitors/${monitor.id}`, "/api/heartbeat/runs"]) {
    await vi.waitFor(async () => expect(await shown(path)).toEqual({ status: "up", running: true, run_exceeded: false, measured: false }), { timeout: 60_000, interval: 50 });
  }
  await ping("runs", { run_id: "b" });
  await vi.waitFor(async () => expect(await shown("/api/heartbeat/runs")).toEqual({ status: "up", running: false, run_exceeded: false, measured: true }), { timeout: 60_000, interval: 50 });
});

test("a metrics push ends as a signed webhook of the incident it opened", async () => {
  await house.call("PATCH", `/services/${house.organization.serviceId}`, { thresholds: { create_incident: true } });
  await house.call("POST", "/webhooks", { name: "incidents", url: `${receiver.url}/incidents`, events: ["incident.created"] });
  const { body } = await house.call<{ status_change: { current: string }; incident_created: { id: string } }>("POST", "/api/metrics/ingest", {
    service_id: house.organization.serviceId,
    metrics: { error_rate: 12 },
  });
  expect(body.status_change.current).toBe("partial_outage");
  await vi.waitFor(() => expect(eventsAbout(body.incident_created.id)).toEqual(["incident.created"]), { timeout: 60_000 });
});

test("a receiver on a private address is refused when the operator allows none", async () => {
  const { status, body } = await house.call<{ code: string; fix: string }>("POST", "/webhooks", { name: "inside", url: "https://10.0.0.1/", events: ["incident.created"] });
  expect(status).toBe(400);
  expect(body.code).toBe("INVALID_REQUEST");
  expect(body.fix).toContain("OUTBOUND_ALLOW");
});
