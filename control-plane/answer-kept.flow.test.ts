import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { changeOpinions } from "../domain/services/change-status.ts";
import { inTransaction } from "../platform/postgres/database.ts";
import { apiKeys } from "../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../testing/control-plane.ts";

let plane: TestControlPlane;
let base: string;
/** By how much the plane's clock is ahead of the machine's, in ms. */
let elapsed = 0;
beforeAll(async () => {
  const clock = { now: () => Date.now() + elapsed, monotonic: () => performance.now() + elapsed };
  plane = await startTestControlPlane({ clock, settings: { RATE_LIMIT_STANDARD: "free:20,pro:0,team:0" } });
  base = await plane.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => plane.stop());

const LISTS = ["/services", "/incidents?limit=5"];

/** Over a real connection: `plane.call` begins at Fastify. */
async function ask(path: string, { key = plane.organization.apiKey, method = "GET", headers = {} }: { key?: string; method?: string; headers?: Record<string, string> } = {}) {
  const response = await fetch(`${base}/api/v1${path}`, { method, headers: { "x-api-key": key, ...headers } });
  const text = await response.text();
  const told = Object.fromEntries(response.headers);
  return { status: response.status, headers: told, text, body: (text === "" ? null : JSON.parse(text)) as Record<string, unknown> };
}

async function newKey(body: object): Promise<{ key: string; id: string }> {
  const answer = await plane.call("POST", "/api-keys", { name: "test", ...body });
  return { key: answer.body.key as string, id: (answer.body.api_key as { id: string }).id };
}

describe.each(LISTS)("GET %s", (path) => {
  it("has the same headers and body when it is kept", async () => {
    const first = await ask(path);
    const kept = await ask(path);
    expect(first.status).toBe(200);
    const lasting = ({ status, headers, text }: typeof first) => ({ status, text, headers: { ...headers, date: "", "x-request-id": "", "x-ratelimit-reset": "" } });
    expect(lasting(kept)).toEqual(lasting(first));
    expect((await ask(path, { headers: { "x-request-id": "mine-1" } })).headers["x-request-id"]).toBe("mine-1");
    expect(await ask(path, { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
  });

  it("shows a change as soon as it is committed, whoever made it", async () => {
    await ask(path);
    const seen = new Set<string>();
    for (let n = 0; n < 20; n++) {
      const { body } = await plane.call("POST", "/incidents", { title: `Change ${n}`, message: "m", services: [plane.organization.serviceId], severity: n % 2 ? "major" : "minor" });
      seen.add((await ask(path)).text);
      // As a processor does, past this control plane.
      await inTransaction(plane.database, (tx) => changeOpinions(tx, [{ serviceId: plane.organization.serviceId, source: "metrics", status: n % 2 ? "major_outage" : null, reason: `${n}` }], new Date()));
      await plane.call("PATCH", `/incidents/${String(body.id)}`, { status: "resolved" });
      const now = await ask(path);
      expect(now.body).toEqual((await plane.call("GET", path)).body);
      seen.add(now.text);
    }
    expect(seen.size).toBeGreaterThan(2);
  });

  it("is another organization's own", async () => {
    await ask(path);
    const other = await plane.createOrganization("pro");
    const [own, again] = [await ask(path, { key: other.apiKey }), await ask(path, { key: other.apiKey })];
    expect(own.text).toBe(again.text);
    expect(own.text).not.toContain(plane.organization.serviceId);
  });

  it("is refused without the scope, with a revoked key, and while nobody can say whether it changed", async () => {
    const [scoped, revoked] = [await newKey({ scopes: ["monitors:read"] }), await newKey({ scopes: ["*:*"] })];
    await ask(path);
    expect((await ask(path, { key: scoped.key })).body).toMatchObject({ code: "INSUFFICIENT_SCOPE" });
    expect((await ask(path, { key: revoked.key })).status).toBe(200);
    await plane.database.update(apiKeys).set({ revokedAt: new Date() }).where(eq(apiKeys.id, revoked.id));
    elapsed += 5_000;
    expect(await ask(path, { key: revoked.key })).toMatchObject({ status: 401, body: { code: "UNAUTHENTICATED" } });
    expect((await ask(path)).status).toBe(200);
    await plane.cutPostgres();
    onTestFinished(() => plane.mendPostgres());
    expect(await ask(path)).toMatchObject({ status: 503, body: { code: "UNAVAILABLE" } });
  });
});

it("counts each request once, kept or not, and refuses past the limit", async () => {
  const { apiKey: key } = await plane.createOrganization("free");
  const remaining: string[] = [];
  for (const path of ["/services", "/services", "/incidents", "/services/none", "/incidents"]) remaining.push((await ask(path, { key })).headers["x-ratelimit-remaining"]!);
  expect(remaining).toEqual(["19", "18", "17", "16", "15"]);
  for (let n = 0; n < 15; n++) await ask("/services", { key });
  expect(await ask("/services", { key })).toMatchObject({ status: 429, headers: { "x-ratelimit-remaining": "0" }, body: { code: "RATE_LIMITED" } });
});
