import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { UNLIMITED } from "../platform/rate-limit.ts";
import { startTestControlPlane, type TestControlPlane } from "../testing/control-plane.ts";

let requests = 0;

/** Stands for an edge: tells what arrived, in an answer that is recognisably its own. */
const edge = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const { method, url, headers } = request;
    requests += 1;
    response.writeHead(url === "/api/heartbeat/refused" ? 503 : 202, { "Content-Type": "application/json", "X-Request-Id": headers["x-request-id"] ?? "", "X-RateLimit-Limit": "2147483647", "X-Edge": "yes" });
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(parts).toString("base64") }));
  });
});

interface Arrived {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

let plane: TestControlPlane;
let base: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => edge.listen(0, "127.0.0.1", resolve));
  plane = await startTestControlPlane({ edge: { address: `http://127.0.0.1:${(edge.address() as AddressInfo).port}` } });
  base = await plane.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await plane.stop();
  edge.closeAllConnections();
  edge.close();
});

it.each([
  { method: "POST", path: "/api/beacon?x=1" },
  { method: "OPTIONS", path: "/api/beacon" },
  { method: "POST", path: "/api/metrics/ingest" },
  { method: "POST", path: "/api/heartbeat/nightly-backup" },
  { method: "GET", path: "/api/heartbeat/nightly-backup" },
  { method: "PUT", path: "/api/heartbeat/nightly-backup" },
  { method: "QUERY", path: "/api/heartbeat/nightly-backup" },
  { method: "QUERY", path: "/api/metrics/ingest" },
])("$method $path reaches the edge and its answer comes back whole", async ({ method, path }) => {
  const response = await fetch(`${base}${path}`, { method, headers: { "X-Request-Id": "from-caller" } });
  expect(response.status).toBe(202);
  expect(Object.fromEntries(response.headers)).toMatchObject({ "x-edge": "yes", "x-request-id": "from-caller", "x-ratelimit-limit": "2147483647" });
  expect((await response.json()) as Arrived).toMatchObject({ method, url: path });
});

it.each([
  { name: "gzip", body: gzipSync("{}"), headers: { "Content-Encoding": "gzip", "Content-Type": "application/json" } },
  { name: "any content type", body: Buffer.from("{}"), headers: { "Content-Type": "text/plain;charset=UTF-8" } },
  { name: "gzip sent as text", body: gzipSync("{}"), headers: { "Content-Encoding": "gzip", "Content-Type": "text/plain" } },
  { name: "an odd content type", body: Buffer.from("{}"), headers: { "Content-Type": "nonsense" } },
  { name: "no content type", body: Buffer.from("{}"), headers: {} },
  { name: "bytes that are no text", body: Buffer.from([0, 255, 254, 10, 13]), headers: { "Content-Type": "application/octet-stream" } },
  { name: "broken JSON", body: Buffer.from('{"a":'), headers: { "Content-Type": "application/json" } },
  { name: "nothing", body: Buffer.alloc(0), headers: { "Content-Type": "application/json" } },
  { name: "a large body", body: Buffer.alloc(900_000, "a"), headers: { "Content-Type": "application/json" } },
])("a body of $name passes untouched", async ({ body, headers }) => {
  const arrived = (await (await fetch(`${base}/api/beacon`, { method: "POST", body, headers: headers as Record<string, string> })).json()) as Arrived;
  expect(arrived.body).toBe(body.toString("base64"));
  expect(arrived.headers["content-type"]).toBe((headers as Record<string, string>)["Content-Type"]);
  expect(arrived.headers["content-encoding"]).toBe((headers as Record<string, string>)["Content-Encoding"]);
});

it("the edge learns the client's address, and nothing that only the client says", async () => {
  const ask = async (headers: Record<string, string>) => ((await (await fetch(`${base}/api/beacon`, { method: "POST", headers })).json()) as Arrived).headers["x-forwarded-for"];
  expect(await ask({})).toBe("127.0.0.1");
  expect(await ask({ "X-Forwarded-For": "203.0.113.9, 10.0.0.1" })).toBe("10.0.0.1");
});

it("the API key is passed on, and nothing is counted here", async () => {
  const arrived = (await (await fetch(`${base}/api/metrics/ingest`, { method: "POST", headers: { "X-API-Key": "psk_x", Authorization: "Bearer psk_y" } })).json()) as Arrived;
  expect(arrived.headers).toMatchObject({ "x-api-key": "psk_x", authorization: "Bearer psk_y" });
});

it("a body that no ingest endpoint would take is refused here", async () => {
  const response = await fetch(`${base}/api/beacon`, { method: "POST", body: Buffer.alloc(2_000_000, "a") });
  expect(response.status).toBe(413);
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  expect(((await response.json()) as { code: string }).code).toBe("PAYLOAD_TOO_LARGE");
});

it("a refusal of the edge is passed on, not tried again", async () => {
  const before = requests;
  expect((await fetch(`${base}/api/heartbeat/refused`)).status).toBe(503);
  expect(requests - before).toBe(1);
});

it.each([undefined, "{}", "a".repeat(900_000)])("while the edge is away the answer is 503 with Retry-After", async (body) => {
  const lonely = await startTestControlPlane({ edge: { address: "http://127.0.0.1:9" }, settings: { RATE_LIMIT_ANONYMOUS: "30" } });
  const address = await lonely.app.listen({ host: "127.0.0.1", port: 0 });
  for (const path of ["/api/beacon", "/api/beacon/?x=1"]) {
    const response = await fetch(address + path, { method: "POST", ...(body !== undefined && { body }) });
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("5");
    expect(response.headers.get("x-ratelimit-limit")).toBe(String(UNLIMITED));
    expect(await response.json()).toMatchObject({ code: "UNAVAILABLE" });
  }
  await lonely.stop();
});
