import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startTestHouse, type TestHouse } from "../testing/house.ts";

interface Answer {
  success: boolean;
  metrics_received: Record<string, number>;
  status_change?: { previous: string; current: string; reason: string };
  incident_created: { id: string; title: string } | null;
  evaluation?: string;
}

let house: TestHouse;
beforeAll(async () => {
  house = await startTestHouse();
});
afterAll(() => house.stop());

async function makeService(name: string, thresholds?: object): Promise<string> {
  const { body } = await house.call<{ id: string }>("POST", "/services", { name });
  if (thresholds) expect((await house.call("PATCH", `/services/${body.id}`, { thresholds })).status).toBe(200);
  return body.id;
}

async function push(service_id: string, metrics: Record<string, number>, headers: Record<string, string> = {}) {
  const response = await fetch(`${house.edge}/api/metrics/ingest`, {
    method: "POST",
    headers: { Authorization: `Bearer ${house.organization.apiKey}`, "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ service_id, metrics }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer };
}

test("a push over a threshold is answered with the change, opens an incident, and a push below clears it", async () => {
  const service = await makeService("api", { create_incident: true });
  const answer = await push(service, { error_rate: 12 });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-ratelimit-limit")).toBe("10000");
  expect(answer.body).toMatchObject({ success: true, metrics_received: { error_rate: 12 }, status_change: { previous: "operational", current: "partial_outage" } });
  expect(answer.body.incident_created?.id).toMatch(/^[0-9a-f-]{36}$/);

  const { body: incidents } = await house.call<{ incidents: { id: string; services: { id: string }[] }[] }>("GET", `/incidents?service_id=${service}`);
  expect(incidents.incidents.map(({ id }) => id)).toEqual([answer.body.incident_created!.id]);

  const again = await push(service, { error_rate: 13 });
  expect(again.body.status_change).toBeUndefined();
  expect(again.body.incident_created).toBeNull();
});

test("a push below every threshold changes nothing and its answer says so by leaving the change out", async () => {
  const service = await makeService("quiet");
  expect((await push(service, { error_rate: 0.5, custom_queue_depth: 7 })).body).toEqual({
    success: true,
    metrics_received: { error_rate: 0.5, custom_queue_depth: 7 },
    incident_created: null,
  });
});

test("pushes of one service are evaluated in the order of their receipt", async () => {
  const service = await makeService("ordered", { breaches_to_worsen: 3 });
  const changes = [];
  for (const rate of [60, 60, 60, 0]) changes.push((await push(service, { error_rate: rate })).body.status_change?.current);
  expect(changes).toEqual([undefined, undefined, "major_outage", "operational"]);
});

test("200 pushes at once are each answered with their own evaluation", async () => {
  const services = await Promise.all(Array.from({ length: 10 }, (_, number) => makeService(`many ${number}`)));
  const answers = await Promise.all(Array.from({ length: 200 }, (_, number) => push(services[number % 10]!, { response_time_ms: number })));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(answers.map(({ body }) => body.metrics_received.response_time_ms)).toEqual(Array.from({ length: 200 }, (_, number) => number));
});

test("who does not want to wait is answered 202 and the push is applied once", async () => {
  const service = await makeService("patient");
  const answer = await push(service, { cpu_percent: 99 }, { Prefer: "respond-async" });
  expect(answer.status).toBe(202);
  expect(answer.body).toEqual({ success: true, metrics_received: { cpu_percent: 99 }, incident_created: null, evaluation: "pending" });
  await vi.waitFor(async () => expect((await house.call<{ status: string }>("GET", `/services/${service}`)).body.status).toBe("major_outage"), { timeout: 60_000 });
});

test("samples can be read as a series", async () => {
  const service = await makeService("sampled");
  for (const value of [10, 20, 30]) await push(service, { queue_depth: value });
  await vi.waitFor(
    async () => {
      const { body } = await house.call<{ series: { name: string; points: [string, number, number, number][] }[] }>("GET", `/services/${service}/metrics?name=queue_depth`);
      const points = body.series.find(({ name }) => name === "queue_depth")?.points ?? [];
      expect(points.reduce((sum, [, , , count]) => sum + count, 0)).toBe(3);
    },
    { timeout: 60_000, interval: 100 },
  );
});

test("a key without the scope is refused by name", async () => {
  const { body } = await house.call<{ key: string }>("POST", "/api-keys", { name: "reader", scopes: ["services:read"] });
  const service = await makeService("scoped");
  const response = await fetch(`${house.edge}/api/metrics/ingest`, { method: "POST", headers: { "X-API-Key": body.key }, body: JSON.stringify({ service_id: service, metrics: { error_rate: 1 } }) });
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({ error: "Insufficient scope: metrics:write required", code: "INSUFFICIENT_SCOPE" });
});

test("another organization's service is exactly an unknown one", async () => {
  const other = await house.createOrganization("team");
  const own = await push(other.serviceId, { error_rate: 1 });
  const unknown = await push("5c1f8f6e-1111-4222-8333-444455556666", { error_rate: 1 });
  expect({ ...own.body, request_id: "" }).toEqual({ ...unknown.body, request_id: "" });
  expect(own.status).toBe(404);
});
