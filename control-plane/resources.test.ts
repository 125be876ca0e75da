import { asc, eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CreatedOrganization } from "../domain/organizations/create.ts";
import { isWellFormedApiKey } from "../domain/api-keys/format.ts";
import { auditEntries } from "../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../testing/control-plane.ts";

let plane: TestControlPlane;
let other: CreatedOrganization;
beforeAll(async () => {
  plane = await startTestControlPlane();
  other = await plane.createOrganization("team");
});
afterAll(() => plane.stop());

const UNKNOWN_ID = "5c1f8f6e-1111-4222-8333-444455556666";

const asOther = () => ({ "x-api-key": other.apiKey });

async function auditOf(resourceId: string) {
  return plane.database.select().from(auditEntries).where(eq(auditEntries.resourceId, resourceId)).orderBy(asc(auditEntries.createdAt));
}

/** The answer to another organization is the one to an id that does not exist, but for the request's id. */
async function expectHidden(method: "GET" | "PATCH" | "DELETE" | "PUT", path: (id: string) => string, id: string, body?: unknown): Promise<void> {
  const ask = (id: string) => plane.call(method, path(id), body, { ...asOther(), "x-request-id": "same" });
  const [foreign, unknown, malformed] = await Promise.all([ask(id), ask(UNKNOWN_ID), ask("nonsense")]);
  expect(foreign.status).toBe(404);
  expect(foreign.body).toEqual(unknown.body);
  expect(foreign.body).toEqual(malformed.body);
}

describe("API keys", () => {
  it("are shown once, listed without themselves, and audited without secrets", async () => {
    const created = await plane.call("POST", "/api-keys", { name: " Deploy ", scopes: ["services:read", "services:read"], expires_at: "2999-01-31T00:00:00+01:00" });
    expect(created.status).toBe(201);
    const { api_key: shown, key } = created.body as { api_key: { id: string; prefix: string }; key: string };
    expect(isWellFormedApiKey(key)).toBe(true);
    expect(shown).toMatchObject({ name: "Deploy", prefix: key.slice(0, 12), scopes: ["services:read"], expires_at: "2999-01-30T23:00:00.000Z", last_used_at: null });

    const list = await plane.call("GET", "/api-keys");
    expect((list.body.api_keys as object[])[0]).toEqual(shown);
    expect(JSON.stringify(list.body)).not.toContain(key);
    expect((await plane.call("GET", "/services", undefined, { "x-api-key": key })).status).toBe(200);

    const [entry] = await auditOf(shown.id);
    expect(entry).toMatchObject({ action: "api_key.created", actorType: "api_key", actorName: "First key", ip: "127.0.0.1" });
    expect(JSON.stringify(entry)).not.toContain(key);
  });

  it("that are revoked are listed no more, and cannot be revoked twice", async () => {
    const { body } = await plane.call("POST", "/api-keys", { name: "old", scopes: ["*:*"] });
    const { id } = body.api_key as { id: string };
    await expectHidden("DELETE", (id) => `/api-keys/${id}`, id);
    expect((await plane.call("DELETE", `/api-keys/${id}`)).body).toEqual({ success: true });
    expect(JSON.stringify((await plane.call("GET", "/api-keys")).body)).not.toContain(id);
    expect((await plane.call("DELETE", `/api-keys/${id}`)).status).toBe(404);
    expect((await auditOf(id)).map(({ action }) => action)).toEqual(["api_key.created", "api_key.revoked"]);
  });

  it.each([
    { name: "no scope", body: { name: "a", scopes: [] }, path: "/scopes" },
    { name: "an unknown scope", body: { name: "a", scopes: ["service:read"] }, path: "/scopes/0" },
    { name: "an expiry that has passed", body: { name: "a", scopes: ["*:*"], expires_at: "2020-01-01T00:00:00Z" }, path: "/expires_at" },
    { name: "an expiry that is no time", body: { name: "a", scopes: ["*:*"], expires_at: "tomorrow" }, path: "/expires_at" },
  ])("with $name are refused with the place", async ({ body, path }) => {
    expect((await plane.call("POST", "/api-keys", body)).body).toMatchObject({ code: "INVALID_REQUEST", path });
  });
});

describe("beacon keys", () => {
  it("are made, changed and deleted, each with its audit entry", async () => {
    const created = await plane.call("POST", "/beacon-keys", { name: "Shop", service_id: plane.organization.serviceId, allowed_origins: ["https://SHOP.example/", "http://localhost:3000"] });
    expect(created.status).toBe(201);
    const key = created.body as { id: string; key: string };
    expect(created.body).toMatchObject({ name: "Shop", service_id: plane.organization.serviceId, allowed_origins: ["https://shop.example", "http://localhost:3000"] });
    expect(key.key).toMatch(/^bpk_[0-9A-Za-z]{24}$/);

    const changed = await plane.call("PATCH", `/beacon-keys/${key.id}`, { allowed_origins: null });
    expect(changed.body).toEqual({ ...created.body, allowed_origins: null });
    expect((await plane.call("GET", "/beacon-keys")).body.beacon_keys).toEqual(expect.arrayContaining([changed.body]));
    await expectHidden("PATCH", (id) => `/beacon-keys/${id}`, key.id, { name: "mine" });
    await expectHidden("DELETE", (id) => `/beacon-keys/${id}`, key.id);

    expect((await plane.call("DELETE", `/beacon-keys/${key.id}`)).body).toEqual({ success: true });
    expect((await plane.call("DELETE", `/beacon-keys/${key.id}`)).status).toBe(404);
    expect(JSON.stringify((await plane.call("GET", "/beacon-keys")).body)).not.toContain(key.id);
    expect((await auditOf(key.id)).map(({ action, changedFields }) => [action, changedFields])).toEqual([
      ["beacon_key.created", expect.any(Array)],
      ["beacon_key.updated", ["allowed_origins"]],
      ["beacon_key.deleted", expect.any(Array)],
    ]);
  });

  it("belong to a service of the organization", async () => {
    const ask = (serviceId: string) => plane.call("POST", "/beacon-keys", { name: "x", service_id: serviceId }, { "x-request-id": "same" });
    const foreign = await ask(other.serviceId);
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual((await ask(UNKNOWN_ID)).body);
  });

  it.each(["shop.example", "https://shop.example/path", "https://*.shop.example", "javascript:alert(1)", "https://u:p@shop.example", ""])("refuse %j as an origin", async (origin) => {
    const answer = await plane.call("POST", "/beacon-keys", { name: "x", service_id: plane.organization.serviceId, allowed_origins: [origin] });
    expect(answer.body).toMatchObject({ code: "INVALID_REQUEST", path: "/allowed_origins/0" });
  });
});

describe("status pages", () => {
  it("are listed and shown", async () => {
    const list = await plane.call("GET", "/status-pages");
    const [summary] = list.body.pages as Record<string, unknown>[];
    expect(summary).toMatchObject({ id: plane.organization.pageId, name: "Test team", slug: plane.organization.pageSlug, is_default: true });
    const page = await plane.call("GET", `/status-pages/${plane.organization.pageId}`);
    expect(page.body.page).toMatchObject({ ...summary, organization_id: plane.organization.organizationId, tagline: null });
    await expectHidden("GET", (id) => `/status-pages/${id}`, plane.organization.pageId);
    await expectHidden("GET", (id) => `/status-pages/${id}/services`, plane.organization.pageId);
    await expectHidden("PUT", (id) => `/status-pages/${id}/services`, plane.organization.pageId, { service_ids: [] });
  });

  it("show exactly the services that were assigned, in that order", async () => {
    const path = `/status-pages/${plane.organization.pageId}/services`;
    const { body: second } = await plane.call("POST", "/services", { name: "Second" });
    const ids = [second.id as string, plane.organization.serviceId];
    expect((await plane.call("PUT", path, { service_ids: ids })).body).toEqual({ success: true });
    expect((await plane.call("GET", path)).body).toEqual({
      services: [
        { service_id: ids[0], name: "Second", status: "operational", display_order: 0 },
        { service_id: ids[1], name: "Website", status: "operational", display_order: 1 },
      ],
    });
    expect((await plane.call("PUT", path, { service_ids: [ids[1]] })).status).toBe(200);
    expect(((await plane.call("GET", path)).body.services as object[]).length).toBe(1);
    expect((await auditOf(plane.organization.pageId)).at(-1)).toMatchObject({ action: "status_page.services_assigned", before: { service_ids: ids }, after: { service_ids: [ids[1]] } });
  });

  it.each([
    { name: "of another organization", ids: () => [plane.organization.serviceId, other.serviceId], status: 403, code: "FOREIGN_SERVICE", path: "/service_ids/1" },
    { name: "that do not exist", ids: () => [UNKNOWN_ID], status: 400, code: "INVALID_REQUEST", path: "/service_ids/0" },
    { name: "that are no ids", ids: () => ["Website"], status: 400, code: "INVALID_REQUEST", path: "/service_ids/0" },
    { name: "named twice", ids: () => [plane.organization.serviceId, plane.organization.serviceId.toUpperCase()], status: 400, code: "INVALID_REQUEST", path: "/service_ids/1" },
  ])("refuse services $name and stay as they were", async ({ ids, status, code, path }) => {
    const address = `/status-pages/${plane.organization.pageId}/services`;
    const before = (await plane.call("GET", address)).body;
    const answer = await plane.call("PUT", address, { service_ids: ids() });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ code, path });
    expect((await plane.call("GET", address)).body).toEqual(before);
  });
});

it("the configuration shows the organization and its plan", async () => {
  expect((await plane.call("GET", "/config")).body).toEqual({
    config: { name: "Test team", owner_email: null, owner_email_confirmed: false, timezone: "UTC", language: "en", default_thresholds: null, retention_days: 90, plan: "team" },
  });
});

describe("a plan's limit", () => {
  it("holds when many are made at once, and names the plan that would allow more", async () => {
    const free = await plane.createOrganization("free");
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => plane.call("POST", "/services", { name: `Service ${n}` }, { "x-api-key": free.apiKey })));
    // The organization was made with one service; the free plan allows 25.
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(24);
    const refused = answers.find(({ status }) => status === 403)!;
    expect(refused.body).toMatchObject({ code: "PLAN_LIMIT", error: "The free plan allows 25 services.", fix: expect.stringMatching(/^The pro plan allows 250\./) as string });
  });
});
