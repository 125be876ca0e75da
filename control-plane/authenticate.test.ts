import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { makeApiKey } from "../domain/api-keys/format.ts";
import { apiKeys } from "../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../testing/control-plane.ts";
import { route } from "./route.ts";
import { ALL_ROUTES } from "./routes/all.ts";

/** Needs a valid key and nothing of Postgres. */
const quiet = route({ method: "GET", path: "/quiet", scope: ["services:read", "monitors:read"], tag: "Test", summary: "Says nothing", response: z.object({}), handle: async () => ({}) });

let plane: TestControlPlane;
/** By how much the plane's clock is ahead of the machine's, in ms. */
let elapsed = 0;
beforeAll(async () => {
  plane = await startTestControlPlane({ routes: [...ALL_ROUTES, quiet], clock: { now: () => Date.now() + elapsed, monotonic: () => performance.now() + elapsed } });
});
afterAll(() => plane.stop());

async function newKey(scopes: string[], more: Record<string, unknown> = {}): Promise<{ key: string; id: string }> {
  const { status, body } = await plane.call("POST", "/api-keys", { name: "test", scopes, ...more });
  expect(status).toBe(201);
  return { key: body.key as string, id: (body.api_key as { id: string }).id };
}

const ask = (key: string, path = "/services") => plane.call("GET", path, undefined, { "x-api-key": key });

describe("a request below /api/v1", () => {
  it.each([
    { name: "without a key", headers: {}, fix: /X-API-Key header/ },
    { name: "with the key as a bearer", headers: { authorization: "Bearer psk_x" }, fix: /not as Authorization: Bearer/ },
    { name: "with a mistyped key", headers: { "x-api-key": `psk_${"a".repeat(40)}` }, fix: /copied whole/ },
    { name: "with a key that does not exist", headers: { "x-api-key": makeApiKey().key }, fix: /key of this service/ },
    { name: "with nonsense for a key", headers: { "x-api-key": "'; drop table api_keys; --" }, fix: /copied whole/ },
    { name: "with an endless key", headers: { "x-api-key": "a".repeat(8_000) }, fix: /copied whole/ },
  ])("$name is 401", async ({ headers, fix }) => {
    const response = await plane.app.inject({ method: "GET", url: "/api/v1/services", headers: headers as Record<string, string> });
    expect(response.statusCode).toBe(401);
    expect(response.json()).toMatchObject({ code: "UNAUTHENTICATED", fix: expect.stringMatching(fix) as string });
  });

  it("is judged by its key before its address and its body", async () => {
    expect((await plane.app.inject({ method: "GET", url: "/api/v1/nothing" })).statusCode).toBe(401);
    expect((await plane.app.inject({ method: "POST", url: "/api/v1/services", headers: { "content-type": "text/xml" }, payload: "<" })).statusCode).toBe(401);
  });

  it("with an expired key is 401 and says so", async () => {
    const { key, id } = await newKey(["*:*"]);
    await plane.database.execute(sql`update ${apiKeys} set expires_at = now() - interval '1 second' where id = ${id}`);
    const answer = await ask(key);
    expect(answer.status).toBe(401);
    expect(answer.body.error).toMatch(/^This API key expired at \d{4}-/);
  });

  it("with a revoked key is 401 within 5 seconds and says so", async () => {
    const { key, id } = await newKey(["*:*"]);
    expect((await ask(key)).status).toBe(200);
    expect((await plane.call("DELETE", `/api-keys/${id}`)).status).toBe(200);
    elapsed += 5_000;
    const answer = await ask(key);
    expect(answer.status).toBe(401);
    expect(answer.body.error).toBe("This API key was revoked.");
  });
});

describe("a scope", () => {
  it("that the key lacks is named exactly", async () => {
    const { key } = await newKey(["services:write"]);
    const answer = await ask(key);
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({ code: "INSUFFICIENT_SCOPE", error: "Insufficient scope: services:read required" });
  });

  it("is judged before the body", async () => {
    const { key } = await newKey(["services:read"]);
    const answer = await plane.call("POST", "/services", { nonsense: true }, { "x-api-key": key });
    expect(answer.body.error).toBe("Insufficient scope: services:write required");
  });

  it("opens what it names, and one of several is enough", async () => {
    expect((await ask((await newKey(["services:read"])).key)).status).toBe(200);
    expect((await ask((await newKey(["monitors:read"])).key, "/quiet")).status).toBe(200);
  });

  it("that a key does not hold it cannot grant", async () => {
    const { key } = await newKey(["config:write", "services:read"]);
    const grant = (scopes: string[]) => plane.call("POST", "/api-keys", { name: "x", scopes }, { "x-api-key": key });
    expect((await grant(["services:read"])).status).toBe(201);
    expect((await grant(["services:read", "services:write"])).body).toMatchObject({ code: "INSUFFICIENT_SCOPE", error: "Insufficient scope: services:write required" });
    expect((await grant(["*:*"])).body).toMatchObject({ code: "INSUFFICIENT_SCOPE", error: "Insufficient scope: *:* required" });
  });
});

describe("a key that makes and revokes keys", () => {
  const post = (key: string, body: object) => plane.call("POST", "/api-keys", { name: "x", scopes: ["services:read"], ...body }, { "x-api-key": key });
  const inDays = (days: number) => new Date(Date.now() + elapsed + days * 86_400_000).toISOString();

  it("makes none that lives longer than itself", async () => {
    const expiresAt = inDays(2);
    const { key } = await newKey(["config:write", "services:read"], { expires_at: expiresAt });
    for (const expires_at of [null, inDays(3)]) expect((await post(key, { expires_at })).body).toMatchObject({ code: "INVALID_REQUEST", path: "/expires_at", fix: expect.stringContaining(expiresAt) as string });
    expect((await post(key, {})).body).toMatchObject({ api_key: { expires_at: expiresAt } });
    expect((await post(key, { expires_at: inDays(1) })).status).toBe(201);
  });

  it("revokes none that may do more, but itself", async () => {
    const [small, strong, like] = [await newKey(["config:write"]), await newKey(["*:*"]), await newKey(["config:write"])];
    const revoke = (id: string) => plane.call("DELETE", `/api-keys/${id}`, undefined, { "x-api-key": small.key });
    expect((await revoke(strong.id)).body).toMatchObject({ code: "INSUFFICIENT_SCOPE", error: "Insufficient scope: *:* required" });
    expect((await ask(strong.key)).status).toBe(200);
    expect((await revoke(like.id)).status).toBe(200);
    expect((await revoke(small.id)).status).toBe(200);
  });

  it("makes none after it was revoked, although it is still known", async () => {
    const { key, id } = await newKey(["config:write", "services:read"]);
    expect((await post(key, {})).status).toBe(201);
    await plane.database.execute(sql`update ${apiKeys} set revoked_at = now() where id = ${id}`);
    expect((await post(key, {})).body).toMatchObject({ code: "UNAUTHENTICATED", error: "This API key was revoked." });
  });

  it("lists them by pages", async () => {
    const { apiKey } = await plane.createOrganization("pro");
    const list = async (query: string) => ((await plane.call("GET", `/api-keys${query}`, undefined, { "x-api-key": apiKey })).body.api_keys as { name: string }[]).map(({ name }) => name);
    for (const name of ["a", "b"]) expect((await post(apiKey, { name })).status).toBe(201);
    expect(await list("")).toEqual(["b", "a", "First key"]);
    expect(await list("?limit=2&offset=1")).toEqual(["a", "First key"]);
  });

  it("keeps only the newest thousand that were revoked", async () => {
    const { apiKey, organizationId } = await plane.createOrganization("pro");
    await plane.database.execute(sql`
      insert into ${apiKeys} (id, organization_id, name, prefix, hash, scopes, revoked_at)
      select gen_random_uuid(), ${organizationId}, 'old', 'psk_', sha256(convert_to(${organizationId} || n, 'UTF8')), '{services:read}', now() - n * interval '1 minute' from generate_series(1, 1200) as n`);
    expect((await post(apiKey, {})).status).toBe(201);
    const { rows } = await plane.database.execute(sql`select count(*)::int as count, max(now() - revoked_at) < interval '1010 minutes' as newest from ${apiKeys} where organization_id = ${organizationId} and revoked_at is not null`);
    expect(rows).toEqual([{ count: 1_000, newest: true }]);
  });
});

describe("the rate limit", () => {
  it("counts each key by its plan, tells what is left, and refuses with 429", async () => {
    const limited = await startTestControlPlane({ settings: { RATE_LIMIT_STANDARD: "free:2,pro:1000,team:1000" }, clock: { now: () => 600_000, monotonic: () => performance.now() } });
    const { apiKey } = await limited.createOrganization("free");
    const ask = () => limited.call("GET", "/services", undefined, { "x-api-key": apiKey });
    expect((await ask()).headers).toMatchObject({ "x-ratelimit-limit": "2", "x-ratelimit-remaining": "1", "x-ratelimit-reset": "660" });
    expect((await ask()).headers).toMatchObject({ "x-ratelimit-remaining": "0" });
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(refused.body.code).toBe("RATE_LIMITED");
    expect(refused.headers).toMatchObject({ "retry-after": "60", "x-ratelimit-remaining": "0" });
    // Another key is not concerned.
    expect((await limited.call("GET", "/services")).headers["x-ratelimit-limit"]).toBe("1000");
    await limited.stop();
  });

  it("counts requests without a valid key by the client's address", async () => {
    const limited = await startTestControlPlane({ settings: { RATE_LIMIT_ANONYMOUS: "2" } });
    const ask = (address: string, key?: string) =>
      limited.app.inject({ method: "GET", url: "/api/v1/services", headers: { "x-forwarded-for": address, ...(key !== undefined && { "x-api-key": key }) } });
    expect((await ask("203.0.113.1", limited.organization.apiKey)).statusCode).toBe(200);
    expect((await ask("203.0.113.1")).statusCode).toBe(401);
    expect((await ask("203.0.113.1", makeApiKey().key)).statusCode).toBe(401);
    expect((await ask("203.0.113.1")).statusCode).toBe(429);
    expect((await ask("203.0.113.1", limited.organization.apiKey)).statusCode).toBe(200);
    expect((await ask("203.0.113.2")).statusCode).toBe(401);
    await limited.stop();
  });
});

describe("keys that somebody makes up", () => {
  const now = 1_000 * 60_000;

  /** A control plane with few requests for strangers, and how many statements look keys up in its Postgres. */
  async function startCounting() {
    const limited = await startTestControlPlane({ routes: [quiet], settings: { RATE_LIMIT_ANONYMOUS: "20" }, clock: { now: () => now, monotonic: () => performance.now() } });
    onTestFinished(() => limited.stop());
    const spied = vi.spyOn(limited.database.$client, "query");
    const ask = async (address: string, key = makeApiKey().key) => (await limited.app.inject({ method: "GET", url: "/api/v1/quiet", headers: { "x-forwarded-for": address, "x-api-key": key } })).statusCode;
    return { limited, ask, statements: () => spied.mock.calls.filter(([statement]) => JSON.stringify(statement).includes("api_keys")).length };
  }

  it("are not looked up for an address that is over its limit, and do not harm a known key behind it", async () => {
    const { limited, ask, statements } = await startCounting();
    const known = () => ask("203.0.113.1", limited.organization.apiKey);
    expect(await known()).toBe(200);
    const before = statements();
    const statuses = [];
    for (let request = 0; request < 200; request++) statuses.push(await ask("203.0.113.1"));
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), ...Array.from({ length: 180 }, () => 429)]);
    expect(statements() - before).toBeLessThanOrEqual(20);
    expect(await known()).toBe(200);
  });

  it("are looked up together when they come from many addresses, and remembered", async () => {
    const { ask, statements } = await startCounting();
    const keys = Array.from({ length: 500 }, () => makeApiKey().key);
    const askAll = async () => new Set(await Promise.all(keys.map((key, number) => ask(`10.0.${Math.floor(number / 250)}.${number % 250}`, key))));
    expect(await askAll()).toEqual(new Set([401]));
    const before = statements();
    expect(before).toBeLessThan(50);
    expect(await askAll()).toEqual(new Set([401]));
    expect(statements()).toBe(before);
  });

  it("count for the /64 network of an IPv6 address, and a key that was valid takes its count back", async () => {
    const { limited, ask } = await startCounting();
    expect(await ask("2001:db8::1", limited.organization.apiKey)).toBe(200);
    for (let request = 0; request < 20; request++) expect(await ask(`2001:db8::${request}`)).toBe(401);
    expect(await ask("2001:db8::ffff:1")).toBe(429);
    expect(await ask("2001:db8:0:1::1")).toBe(401);
  });
});

describe("while Postgres is away", () => {
  it("a key that was used before works, also long after it was read; an unknown one gets 503, not 401", async () => {
    let elapsed = 0;
    const away = await startTestControlPlane({ routes: [quiet], clock: { now: () => Date.now(), monotonic: () => performance.now() + elapsed } });
    expect((await away.call("GET", "/quiet")).status).toBe(200);
    await away.cutPostgres();
    elapsed = 3_600_000;
    expect((await away.call("GET", "/quiet")).status).toBe(200);
    const unknown = await away.call("GET", "/quiet", undefined, { "x-api-key": makeApiKey().key });
    expect(unknown.status).toBe(503);
    expect(unknown.body).toMatchObject({ code: "UNAVAILABLE", error: expect.stringContaining("key is not known here yet") as string });
    expect((await away.call("GET", "/quiet", undefined, { "x-api-key": "psk_mistyped" })).status).toBe(401);
    await away.stop();
  });
});

it("when a key was used last is written, at the latest when the service stops", async () => {
  const used = await startTestControlPlane();
  const { body } = await used.call("GET", "/api-keys");
  expect(body).toMatchObject({ api_keys: [{ last_used_at: null }] });
  await used.app.close();
  const [row] = await used.database.select().from(apiKeys);
  expect(Date.now() - row!.lastUsedAt!.getTime()).toBeLessThan(60_000);
  await used.stop();
});
