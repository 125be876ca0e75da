import { expect, onTestFinished, test } from "vitest";
import { request } from "undici";
import { makeApiKey } from "../domain/api-keys/format.ts";
import { startTestControlPlane } from "../testing/control-plane.ts";
import { startTestHouse } from "../testing/house.ts";
import { BODY_LIMIT } from "./read-body.ts";
import type { Route } from "./route.ts";
import { ALL_ROUTES } from "./routes/all.ts";

const UNLIMITED = "2147483647";

type Headers = Record<string, string | string[] | number | undefined>;

function expectRate(headers: Headers, name: string): void {
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((part) => Number(headers[`x-ratelimit-${part}`]));
  expect(limit, name).toBeGreaterThan(0);
  expect(remaining, name).toBeGreaterThanOrEqual(0);
  expect(remaining, name).toBeLessThanOrEqual(limit!);
  expect(Math.abs(reset! - Date.now() / 1_000), name).toBeLessThan(90);
}

interface Try {
  name: string;
  status: number;
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

const JSON_BODY = { "content-type": "application/json" };
/** Longer than any body may be, of forms too. */
const HUGE = "x".repeat(BODY_LIMIT + 1);

/** What can go wrong with any route before its handler. */
function triesOf(route: Pick<Route, "method" | "path" | "form">, key: string): Try[] {
  const path = `/api/v1${route.path.replace(/:\w+/g, "nothing")}`;
  const { method } = route;
  const mine = { "x-api-key": key };
  const tries: Try[] = [
    { name: "no key", status: 401, method, path },
    { name: "an unknown key", status: 401, method, path, headers: { "x-api-key": makeApiKey().key } },
    { name: "another method", status: 405, method: "TRACE", path, headers: mine },
    { name: "which methods", status: 204, method: "OPTIONS", path, headers: mine },
    { name: "an unknown address", status: 404, method, path: `${path}/nothing/at/all`, headers: mine },
  ];
  if (method === "GET" || method === "DELETE") return tries;
  if (route.form) return [...tries, { name: "a body of another type", status: 415, method, path, headers: { ...mine, "content-type": "text/plain" }, body: "x" }];
  return [
    ...tries,
    { name: "a body that is no JSON", status: 400, method, path, headers: { ...mine, ...JSON_BODY }, body: "{" },
    { name: "a body of another type", status: 415, method, path, headers: { ...mine, "content-type": "text/plain" }, body: "x" },
    { name: "a body that is too large", status: 413, method, path, headers: { ...mine, ...JSON_BODY }, body: HUGE },
  ];
}

test("every answer of the REST API has rate headers, whatever is wrong", async () => {
  const plane = await startTestControlPlane({ settings: { RATE_LIMIT_STANDARD: "free:100000,pro:100000,team:100000", RATE_LIMIT_ANONYMOUS: "100000" } });
  onTestFinished(() => plane.stop());
  const { apiKey } = plane.organization;
  const check = async ({ name, status, method, path, headers = {}, body }: Try): Promise<void> => {
    const answer = (await plane.app.inject({ method: method as "GET", url: path, headers, ...(body !== undefined && { payload: body }) })) as unknown as { statusCode: number; headers: Headers };
    const told = `${method} ${path}: ${name}`;
    expect(answer.statusCode, told).toBe(status);
    expectRate(answer.headers, told);
    if (status === 405 || status === 204) expect(answer.headers.allow, told).toMatch(/^[A-Z, ]+$/);
  };
  for (const route of ALL_ROUTES) for (const each of triesOf(route, apiKey)) await check(each);

  const mine = { "x-api-key": apiKey };
  const narrow = await plane.call("POST", "/api-keys", { name: "narrow", scopes: ["services:read"] });
  await check({ name: "another scope", status: 403, method: "POST", path: "/api/v1/services", headers: { "x-api-key": narrow.body.key as string, ...JSON_BODY }, body: "{}" });
  await check({ name: "a path that cannot be decoded", status: 400, method: "GET", path: "/api/v1/services/%zz", headers: mine });
  await check({ name: "a long id", status: 404, method: "GET", path: `/api/v1/services/${"x".repeat(5_000)}`, headers: mine });
  await check({ name: "a conflict", status: 400, method: "GET", path: "/api/v1/incidents?limit=x", headers: mine });
  await check({ name: "ClickHouse away", status: 503, method: "GET", path: `/api/v1/services/${plane.organization.serviceId}/metrics`, headers: mine });
  await plane.cutPostgres();
  await check({ name: "Postgres away", status: 503, method: "GET", path: "/api/v1/webhooks", headers: mine });
  await check({ name: "Postgres away, an unknown key", status: 503, method: "GET", path: "/api/v1/webhooks", headers: { "x-api-key": makeApiKey().key } });
});

test("every answer of the ingest endpoints has rate headers, of an edge alone and through the control plane; the beacon's say that there is no limit", async () => {
  const house = await startTestHouse({ RATE_LIMIT_ANONYMOUS: "100000" });
  onTestFinished(() => house.stop());
  const { apiKey, beaconKey, serviceId } = house.organization;
  const mine = { "x-api-key": apiKey };
  expect((await house.call("POST", "/heartbeat-monitors", { name: "Job", slug: "job", interval_seconds: 3_600 })).status).toBe(201);
  const { body: narrow } = await house.call<{ key: string }>("POST", "/api-keys", { name: "narrow", scopes: ["services:read"] });
  const push = JSON.stringify({ service_id: serviceId, metrics: { error_rate: 0 } });
  const large = "x".repeat(300 * 1_024);
  const [post, heartbeat, metrics] = [{ method: "POST" }, { path: "/api/heartbeat/job" }, { path: "/api/metrics/ingest" }];
  const keyed: Try[] = [heartbeat, metrics].flatMap((at) => [
    { name: "no key", status: 401, ...post, ...at },
    { name: "an unknown key", status: 401, ...post, ...at, headers: { "x-api-key": makeApiKey().key } },
    { name: "another scope", status: 403, ...post, ...at, headers: { "x-api-key": narrow.key } },
    { name: "another method", status: 405, method: "DELETE", ...at, headers: mine },
    { name: "a body that is no JSON", status: 400, ...post, ...at, headers: mine, body: "{" },
    { name: "a body that is too large", status: 413, ...post, ...at, headers: mine, body: large },
    { name: "a body that is too large, without a key", status: 401, ...post, ...at, body: "x".repeat(70 * 1_024) },
    { name: "an unknown encoding", status: 415, ...post, ...at, headers: { ...mine, "content-encoding": "br" }, body: "x" },
  ]);
  const others: Try[] = [
    { name: "a ping", status: 200, ...post, ...heartbeat, headers: mine },
    { name: "a look", status: 200, method: "GET", ...heartbeat, headers: mine },
    { name: "an unknown monitor", status: 404, ...post, path: "/api/heartbeat/nobody", headers: mine },
    { name: "no monitor at all", status: 404, ...post, path: "/api/heartbeat", headers: mine },
    { name: "a push", status: 200, ...post, ...metrics, headers: mine, body: push },
    { name: "an unknown service", status: 404, ...post, ...metrics, headers: mine, body: push.replace(serviceId, house.organization.organizationId) },
    { name: "nothing there", status: 404, method: "GET", path: "/api/nothing" },
    { name: "nothing below the beacon", status: 404, method: "GET", path: "/api/beacon/nothing" },
  ];
  const beacon = { path: "/api/beacon" };
  const event = { type: "error", message: "Boom", timestamp: new Date().toISOString() };
  const beacons: Try[] = [
    { name: "an event", status: 202, ...post, ...beacon, body: JSON.stringify({ key: beaconKey, events: [event] }) },
    { name: "a preflight", status: 204, method: "OPTIONS", ...beacon },
    { name: "no JSON", status: 400, ...post, ...beacon, body: "{" },
    { name: "no events", status: 400, ...post, ...beacon, body: JSON.stringify({ key: beaconKey, events: [] }) },
    { name: "an unknown key", status: 401, ...post, ...beacon, body: JSON.stringify({ key: `bpk_${"a".repeat(24)}`, events: [event] }) },
    { name: "another method", status: 405, method: "GET", ...beacon },
    { name: "a large body", status: 413, ...post, ...beacon, body: large },
    { name: "a huge body", status: 413, ...post, ...beacon, body: HUGE },
    { name: "an unknown encoding", status: 415, ...post, ...beacon, headers: { "content-encoding": "br" }, body: "x" },
  ];
  for (const base of [house.edge, house.base]) {
    const ask = async ({ name, status, method, path, headers = {}, body }: Try): Promise<{ headers: Headers; told: string }> => {
      const answer = await request(`${base}${path}`, { method: method as "GET", headers, ...(body !== undefined && { body }) });
      await answer.body.dump();
      const told = `${base} ${method} ${path}: ${name}`;
      expect(answer.statusCode, told).toBe(status);
      return { headers: answer.headers, told };
    };
    for (const each of [...keyed, ...others]) {
      const { headers, told } = await ask(each);
      expectRate(headers, told);
      expect(headers["x-ratelimit-limit"], told).not.toBe(UNLIMITED);
    }
    for (const each of beacons) {
      const { headers, told } = await ask(each);
      expectRate(headers, told);
      expect([headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]], told).toEqual([UNLIMITED, UNLIMITED]);
    }
  }
});
