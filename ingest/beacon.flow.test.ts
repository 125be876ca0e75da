import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startTestHouse, type TestHouse } from "../testing/house.ts";

interface Listed {
  errors: { id: string; type: string; message: string; occurrences: number; sessions_affected: number; status: string; release: string }[];
  total: number;
}

let house: TestHouse;
beforeAll(async () => {
  house = await startTestHouse();
});
afterAll(() => house.stop());

const STACK = "TypeError: cart is undefined\n    at checkout (https://shop.example/assets/app.3f9c1b2a.js:10:15)\n    at onclick (https://shop.example/assets/app.3f9c1b2a.js:99:3)";

function send(body: string | Uint8Array | object, headers: Record<string, string> = {}): Promise<Response> {
  const raw = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  return fetch(`${house.edge}/api/beacon`, { method: "POST", body: raw as NonNullable<RequestInit["body"]>, headers: { "Content-Type": "text/plain;charset=UTF-8", ...headers } });
}

function beacon(events: object[], more: object = {}) {
  return { key: house.organization.beaconKey, release: "1.4.0", session_id: "s-1", events, ...more };
}

async function listed(query = ""): Promise<Listed> {
  return (await house.call<Listed>("GET", `/errors${query}`)).body;
}

/** The signature of this message once it has counted so many occurrences. */
function counted(message: string, occurrences: number) {
  return vi.waitFor(
    async () => {
      const found = (await listed()).errors.find((error) => error.message === message);
      expect(found?.occurrences).toBe(occurrences);
      return found!;
    },
    { timeout: 60_000, interval: 50 },
  );
}

test("an error of three sessions is one signature with exact counts", async () => {
  const event = { type: "error", error_type: "TypeError", message: "cart is undefined", stack: STACK };
  for (const session_id of ["s-1", "s-2", "s-3", "s-3"]) {
    const response = await send(beacon([event], { session_id }));
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({ success: true, accepted: 1, rejected: [] });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("x-ratelimit-limit")).toBe("2147483647");
  }
  const signature = await counted("cart is undefined", 4);
  expect(signature).toMatchObject({ type: "TypeError", sessions_affected: 3, status: "new", release: "1.4.0" });
});

test("an event id that is sent again counts once, in another request and in the same", async () => {
  const event = { type: "error", error_type: "Error", message: "sent twice", event_id: randomUUID() };
  await send(beacon([event, event]));
  await send(beacon([event]));
  await counted("sent twice", 1);
  await send(beacon([event, { ...event, event_id: randomUUID() }]));
  await counted("sent twice", 2);
});

test("a bad event is told by its place and its neighbours are kept", async () => {
  const good = { type: "message", message: "neighbour" };
  const response = await send(beacon([good, { type: "error", message: 7 }, { type: "nonsense" }, good]));
  expect(response.status).toBe(202);
  const answer = (await response.json()) as { accepted: number; rejected: { index: number; path: string }[] };
  expect(answer.accepted).toBe(2);
  expect(answer.rejected.map(({ index, path }) => [index, path])).toEqual([
    [1, "/events/1/message"],
    [2, "/events/2/type"],
  ]);
  await counted("neighbour", 2);
});

test("a gzip body is taken in, a bomb and a broken one are refused", async () => {
  const body = gzipSync(JSON.stringify(beacon([{ type: "message", message: "packed" }])));
  expect((await send(body, { "Content-Encoding": "gzip" })).status).toBe(202);
  await counted("packed", 1);
  expect((await send(gzipSync(Buffer.alloc(3_000_000, 32)), { "Content-Encoding": "gzip" })).status).toBe(413);
  expect((await send("not gzip", { "Content-Encoding": "gzip" })).status).toBe(400);
  expect((await send("x", { "Content-Encoding": "br" })).status).toBe(415);
});

test("a body in many pieces is taken in whole", async () => {
  const text = JSON.stringify(beacon([{ type: "message", message: "pieces", tags: { blob: "x".repeat(100_000) } }]));
  const pieces = new ReadableStream({
    async start(controller) {
      for (let at = 0; at < text.length; at += 10_000) {
        controller.enqueue(new TextEncoder().encode(text.slice(at, at + 10_000)));
        await new Promise((resolve) => setImmediate(resolve));
      }
      controller.close();
    },
  });
  const response = await fetch(`${house.edge}/api/beacon`, { method: "POST", body: pieces, duplex: "half" } as RequestInit);
  expect(response.status).toBe(202);
  await counted("pieces", 1);
});

test("an origin outside the key's list is refused, one inside it is taken", async () => {
  const { body: key } = await house.call<{ id: string; key: string }>("POST", "/beacon-keys", { name: "shop", service_id: house.organization.serviceId, allowed_origins: ["https://shop.example"] });
  const body = { key: key.key, events: [{ type: "message", message: "from the shop" }] };
  expect((await send(body, { Origin: "https://evil.example" })).status).toBe(403);
  expect((await send(body)).status).toBe(403);
  expect((await send(body, { Origin: "https://shop.example" })).status).toBe(202);
});

test("a beacon key stops working within 5 s of its deletion", async () => {
  const { body: key } = await house.call<{ id: string; key: string }>("POST", "/beacon-keys", { name: "short-lived", service_id: house.organization.serviceId });
  const body = { key: key.key, events: [{ type: "message", message: "short-lived" }] };
  expect((await send(body)).status).toBe(202);
  expect((await house.call("DELETE", `/beacon-keys/${key.id}`)).status).toBe(200);
  // Well below the minute for which an edge that hears of no change remembers a key; a busy machine may be late with the 5 s.
  await vi.waitFor(async () => expect((await send(body)).status).toBe(401), { timeout: 20_000, interval: 50 });
});

test("the preflight of a browser is answered", async () => {
  const response = await fetch(`${house.edge}/api/beacon`, { method: "OPTIONS", headers: { Origin: "https://shop.example", "Access-Control-Request-Method": "POST" } });
  expect(response.status).toBe(204);
  expect(response.headers.get("access-control-allow-methods")).toContain("POST");
});

test("another organization sees none of it", async () => {
  const other = await house.createOrganization("pro");
  const { body } = await house.call<Listed>("GET", "/errors", undefined, { "X-API-Key": other.apiKey });
  expect(body).toEqual({ errors: [], total: 0 });
});
