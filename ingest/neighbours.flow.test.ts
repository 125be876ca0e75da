import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startTestHouse, type TestHouse } from "../testing/house.ts";

interface Listed {
  errors: { id: string; message: string; occurrences: number }[];
}

let house: TestHouse;
let other: TestHouse["organization"];
beforeAll(async () => {
  house = await startTestHouse();
  other = await house.createOrganization("team");
});
afterAll(() => house.stop());

const beacon = (key: string, events: unknown[]) => fetch(`${house.edge}/api/beacon`, { method: "POST", body: JSON.stringify({ key, session_id: "same", events }) }).then(({ status }) => status);

/** The other organization's signature of a message, once it has counted so many. */
function counted(message: string, occurrences: number, apiKey = other.apiKey) {
  return vi.waitFor(
    async () => {
      const { body } = await house.call<Listed>("GET", "/errors", undefined, { "X-API-Key": apiKey });
      const found = body.errors.find((error) => error.message === message);
      expect(found?.occurrences).toBe(occurrences);
      return found!;
    },
    { timeout: 60_000, interval: 100 },
  );
}

test("an event nested without end costs no neighbour anything, and can be read like any other", async () => {
  const text = `{"key":"${house.organization.beaconKey}","session_id":"same","events":[{"type":"error","error_type":"D","message":"deep","breadcrumbs":[{"fine":1},${"[".repeat(30_000)}${"]".repeat(30_000)}]}]}`;
  const statuses = await Promise.all(
    Array.from({ length: 24 }, (_, number) => (number % 4 === 0 ? fetch(`${house.edge}/api/beacon`, { method: "POST", body: text }).then(({ status }) => status) : beacon(other.beaconKey, [{ type: "error", error_type: "N", message: "neighbour" }]))),
  );
  expect(new Set(statuses)).toEqual(new Set([202]));
  await counted("neighbour", 18);
  const { id } = await counted("deep", 6, house.organization.apiKey);
  const { status, body } = await house.call<{ latest_occurrence: { breadcrumbs: unknown[] } }>("GET", `/errors/${id}`);
  expect(status).toBe(200);
  expect(body.latest_occurrence.breadcrumbs).toEqual([{ fine: 1 }]);
});

test("an event id of one organization says nothing about the same id of another", async () => {
  const event_id = randomUUID();
  expect(await beacon(house.organization.beaconKey, [{ type: "error", error_type: "E", message: "first", event_id }])).toBe(202);
  await counted("first", 1, house.organization.apiKey);
  expect(await beacon(other.beaconKey, [{ type: "error", error_type: "E", message: "second", event_id }])).toBe(202);
  await counted("second", 1);
});

test("a push that begins with a byte order mark is evaluated, and so are those behind it", async () => {
  const push = (body: string | Buffer) => fetch(`${house.edge}/api/metrics/ingest`, { method: "POST", headers: { "X-API-Key": house.organization.apiKey }, body: body as NonNullable<RequestInit["body"]> });
  const service_id = house.organization.serviceId;
  const marked = await push(Buffer.from(`\ufeff${JSON.stringify({ service_id, metrics: { error_rate: 60 } })}`));
  expect(marked.status).toBe(200);
  expect(await marked.json()).toMatchObject({ status_change: { current: "major_outage" } });
  expect((await push(JSON.stringify({ service_id, metrics: { error_rate: 0 } }))).status).toBe(200);
});

/** A request with headers that `fetch` does not let a caller set. */
function raw(path: string, headers: Record<string, string>, body = ""): Promise<number> {
  const { hostname, port } = new URL(house.base);
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, path, method: "POST", headers: { "X-API-Key": house.organization.apiKey, "Content-Length": Buffer.byteLength(body), ...headers } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

test.each<Record<string, string>>([{ Expect: "100-continue" }, { Connection: "Upgrade, HTTP2-Settings", Upgrade: "h2c", "HTTP2-Settings": "AAMAAABkAAQAAP__" }, { "Keep-Alive": "timeout=1" }, { TE: "trailers" }])(
  "ordinary clients' %o is no obstacle on the way to the edge",
  async (headers) => {
    const push = JSON.stringify({ service_id: house.organization.serviceId, metrics: { error_rate: 0 } });
    expect(await raw("/api/metrics/ingest", headers, push)).toBe(200);
  },
);

test.each(["/api/heartbeat/a/b/../c", "/api/heartbeat/..%2f..%2fetc", "/api/heartbeat/%2e%2e%2fconfig"])("%s is not found", async (path) => {
  expect(await raw(path, {})).toBe(404);
});
