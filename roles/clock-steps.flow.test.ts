import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Clock } from "../platform/clock.ts";
import { events, uptimeMonitors } from "../schemas/tables/all.ts";
import { startTestHouse, type TestHouse } from "../testing/house.ts";

const HOUR = 3_600_000;

/** By how much the wall was set, in ms; time itself goes on. */
let set = 0;
const clock: Clock = { now: () => Date.now() + set, monotonic: () => performance.now() };

let asked = 0;
const site = createServer((_, response) => {
  asked++;
  response.end("ok");
});

let house: TestHouse;
beforeAll(async () => {
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  house = await startTestHouse({}, clock);
});
afterAll(async () => {
  await house.stop();
  site.close();
});

interface Shown {
  id: string;
  status: string;
  last_ping_at: string | null;
}

const make = (path: string, body: object) => house.call<Shown>("POST", path, body).then(({ body: made }) => made);
const shown = (path: string) => house.call<Shown>("GET", path).then(({ body }) => body);
const told = async () => (await house.pharos.house.database.select({ type: events.type }).from(events)).map(({ type }) => type);

test("a Pharos whose clock is set forward and back by an hour hears every ping, goes on checking and tells of nothing", async () => {
  const monitor = await make("/heartbeat-monitors", { name: "Job", slug: "job", interval_seconds: 60, grace_seconds: 60, service_id: house.organization.serviceId });
  const silent = await make("/heartbeat-monitors", { name: "Daily", slug: "daily", interval_seconds: 3_600, grace_seconds: 60 });
  const uptime = await make("/uptime-monitors", { name: "Site", url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/`, interval_seconds: 60 });
  // Oftener than people may have it, so that the test need not last for minutes.
  await house.pharos.house.database.update(uptimeMonitors).set({ intervalSeconds: 2 });
  const ping = async () => {
    const before = Date.now() + set;
    await house.call("POST", "/api/heartbeat/job", { status: "ok" });
    // Counted by the time it is now, not by the one before the clock was set.
    await vi.waitFor(async () => expect(Math.abs(Date.parse((await shown(`/heartbeat-monitors/${monitor.id}`)).last_ping_at!) - before)).toBeLessThan(30_000), { timeout: 60_000, interval: 50 });
  };
  await house.call("POST", "/api/heartbeat/daily");
  await ping();
  await vi.waitFor(() => expect(asked).toBeGreaterThan(1), { timeout: 60_000 });

  const before = await told();
  for (const step of [-HOUR, -HOUR]) {
    set += step;
    await ping();
    const soFar = asked;
    await vi.waitFor(() => expect(asked).toBeGreaterThan(soFar + 1), { timeout: 60_000 });
  }
  set += 3 * HOUR;
  // By the wall both are late by far; what was planned by another time waits for a grace of its own.
  for (const { id } of [monitor, silent]) {
    const path = `/heartbeat-monitors/${id}`;
    await vi.waitFor(async () => expect((await shown(path)).status).not.toBe("up"), { timeout: 60_000, interval: 50 });
    expect((await shown(path)).status).toBe("grace");
  }
  await ping();
  expect([(await shown(`/heartbeat-monitors/${monitor.id}`)).status, (await shown(`/uptime-monitors/${uptime.id}`)).status]).toEqual(["up", "up"]);
  expect(await told()).toEqual(before);
});
