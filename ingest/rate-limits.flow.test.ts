import { Pool } from "undici";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import type { Clock } from "../platform/clock.ts";
import { startTestHouse, type TestHouse } from "../testing/house.ts";

const MINUTE = 60_000;

/** Stands still, so that all of a test falls into one minute whatever the machine takes; each test begins 10 s into a minute of its own. */
let now = Math.floor(Date.now() / MINUTE) * MINUTE + 10_000;
const clock: Clock = { now: () => now, monotonic: () => performance.now() };

let house: TestHouse;
let edge: Pool;
beforeAll(async () => {
  // With the figures of the specification, as they are without any setting.
  house = await startTestHouse({}, clock);
  edge = new Pool(house.edge, { connections: 32 });
});
beforeEach(() => {
  now = (Math.floor(now / MINUTE) + 1) * MINUTE + 10_000;
});
afterAll(async () => {
  await edge.close();
  await house.stop();
});

interface Told {
  status: number;
  limit: number;
  remaining: number;
  reset: number;
  retryAfter: number | null;
}

async function send(path: string, key: string, body?: object, headers: Record<string, string> = {}): Promise<Told> {
  const answer = await edge.request({ path, method: "POST", headers: { "X-API-Key": key, ...headers }, ...(body && { body: JSON.stringify(body) }) });
  await answer.body.dump();
  const figure = (name: string) => Number(answer.headers[name] ?? Number.NaN);
  return {
    status: answer.statusCode,
    limit: figure("x-ratelimit-limit"),
    remaining: figure("x-ratelimit-remaining"),
    reset: figure("x-ratelimit-reset"),
    retryAfter: answer.headers["retry-after"] === undefined ? null : figure("retry-after"),
  };
}

const times = <Value>(count: number, one: () => Promise<Value>) => Promise.all(Array.from({ length: count }, one));

async function makeMonitor(slug: string): Promise<string> {
  const { status } = await house.call("POST", "/heartbeat-monitors", { name: slug, slug, schedule_type: "interval", interval_seconds: 3_600, grace_seconds: 60 });
  expect(status).toBe(201);
  return `/api/heartbeat/${slug}`;
}

/** Counts answers by their status and by the limit that they tell. */
function countOf(answers: readonly Told[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, limit } of answers) counts[`${status} of ${limit}`] = (counts[`${status} of ${limit}`] ?? 0) + 1;
  return counts;
}

const END_OF_MINUTE = () => (Math.floor(now / MINUTE) + 1) * 60;

test("of one monitor exactly 120 pings go through in a minute, also all at once, and again in the next", async () => {
  const [path, other] = [await makeMonitor("tier-one"), await makeMonitor("tier-two")];
  const { apiKey } = house.organization;
  const answers = await times(200, () => send(path, apiKey));
  expect(countOf(answers)).toEqual({ "200 of 120": 120, "429 of 120": 80 });
  // Each that was let through saw another number.
  expect(new Set(answers.filter(({ status }) => status === 200).map(({ remaining }) => remaining))).toEqual(new Set(Array.from({ length: 120 }, (_, left) => left)));
  for (const answer of answers.filter(({ status }) => status === 429)) expect(answer).toEqual({ status: 429, limit: 120, remaining: 0, reset: END_OF_MINUTE(), retryAfter: 50 });
  expect(await send(other, apiKey)).toMatchObject({ status: 200, limit: 120, remaining: 119 });

  now = END_OF_MINUTE() * 1_000 - 1;
  expect(await send(path, apiKey)).toMatchObject({ status: 429, retryAfter: 1 });
  now += 1;
  expect(await send(path, apiKey)).toEqual({ status: 200, limit: 120, remaining: 119, reset: END_OF_MINUTE(), retryAfter: null });
});

test("with one key exactly 10,000 pings are looked at in a minute, refused ones of a busy monitor counted", async () => {
  const path = await makeMonitor("tier-key");
  const { apiKey } = house.organization;
  expect(countOf(await times(10_050, () => send(path, apiKey)))).toEqual({ "200 of 120": 120, "429 of 120": 9_880, "429 of 10000": 50 });
  // The key's REST requests are counted apart.
  expect((await house.call("GET", "/heartbeat-monitors")).status).toBe(200);
  now += MINUTE;
  expect(await send(path, apiKey)).toMatchObject({ status: 200, limit: 120, remaining: 119 });
}, 180_000);

test("pings of monitors that do not exist count for their key before they are looked up", async () => {
  const small = await startTestHouse({ RATE_LIMIT_HEARTBEAT_KEY: "20" }, clock);
  onTestFinished(() => small.stop());
  const ping = (number: number) => fetch(`${small.edge}/api/heartbeat/nobody-${number}`, { method: "POST", headers: { "X-API-Key": small.organization.apiKey } }).then(({ status }) => status);
  const statuses = await Promise.all(Array.from({ length: 50 }, (_, number) => ping(number)));
  expect(statuses.toSorted()).toEqual([...Array.from({ length: 20 }, () => 404), ...Array.from({ length: 30 }, () => 429)]);
});

test("all keys of an organization together have five times the limit of one, for pings and for pushes", async () => {
  const small = await startTestHouse({ RATE_LIMIT_HEARTBEAT_KEY: "4", RATE_LIMIT_METRICS: "free:3,pro:3,team:3" }, clock);
  onTestFinished(() => small.stop());
  const keys: string[] = [];
  for (let key = 0; key < 6; key++) keys.push((await small.call<{ key: string }>("POST", "/api-keys", { name: `Key ${key}`, scopes: ["heartbeat:write", "metrics:write"] })).body.key);
  const ask = async (path: string, key: string, body?: object) => {
    const { status, headers } = await fetch(`${small.edge}${path}`, { method: "POST", headers: { "X-API-Key": key, Prefer: "respond-async" }, ...(body && { body: JSON.stringify(body) }) });
    return `${status} of ${headers.get("x-ratelimit-limit")}`;
  };
  const pings: string[] = [];
  const pushes: string[] = [];
  for (const key of keys) {
    for (let n = 0; n < 4; n++) pings.push(await ask("/api/heartbeat/nobody", key));
    for (let n = 0; n < 3; n++) pushes.push(await ask("/api/metrics/ingest", key, { service_id: small.organization.serviceId, metrics: { error_rate: 0 } }));
  }
  expect(pings.filter((each) => each.startsWith("404"))).toHaveLength(20);
  expect(pings.slice(20)).toEqual(Array.from({ length: 4 }, () => "429 of 20"));
  expect(pushes.filter((each) => each.startsWith("202"))).toHaveLength(15);
  expect(pushes.slice(15)).toEqual(Array.from({ length: 3 }, () => "429 of 15"));
});

test("metrics of a key on the free plan: exactly 100 pushes in a minute", async () => {
  const { apiKey, serviceId } = await house.createOrganization("free");
  const push = () => send("/api/metrics/ingest", apiKey, { service_id: serviceId, metrics: { error_rate: 0 } }, { Prefer: "respond-async" });
  expect(countOf(await times(130, push))).toEqual({ "202 of 100": 100, "429 of 100": 30 });
  now += MINUTE;
  expect(await push()).toMatchObject({ status: 202, remaining: 99 });
});

test("who has no valid key is let ask 300 times in a minute at all endpoints together, and holds up nobody who has one", async () => {
  const path = await makeMonitor("tier-stranger");
  const stranger = `psk_${"x".repeat(40)}`;
  const answers = (await Promise.all([times(200, () => send(path, stranger)), times(200, () => send("/api/metrics/ingest", stranger, {}))])).flat();
  expect(countOf(answers)).toEqual({ "401 of 300": 300, "429 of 300": 100 });
  for (const answer of answers.filter(({ status }) => status === 429)) expect(answer).toMatchObject({ remaining: 0, reset: END_OF_MINUTE(), retryAfter: 50 });
  expect(await send(path, house.organization.apiKey)).toMatchObject({ status: 200 });
  now = END_OF_MINUTE() * 1_000;
  expect(await send(path, stranger)).toMatchObject({ status: 401, limit: 300, remaining: 299 });
});
