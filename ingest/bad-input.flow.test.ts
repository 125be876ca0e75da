import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestHouse, type TestHouse } from "../testing/house.ts";

let house: TestHouse;
beforeAll(async () => {
  house = await startTestHouse();
});
afterAll(() => house.stop());

const json = (value: unknown) => JSON.stringify(value);
const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;

interface Case {
  name: string;
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  status: number;
  code: string;
}

/** Bodies that no endpoint may take; each must be told why, and none may be a 5xx. */
const BODIES: Case[] = [
  { name: "nothing", body: "", status: 400, code: "INVALID_JSON" },
  { name: "cut JSON", body: '{"key": "bpk_', status: 400, code: "INVALID_JSON" },
  { name: "no UTF-8", body: new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), status: 400, code: "INVALID_JSON" },
  { name: "broken gzip", body: "plain", headers: { "Content-Encoding": "gzip" }, status: 400, code: "INVALID_REQUEST" },
  { name: "cut gzip", body: gzipSync(json({ a: "b".repeat(5_000) })).subarray(0, 30), headers: { "Content-Encoding": "gzip" }, status: 400, code: "INVALID_REQUEST" },
  { name: "an unknown encoding", body: "{}", headers: { "Content-Encoding": "zstd" }, status: 415, code: "UNSUPPORTED_MEDIA_TYPE" },
  { name: "a body past the limit", body: json({ x: "y".repeat(300_000) }), status: 413, code: "PAYLOAD_TOO_LARGE" },
  { name: "a gzip bomb", body: gzipSync(Buffer.alloc(5_000_000, 32)), headers: { "Content-Encoding": "gzip" }, status: 413, code: "PAYLOAD_TOO_LARGE" },
];

const METRICS: Case[] = [
  ...BODIES,
  { name: "an array", body: "[]", status: 400, code: "INVALID_REQUEST" },
  { name: "deep nesting", body: `{"service_id":"x","metrics":${deep}}`, status: 400, code: "INVALID_REQUEST" },
  { name: "no service", body: json({ metrics: { error_rate: 1 } }), status: 400, code: "INVALID_REQUEST" },
  { name: "an unknown service", body: json({ service_id: "5c1f8f6e-1111-4222-8333-444455556666", metrics: { error_rate: 1 } }), status: 404, code: "NOT_FOUND" },
  { name: "a service that is no id", body: json({ service_id: "../x", metrics: { error_rate: 1 } }), status: 404, code: "NOT_FOUND" },
  { name: "no metrics", body: json({ service_id: "x", metrics: {} }), status: 400, code: "INVALID_REQUEST" },
  { name: "a percent of 101", body: json({ service_id: "x", metrics: { cpu_percent: 101 } }), status: 400, code: "INVALID_REQUEST" },
  { name: "text for a number", body: json({ service_id: "x", metrics: { error_rate: "12" } }), status: 400, code: "INVALID_REQUEST" },
  { name: "an infinite number", body: '{"service_id":"x","metrics":{"response_time_ms":1e999}}', status: 400, code: "INVALID_REQUEST" },
  { name: "a bad time", body: json({ service_id: "x", metrics: { error_rate: 1 }, timestamp: "yesterday" }), status: 400, code: "INVALID_REQUEST" },
];

const BEACONS: Case[] = [
  ...BODIES,
  { name: "an array", body: "[]", status: 401, code: "UNAUTHENTICATED" },
  { name: "no key", body: json({ events: [] }), status: 401, code: "UNAUTHENTICATED" },
  { name: "a malformed key", body: json({ key: "bpk_x", events: [] }), status: 401, code: "UNAUTHENTICATED" },
  { name: "an unknown key", body: json({ key: `bpk_${"a".repeat(24)}`, events: [{ type: "message", message: "x" }] }), status: 401, code: "UNAUTHENTICATED" },
];

async function expectRefusal(path: string, { body, headers, status, code }: Case): Promise<void> {
  const response = await fetch(`${house.edge}${path}`, { method: "POST", body: (body ?? "") as NonNullable<RequestInit["body"]>, headers: { "X-API-Key": house.organization.apiKey, ...headers } });
  const answer = (await response.json()) as { error: string; code: string; request_id: string };
  expect({ status: response.status, code: answer.code }).toEqual({ status, code });
  expect(answer.error.length).toBeGreaterThan(10);
  expect(answer.request_id).toBe(response.headers.get("x-request-id"));
}

test.each(METRICS)("a metrics push with $name is refused", (each) => expectRefusal("/api/metrics/ingest", each));
test.each(BEACONS)("a beacon with $name is refused", (each) => expectRefusal("/api/beacon", each));

test.each([
  { name: "no events", events: [], path: "/events" },
  { name: "too many events", events: Array.from({ length: 101 }, () => ({ type: "message", message: "x" })), path: "/events" },
  { name: "events that are no list", events: "x", path: "/events" },
  { name: "only bad events", events: [{ type: "error" }, 7], path: "/events/0" },
])("a beacon with $name is refused with its path", async ({ events, path }) => {
  const response = await fetch(`${house.edge}/api/beacon`, { method: "POST", body: json({ key: house.organization.beaconKey, events }) });
  expect(response.status).toBe(400);
  const answer = (await response.json()) as { path: string; code: string };
  expect(answer.code).toBe("INVALID_REQUEST");
  expect(answer.path.startsWith(path)).toBe(true);
});

test.each([
  { name: "no key", headers: {}, status: 401, code: "UNAUTHENTICATED" },
  { name: "a mistyped key", headers: { "X-API-Key": `psk_${"a".repeat(40)}` }, status: 401, code: "UNAUTHENTICATED" },
  { name: "a bearer that is no key", headers: { Authorization: "Bearer nonsense" }, status: 401, code: "UNAUTHENTICATED" },
])("a ping with $name is refused", async ({ headers, status, code }) => {
  const response = await fetch(`${house.edge}/api/heartbeat/backup`, { method: "POST", headers: headers as Record<string, string> });
  expect(response.status).toBe(status);
  expect(((await response.json()) as { code: string }).code).toBe(code);
});

test("an unknown monitor is 404, an unknown path is 404, another method is 405 with Allow", async () => {
  const headers = { "X-API-Key": house.organization.apiKey };
  expect((await fetch(`${house.edge}/api/heartbeat/none`, { method: "POST", headers })).status).toBe(404);
  expect((await fetch(`${house.edge}/api/heartbeat/none`, { headers })).status).toBe(404);
  expect((await fetch(`${house.edge}/api/nothing`, { headers })).status).toBe(404);
  const wrong = await fetch(`${house.edge}/api/metrics/ingest`, { headers });
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get("allow")).toBe("POST");
  expect((await fetch(`${house.edge}/api/heartbeat/none`, { method: "HEAD", headers })).status).toBe(405);
});

test("after every kind of refusal the connection serves the next request", async () => {
  const { hostname, port } = new URL(house.edge);
  const answers = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString();
      if (text.split("HTTP/1.1 ").length <= 3) return;
      resolve(text);
      socket.destroy();
    });
    socket.on("error", reject);
    const body = json({ metrics: {} });
    const request = (key: string) => `POST /api/metrics/ingest HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(request("nobody") + request(house.organization.apiKey) + request("nobody"));
  });
  expect(answers.match(/HTTP\/1\.1 (\d+)/g)).toEqual(["HTTP/1.1 401", "HTTP/1.1 400", "HTTP/1.1 401"]);
});

test("a sane request id is echoed, another is replaced", async () => {
  const ask = (id: string) => fetch(`${house.edge}/api/nothing`, { headers: { "X-Request-Id": id } }).then((response) => response.headers.get("x-request-id"));
  expect(await ask("order-17.a_b")).toBe("order-17.a_b");
  expect(await ask("a b<script>")).not.toContain("script");
});
