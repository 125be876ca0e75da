import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startTestHouse, type TestHouse } from "../testing/house.ts";

let house: TestHouse;
beforeAll(async () => {
  house = await startTestHouse({ EDGE_THREADS: "2" });
});
afterAll(() => house.stop());

/** Of both threads: the kernel spreads connections, and each of these is its own. */
const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(house.edge + path, { method: "POST", body: JSON.stringify(body), headers: { Connection: "close", "Content-Type": "application/json", ...headers } });

test("events that come in on either thread are processed, and pushes hear their evaluation", async () => {
  const { apiKey, beaconKey, serviceId } = house.organization;
  const asKey = { "X-API-Key": apiKey };
  for (let n = 0; n < 20; n++) {
    const event = { type: "error", error_type: "Error", message: "in a thread" };
    expect((await send("/api/beacon", { key: beaconKey, events: [event] })).status).toBe(202);
    const pushed = await send("/api/metrics/ingest", { service_id: serviceId, metrics: { error_rate: 0 } }, asKey);
    expect([pushed.status, await pushed.json()]).toMatchObject([200, { success: true }]);
  }
  const monitor = await house.call("POST", "/heartbeat-monitors", { name: "Job", slug: "job", schedule_type: "interval", interval_seconds: 60 });
  expect(monitor.status).toBe(201);
  await vi.waitFor(async () => expect((await send("/api/heartbeat/job", {}, asKey)).status).toBe(200), { timeout: 10_000 });
  await vi.waitFor(
    async () => {
      const { body } = await house.call<{ errors: { occurrences: number }[] }>("GET", "/errors");
      expect(body.errors.map(({ occurrences }) => occurrences)).toEqual([20]);
    },
    { timeout: 20_000, interval: 100 },
  );
  const status = await fetch(`${house.edge}/api/heartbeat/job`, { headers: asKey });
  expect([status.status, await status.json()]).toMatchObject([200, { status: "up" }]);
});

test("figures are told by thread, and both doors answer the probes of the whole process", async () => {
  for (const base of [house.base, house.edge]) {
    const text = await (await fetch(`${base}/metrics`)).text();
    for (const thread of [1, 2]) expect(text).toContain(`pharos_edge_pending_bytes{thread="${thread}"} 0`);
    expect(text).toContain("pharos_pipeline_lag_events");
    expect(await (await fetch(`${base}/readyz`)).json()).toEqual({ status: "ready" });
  }
});
