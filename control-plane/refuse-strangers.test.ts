import { request } from "undici";
import { expect, onTestFinished, test, vi } from "vitest";
import { makeApiKey } from "../domain/api-keys/format.ts";
import { makeMetrics } from "../platform/metrics.ts";
import { startTestControlPlane, type TestControlPlane } from "../testing/control-plane.ts";

const PATH = "/api/v1/services";
const MINE = { name: "a key that is known", headers: (plane: TestControlPlane) => ({ "x-api-key": plane.organization.apiKey }) };
const STRANGERS = [
  { name: "no key", headers: () => ({}) },
  { name: "a key as a bearer", headers: (plane: TestControlPlane) => ({ authorization: `Bearer ${plane.organization.apiKey}` }) },
  { name: "what can be no key", headers: () => ({ "x-api-key": "psk_0" }) },
  { name: "two keys", headers: (plane: TestControlPlane) => ({ "x-api-key": [plane.organization.apiKey, plane.organization.apiKey] }) },
  { name: "a key that is not known", headers: () => ({ "x-api-key": makeApiKey().key }) },
];

/** `listening` is the server's own answer, `inside` Fastify's; what differs from time to time is left out. */
async function answersOf(plane: TestControlPlane, url: string, headers: Record<string, string | string[]>, method: "GET" | "HEAD" = "GET") {
  const all = { ...headers, "x-request-id": "asked-for" };
  const listening = await request(url + PATH, { method, headers: all });
  const inside = await plane.app.inject({ method, url: PATH, headers: all });
  const told = (given: Record<string, unknown>) => {
    const { date: _date, connection: _connection, "keep-alive": _keepAlive, "x-ratelimit-remaining": remaining, ...rest } = given;
    return { ...rest, remaining: Number(remaining) > 0, "content-length": String(rest["content-length"]), "x-ratelimit-limit": String(rest["x-ratelimit-limit"]) };
  };
  return {
    listening: { status: listening.statusCode, headers: told({ ...listening.headers, "x-ratelimit-reset": "", "retry-after": "" }), body: withoutSeconds(await listening.body.text()) },
    inside: { status: inside.statusCode, headers: told({ ...inside.headers, "x-ratelimit-reset": "", "retry-after": "" }), body: withoutSeconds(inside.body) },
  };
}

const withoutSeconds = (text: string) => text.replace(/\d+ s,/, "some s,");

test.each(["GET", "HEAD"] as const)("a %s is refused by the server as Fastify would refuse it, and a known key is never", async (method) => {
  const plane = await startTestControlPlane({ settings: { RATE_LIMIT_ANONYMOUS: "30" } });
  onTestFinished(() => plane.stop());
  const url = await plane.app.listen({ port: 0, host: "127.0.0.1" });
  const mine = async () => (await request(url + PATH, { headers: MINE.headers(plane) })).statusCode;
  for (const { name, headers } of STRANGERS) {
    const { listening, inside } = await answersOf(plane, url, headers(plane), method);
    expect(listening.status, name).toBe(401);
    expect(listening, name).toEqual(inside);
  }
  expect(await mine()).toBe(200);
  // Past the limit of its address.
  for (let n = 0; n < 30; n++) await plane.app.inject({ url: PATH });
  for (const { name, headers } of STRANGERS) {
    const { listening, inside } = await answersOf(plane, url, headers(plane), method);
    expect(listening.status, name).toBe(429);
    expect(listening, name).toEqual(inside);
  }
  expect(await mine()).toBe(200);
});

test("each answer is measured by its route and the class of its status, whoever gives it", async () => {
  const metrics = makeMetrics();
  const plane = await startTestControlPlane({ metrics });
  onTestFinished(() => plane.stop());
  const url = await plane.app.listen({ port: 0, host: "127.0.0.1" });
  const mine = MINE.headers(plane);
  const ask = async (path: string, headers: Record<string, string>) => (await request(url + path, { headers })).body.dump();
  await ask(PATH, {});
  // The second is answered from what is kept.
  for (const path of [PATH, PATH, `${PATH}/nothing`, "/api/v1/nothing"]) await ask(path, mine);
  const counts = async () => Object.fromEntries([...(await metrics.text()).matchAll(/^pharos_http_request_duration_seconds_count\{(.*)\} (\d+)$/gm)].map(([, labels, count]) => [labels!.replaceAll(/\w+=|"/g, ""), Number(count)]));
  await vi.waitFor(async () => expect(await counts()).toEqual({ "GET,none,4xx": 2, "GET,/api/v1/services,2xx": 2, "GET,/api/v1/services/:id,4xx": 1 }));
});
