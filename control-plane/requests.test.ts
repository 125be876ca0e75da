import { sql } from "drizzle-orm";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { ALL_ROUTES } from "./routes/all.ts";
import { startTestControlPlane, type Answer, type TestControlPlane } from "../testing/control-plane.ts";

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

const UNKNOWN_ID = "5c1f8f6e-1111-4222-8333-444455556666";

/** A POST of raw bytes to /services. */
async function send(payload: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await plane.app.inject({
    method: "POST",
    url: "/api/v1/services",
    headers: { "x-api-key": plane.organization.apiKey, "content-type": "application/json", ...headers },
    payload,
  });
  return { status: response.statusCode, headers: response.headers as Answer["headers"], body: response.json() };
}

function expectFailure(answer: Answer, status: number, code: string): void {
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(answer.body.error).toMatch(/\.$/);
  expect(answer.body.request_id).toBe(answer.headers["x-request-id"]);
  for (const name of ["limit", "remaining", "reset"]) expect(answer.headers[`x-ratelimit-${name}`], name).toMatch(/^\d+$/);
}

describe("a body", () => {
  it.each([
    { name: "is empty", payload: "", status: 400, code: "INVALID_JSON" },
    { name: "is blank", payload: "  \n", status: 400, code: "INVALID_JSON" },
    { name: "is cut", payload: '{"name": "a', status: 400, code: "INVALID_JSON" },
    { name: "is no JSON", payload: "name=a", status: 400, code: "INVALID_JSON" },
    { name: "is no UTF-8", payload: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), status: 400, code: "INVALID_JSON" },
    { name: "is a list", payload: "[]", status: 400, code: "INVALID_REQUEST" },
    { name: "is a text", payload: '"x"', status: 400, code: "INVALID_REQUEST" },
    { name: "is null", payload: "null", status: 400, code: "INVALID_JSON" },
    { name: "is nested without end", payload: "[".repeat(10_000), status: 400, code: "INVALID_JSON" },
    { name: "is nested too deeply", payload: `{"name":${"[".repeat(10_000)}${"]".repeat(10_000)}}`, status: 400, code: "INVALID_REQUEST" },
    { name: "holds a huge number", payload: '{"name":"a","display_order":1e400}', status: 400, code: "INVALID_REQUEST" },
    { name: "holds a number beyond the column", payload: '{"name":"a","display_order":99999999999}', status: 400, code: "INVALID_REQUEST" },
    { name: "is larger than 1 MiB", payload: JSON.stringify({ name: "a".repeat(1_048_576) }), status: 413, code: "PAYLOAD_TOO_LARGE" },
    { name: "is a gzip bomb", payload: gzipSync(Buffer.alloc(20_000_000, 32)), headers: { "content-encoding": "gzip" }, status: 413, code: "PAYLOAD_TOO_LARGE" },
    { name: "is broken gzip", payload: "plain", headers: { "content-encoding": "gzip" }, status: 400, code: "INVALID_REQUEST" },
    { name: "is cut gzip", payload: gzipSync(JSON.stringify({ name: "a".repeat(5_000) })).subarray(0, 20), headers: { "content-encoding": "gzip" }, status: 400, code: "INVALID_REQUEST" },
    { name: "has an unknown encoding", payload: "{}", headers: { "content-encoding": "zstd" }, status: 415, code: "UNSUPPORTED_MEDIA_TYPE" },
    { name: "is a form", payload: "name=a", headers: { "content-type": "application/x-www-form-urlencoded" }, status: 415, code: "UNSUPPORTED_MEDIA_TYPE" },
    { name: "is XML", payload: "<a/>", headers: { "content-type": "text/xml" }, status: 415, code: "UNSUPPORTED_MEDIA_TYPE" },
  ])("that $name is refused with $code", async ({ payload, headers, status, code }) => {
    expectFailure(await send(payload, headers as Record<string, string> | undefined), status, code);
  });

  it("is refused when it is missing", async () => {
    const response = await plane.app.inject({ method: "POST", url: "/api/v1/services", headers: { "x-api-key": plane.organization.apiKey } });
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({ code: "INVALID_JSON" });
  });

  it.each([
    { name: "an unknown field", body: { nmae: "a" }, path: "/nmae", fix: 'Did you mean "name"?' },
    { name: "an unknown field that is near nothing", body: { name: "a", zzz: 1 }, path: "/zzz", fix: /^Its fields are name, / },
    { name: "an unknown field further inside", body: { name: "a", thresholds: { create_incidents: true } }, path: "/thresholds/create_incidents", fix: 'Did you mean "create_incident"?' },
    { name: "a missing field", body: { description: "a" }, path: "/name", error: "name is required." },
    { name: "a wrong type", body: { name: 1 }, path: "/name", error: "name must be a text." },
    { name: "an empty name", body: { name: "  " }, path: "/name", error: "name must not be empty." },
    { name: "a name that is too long", body: { name: "a".repeat(256) }, path: "/name", error: "name must have at most 255 characters." },
    { name: "a value that is none of the allowed", body: { name: "a", status: "degrade" }, path: "/status", fix: 'Did you mean "degraded"?' },
    { name: "a NUL character", body: { name: "a\u0000b" }, path: "/name", error: /NUL/ },
    { name: "a control character in a name", body: { name: "a\u0001b" }, path: "/name", error: "name may hold no control characters other than tabs and line breaks." },
    { name: "a control character in a text", body: { name: "a", description: "red \u001B[31m" }, path: "/description", error: /^description may hold no control characters/ },
    { name: "half of a surrogate pair", body: { name: "a\uD800" }, path: "/name", error: /surrogate/ },
    { name: "a NUL character in a field's name", body: { name: "a", thresholds: { metrics: { "a\u0000": {} } } }, path: "/thresholds/metrics", error: /NUL/ },
    { name: "a field name that has to be escaped", body: { name: "a", "x/y~z": 1 }, path: "/x~1y~0z" },
  ])("with $name is refused with its place", async ({ body, path, fix, error }) => {
    const answer = await plane.call("POST", "/services", body);
    expectFailure(answer, 400, "INVALID_REQUEST");
    expect(answer.body.path).toBe(path);
    if (fix !== undefined) expect(answer.body.fix).toMatch(fix);
    if (error !== undefined) expect(answer.body.error).toMatch(error);
  });

  it.each(['{"name":"a","__proto__":{"isAdmin":true}}', '{"name":"a","thresholds":{"__proto__":1}}', '{"name":"a","constructor":{"prototype":{"isAdmin":true}}}'])("that would change a prototype is refused: %s", async (payload) => {
    expectFailure(await send(payload), 400, "INVALID_REQUEST");
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });

  it("is taken gzipped, and with characters of every plane", async () => {
    const answer = await send(gzipSync(JSON.stringify({ name: "Ünïcödé 🚦 名前" })), { "content-encoding": "gzip" });
    expect(answer.status).toBe(201);
    expect(answer.body.name).toBe("Ünïcödé 🚦 名前");
  });

  it("is taken with tabs and line breaks in its texts", async () => {
    expect(await plane.call("POST", "/services", { name: "a", description: "1\t2\r\n3" })).toMatchObject({ status: 201, body: { description: "1\t2\r\n3" } });
  });

  it("that was stored with control characters is still shown, and can be changed", async () => {
    const made = (await plane.call("POST", "/services", { name: "Old" })).body.id as string;
    await plane.database.execute(sql`update services set name = 'Old' || chr(1), description = chr(27) where id = ${made}`);
    expect(await plane.call("GET", `/services/${made}`)).toMatchObject({ status: 200, body: { name: "Old\u0001", description: "\u001B" } });
    expect(await plane.call("PATCH", `/services/${made}`, { display_order: 3 })).toMatchObject({ status: 200, body: { name: "Old\u0001" } });
    const step = { type: "create_incident", title: "T", message: "m" };
    const { id } = (await plane.call("POST", "/workflows", { name: "w", steps: [step] })).body as { id: string };
    await plane.database.execute(sql`update workflows set name = 'w' || chr(1) where id = ${id}`);
    expect(await plane.call("PATCH", `/workflows/${id}`, { steps: [{ ...step, message: "m\u0001" }] })).toMatchObject({ status: 200, body: { name: "w\u0001" } });
    expect(await plane.call("GET", `/workflows/${id}`)).toMatchObject({ status: 200, body: { steps: [{ message: "m\u0001" }] } });
  });

  it("that is empty is taken where none is expected, whatever its content type", async () => {
    const { body } = await plane.call("POST", "/api-keys", { name: "to delete", scopes: ["services:read"] });
    const { id } = body.api_key as { id: string };
    expect((await plane.call("DELETE", `/api-keys/${id}`, undefined, { "content-type": "application/json" })).status).toBe(200);
  });
});

describe("an address", () => {
  it("that does not exist is 404", async () => {
    expectFailure(await plane.call("GET", "/nothing"), 404, "NOT_FOUND");
    expectFailure(await plane.call("POST", "/nothing/at/all", { a: 1 }, { "content-type": "text/xml" }), 404, "NOT_FOUND");
  });

  it("outside the API that does not exist is 404, and counted below /api", async () => {
    const response = await plane.app.inject({ method: "GET", url: "/api/nothing" });
    expectFailure({ status: response.statusCode, headers: response.headers as Answer["headers"], body: response.json() }, 404, "NOT_FOUND");
    expect((await plane.app.inject({ method: "GET", url: "/nothing" })).json()).toMatchObject({ code: "NOT_FOUND" });
  });

  it("with another method is 405 and says which are offered", async () => {
    const answer = await plane.call("PUT", "/services", {});
    expectFailure(answer, 405, "METHOD_NOT_ALLOWED");
    expect(answer.headers.allow).toBe("GET, HEAD, POST, OPTIONS");
    expect((await plane.call("POST", `/services/${UNKNOWN_ID}`, {})).headers.allow).toBe("GET, HEAD, PATCH, DELETE, OPTIONS");
  });

  it("tells which methods are offered", async () => {
    const answer = await plane.app.inject({ method: "OPTIONS", url: "/api/v1/services", headers: { "x-api-key": plane.organization.apiKey } });
    expect([answer.statusCode, answer.headers.allow, answer.body]).toEqual([204, "GET, HEAD, POST, OPTIONS", ""]);
    expect((await plane.app.inject({ method: "OPTIONS", url: "/nothing" })).statusCode).toBe(404);
  });

  it("with a slash at its end is the same", async () => {
    const made = await plane.call("POST", "/services/?", { name: "Slashed" });
    expect(made.status).toBe(201);
    expect((await plane.call("GET", `/services/${String(made.body.id)}/`)).body).toMatchObject({ name: "Slashed" });
    expect((await plane.call("GET", "/services/?limit=1")).body.services).toHaveLength(1);
    expectFailure(await plane.call("PUT", "/services/", {}), 405, "METHOD_NOT_ALLOWED");
    expectFailure(await plane.call("GET", "/services//"), 404, "NOT_FOUND");
  });

  it("asked by a method that is rarely used is refused as any other", async () => {
    const ask = async (method: string, url: string) => ((await plane.app.inject({ method: method as "GET", url, headers: { "x-api-key": plane.organization.apiKey } })) as unknown as { statusCode: number }).statusCode;
    expect(await ask("QUERY", "/api/v1/services")).toBe(405);
    expect(await ask("QUERY", "/nothing")).toBe(400);
  });

  it("with a malformed id is the same 404 as with an unknown one", async () => {
    const bodies = await Promise.all([UNKNOWN_ID, "nonsense", "a%00b", "..%2F..", "%F0%9F%9A%A6"].map((id) => plane.call("GET", `/services/${id}`)));
    for (const answer of bodies) expectFailure(answer, 404, "NOT_FOUND");
  });

  it.each(ALL_ROUTES.filter(({ method, path }) => path.includes(":") && (method === "GET" || method === "DELETE")).map(({ method, path }) => ({ method, path })))("of $method $path with ids that are no UUIDs is 404, however long they are", async ({ method, path }) => {
    for (const id of ["nonsense", "5c1f8f6e11114222833344445555666", "x".repeat(101), "%F0%9F%9A%A6".repeat(700)]) {
      expectFailure(await plane.call(method, path.replace(/:\w+/g, id)), 404, "NOT_FOUND");
    }
  });

  it("that is known answers 405 with Allow to another method, outside the API too", async () => {
    const ask = async (method: string, url: string) => (await plane.app.inject({ method: method as "GET", url })) as unknown as { statusCode: number; headers: Answer["headers"] };
    for (const [url, allow] of [["/openapi.json", "GET, HEAD, OPTIONS"], ["/sdk", "GET, HEAD, OPTIONS"], ["/pages/test-team", "GET, HEAD, OPTIONS"], ["/pages/test-team/unlock", "GET, HEAD, OPTIONS, POST"], ["/pages/test-team/subscribers", "OPTIONS, POST"]] as const) {
      const { statusCode, headers } = await ask("PUT", url);
      expect([statusCode, headers.allow?.split(", ").toSorted().join(", ")], url).toEqual([405, allow]);
    }
    expect((await ask("PUT", "/nothing")).statusCode).toBe(404);
  });

  it("that is not percent-encoded properly is 400", async () => {
    expectFailure(await plane.call("GET", "/services/%zz"), 400, "INVALID_REQUEST");
  });

  it("is not reached around authentication by writing it otherwise", async () => {
    for (const url of ["/%61pi/v1/services", "/api/%76%31/services", "//api/v1/services", "/api//v1/services", "/api/v1/../v1/services", "/API/V1/services", "/api/v1/services?x=/../", "/api/v1/services;a=b", "/api/v1/services/", "/docs/../api/v1/services"]) {
      const response = await plane.app.inject({ method: "GET", url });
      expect([401, 404], url).toContain(response.statusCode);
    }
  });
});

describe("a query", () => {
  it.each([
    { query: "limit=x", path: "/limit", error: "limit must be an integer." },
    { query: "status=broken", path: "/status" },
    { query: "limit=1&limit=2", path: "/limit", error: "The query parameter limit is given more than once." },
    { query: "status=investigating&limit=1&status=investigating", path: "/status", error: "The query parameter status is given more than once." },
    { query: "nothing=1&nothing=2", path: "/nothing", error: "The query parameter nothing is given more than once." },
    { query: "service_id=a%00", path: "/service_id" },
  ])("with $query is refused with its place", async ({ query, path, error }) => {
    const answer = await plane.call("GET", `/incidents?${query}`);
    expectFailure(answer, 400, "INVALID_REQUEST");
    expect(answer.body.path).toBe(path);
    if (error !== undefined) expect(answer.body.error).toBe(error);
  });

  it("with a limit that is too large is clamped", async () => {
    expect((await plane.call("GET", "/incidents?limit=100000")).status).toBe(200);
  });
});

describe("every answer", () => {
  it("echoes a sane request id and replaces another", async () => {
    const ask = async (id: string) => (await plane.call("GET", "/services", undefined, { "x-request-id": id })).headers["x-request-id"];
    expect(await ask("order-17.a_b")).toBe("order-17.a_b");
    expect(await ask("a b<script>")).not.toContain("script");
    expect(await ask("a".repeat(129))).not.toContain("aaa");
  });

  it("says nothing of what went wrong inside", async () => {
    const broken = await startTestControlPlane({
      routes: [
        {
          method: "GET",
          path: "/broken",
          scope: "services:read",
          tag: "Test",
          summary: "Fails",
          response: z.object({}),
          handle: () => Promise.reject(new Error("password=hunter2 in /etc/secret")),
        },
      ],
    });
    const answer = await broken.call("GET", "/broken");
    expectFailure(answer, 500, "INTERNAL");
    expect(JSON.stringify(answer.body)).not.toMatch(/hunter2|secret/);
    await broken.stop();
  });

  it("is 503 with Retry-After while ClickHouse is away", async () => {
    const answer = await plane.call("GET", `/services/${plane.organization.serviceId}/metrics`);
    expectFailure(answer, 503, "UNAVAILABLE");
    expect(answer.headers["retry-after"]).toBe("5");
  });

  it("is 503 with Retry-After while Postgres is away", async () => {
    const lonely = await startTestControlPlane();
    await lonely.cutPostgres();
    const answer = await lonely.call("GET", "/services");
    expectFailure(answer, 503, "UNAVAILABLE");
    expect(answer.headers["retry-after"]).toBe("5");
    await lonely.stop();
  });
});

describe("bytes that are no HTTP", () => {
  it("are answered in the shape of every error", async () => {
    const address = await plane.app.listen({ host: "127.0.0.1", port: 0 });
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(address).port), "127.0.0.1", () => socket.write("NONSENSE\r\n\r\n"));
      let received = "";
      socket.on("data", (chunk) => (received += chunk.toString()));
      socket.on("close", () => resolve(received));
      socket.on("error", reject);
    });
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(text.slice(text.indexOf("\r\n\r\n")))).toMatchObject({ code: "INVALID_REQUEST" });
    // A method that Fastify itself does not know is nothing to stumble over either.
    expect((await fetch(`${address}/api/v1/services`, { method: "PROPFIND", headers: { "X-API-Key": plane.organization.apiKey } })).status).toBe(405);
  });
});
