import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startTestHouse, type TestHouse } from "../testing/house.ts";

let house: TestHouse;
beforeAll(async () => {
  house = await startTestHouse({ OVERFLOW_FROM_BYTES: "10000" });
});
afterAll(() => house.stop());

async function beacon(key: string, message: string): Promise<void> {
  const response = await fetch(`${house.edge}/api/beacon`, { method: "POST", body: JSON.stringify({ key, session_id: `s${Math.random()}`, events: [{ type: "message", message }] }) });
  await response.arrayBuffer();
  expect(response.status).toBe(202);
}

async function occurrences(apiKey: string): Promise<number> {
  const { body } = await house.call<{ errors: { occurrences: number }[] }>("GET", "/errors", undefined, { "X-API-Key": apiKey });
  return body.errors.reduce((sum, each) => sum + each.occurrences, 0);
}

const sizes = async (topic: "beacons" | "beacons-overflow") => Number((await house.pharos.house.eventLog.ends(topic)).reduce((sum, end) => sum + end, 0n));

test("an organization that sends more than its share is processed apart, and nothing is lost on the way over", async () => {
  const [hot, calm] = [house.organization, await house.createOrganization("free")];
  const sent = { hot: 0, calm: 0 };
  const metrics = async () => (await fetch(`${house.base}/metrics`)).text();
  for (const until = Date.now() + 60_000; (await sizes("beacons-overflow")) < 50 && Date.now() < until; ) {
    await Promise.all([...Array.from({ length: 50 }, () => beacon(hot.beaconKey, "flood")), beacon(calm.beaconKey, "drop")]);
    sent.hot += 50;
    sent.calm += 1;
  }
  expect(await metrics()).toMatch(/pharos_edge_floods 1\n/);
  const before = [await sizes("beacons"), await sizes("beacons-overflow")];
  await beacon(calm.beaconKey, "drop");
  sent.calm += 1;
  expect([await sizes("beacons"), await sizes("beacons-overflow")]).toEqual([before[0]! + 1, before[1]]);
  await vi.waitFor(async () => expect([await occurrences(hot.apiKey), await occurrences(calm.apiKey)]).toEqual([sent.hot, sent.calm]), { timeout: 60_000, interval: 200 });
}, 120_000);
