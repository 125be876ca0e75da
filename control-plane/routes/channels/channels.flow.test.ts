import { asc, eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CreatedOrganization } from "../../../domain/organizations/create.ts";
import { auditEntries, channels } from "../../../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";

const PATH = "/notifications/channels";
const UNKNOWN_ID = "5c1f8f6e-1111-4222-8333-444455556666";
const HOOK = "https://hooks.slack.com/services/T000/B000/very-private";

let plane: TestControlPlane;
let other: CreatedOrganization;
beforeAll(async () => {
  plane = await startTestControlPlane();
  other = await plane.createOrganization("free");
});
afterAll(() => plane.stop());

const create = (body: object, headers = {}) => plane.call("POST", PATH, { name: "On call", ...body }, headers);
const auditOf = (id: string) => plane.database.select().from(auditEntries).where(eq(auditEntries.resourceId, id)).orderBy(asc(auditEntries.createdAt));
const storedConfig = async (id: string) => (await plane.database.select({ config: channels.config }).from(channels).where(eq(channels.id, id)))[0]?.config;

describe("a notification channel (happy)", () => {
  it("is made, listed, changed and deleted; its secrets are never shown nor logged", async () => {
    const created = await create({ type: "slack", config: { webhook_url: HOOK } });
    expect(created.status).toBe(201);
    const id = created.body.id as string;
    expect(created.body).toEqual({
      id: expect.any(String) as string, type: "slack", name: "On call", enabled: true, confirmed: true, config: { webhook_url: "https://hooks.slack.com/…vate" }, notify_on_incident: true, notify_on_maintenance: true,
      created_at: expect.any(String) as string, updated_at: expect.any(String) as string,
    });
    expect((await plane.call("GET", `${PATH}/${id}`)).body).toEqual(created.body);
    expect((await plane.call("GET", PATH)).body).toEqual({ channels: [created.body] });

    const changed = await plane.call("PATCH", `${PATH}/${id}`, { name: "Night", enabled: false, notify_on_maintenance: false, config: { webhook_url: "https://hooks.slack.com/services/T000/B000/quite-private" } });
    expect(changed.body).toMatchObject({ name: "Night", enabled: false, notify_on_incident: true, notify_on_maintenance: false });
    expect(await storedConfig(id)).toEqual({ webhook_url: "https://hooks.slack.com/services/T000/B000/quite-private" });

    expect((await plane.call("DELETE", `${PATH}/${id}`)).body).toEqual({ success: true });
    expect((await plane.call("DELETE", `${PATH}/${id}`)).status).toBe(404);
    const entries = await auditOf(id);
    expect(entries.map(({ action }) => action)).toEqual(["channel.created", "channel.updated", "channel.deleted"]);
    expect(entries[1]!.changedFields).toEqual(["config", "enabled", "name", "notify_on_maintenance"]);
    expect(JSON.stringify(entries)).not.toMatch(/private/);
  });

  it.each([
    { type: "discord", config: { webhook_url: HOOK }, shown: { webhook_url: "https://hooks.slack.com/…vate" } },
    { type: "teams", config: { webhook_url: "https://example.com/a" }, shown: { webhook_url: "https://example.com/…" } },
    { type: "sms", config: { phone_number: "+4915112345678" }, shown: { phone_number: "+4915112345678" } },
    { type: "pagerduty", config: { routing_key: "R0UTINGKEY0000000000000000000000" }, shown: { routing_key: "…0000" } },
    { type: "webhook", config: { url: HOOK, secret: "short" }, shown: { url: "https://hooks.slack.com/…vate", secret: "…" } },
  ])("of type $type has a config of its own", async ({ type, config, shown }) => {
    const { status, body } = await create({ type, config });
    expect(status).toBe(201);
    expect(body.config).toEqual(shown);
    expect(await storedConfig(body.id as string)).toEqual(config);
    expect(JSON.stringify(await auditOf(body.id as string))).not.toMatch(/very-private|R0UTINGKEY|"short"/);
  });

  it("keeps what is left out of its config or sent back masked; null removes the secret", async () => {
    const { body } = await create({ type: "webhook", config: { url: HOOK, secret: "a-secret-of-some-length" } });
    const patch = (config: object) => plane.call("PATCH", `${PATH}/${body.id as string}`, { config });
    expect((await patch(body.config as object)).status).toBe(200);
    expect(await storedConfig(body.id as string)).toEqual({ url: HOOK, secret: "a-secret-of-some-length" });
    const moved = new URL("/new", HOOK).href;
    await patch({ url: moved });
    expect(await storedConfig(body.id as string)).toEqual({ url: moved, secret: "a-secret-of-some-length" });
    // A receiver of another's must not get what the one before would believe.
    expect(await patch({ url: "https://other.example.com/new" })).toMatchObject({ status: 400, body: { path: "/config/secret" } });
    await patch({ secret: null });
    expect(await storedConfig(body.id as string)).toEqual({ url: moved });
  });
});

describe("a notification channel (error)", () => {
  it.each([
    { name: "an unknown type", body: { type: "slak", config: {} }, path: "/type", fix: 'Did you mean "slack"?' },
    { name: "no config", body: { type: "slack" }, path: "/config" },
    { name: "a config without its field", body: { type: "slack", config: {} }, path: "/config/webhook_url" },
    { name: "a field of another type", body: { type: "slack", config: { webhook_url: HOOK, phone_number: "+4915112345678" } }, path: "/config/phone_number", fix: "Its fields are webhook_url." },
    { name: "a mistyped field", body: { type: "slack", config: { webhook_ulr: HOOK } }, path: "/config/webhook_ulr", fix: 'Did you mean "webhook_url"?' },
    { name: "a local phone number", body: { type: "sms", config: { phone_number: "0151 1234" } }, path: "/config/phone_number" },
    { name: "a routing key with a space", body: { type: "pagerduty", config: { routing_key: "a b" } }, path: "/config/routing_key" },
    { name: "plain http", body: { type: "teams", config: { webhook_url: "http://hooks.example.com/" } }, path: "/config/webhook_url" },
    { name: "no URL", body: { type: "webhook", config: { url: "hooks.example.com" } }, path: "/config/url" },
    { name: "an empty name", body: { name: " ", type: "slack", config: { webhook_url: HOOK } }, path: "/name" },
  ])("is refused with the place: $name", async ({ body, path, fix }) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: "INVALID_REQUEST", path, ...(fix !== undefined && { fix }) });
  });

  it("keeps its type, and its config must fit it", async () => {
    const { body } = await create({ type: "slack", config: { webhook_url: HOOK } });
    expect((await plane.call("PATCH", `${PATH}/${body.id as string}`, { type: "teams" })).body).toMatchObject({ code: "INVALID_REQUEST", path: "/type" });
    expect((await plane.call("PATCH", `${PATH}/${body.id as string}`, { config: { routing_key: "x" } })).body).toMatchObject({ code: "INVALID_REQUEST", path: "/config/routing_key" });
  });

  it("counts against the plan, also when many are made at once", async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => create({ type: "slack", config: { webhook_url: HOOK } }, { "x-api-key": other.apiKey })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(answers.find(({ status }) => status === 403)?.body).toMatchObject({ code: "PLAN_LIMIT", error: "The free plan allows 5 notification channels." });
  });
});

describe("a notification channel (security)", () => {
  it.each(["https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest", "https://localhost/", "https://u:p@hooks.example.com/"])("does not go to %s", async (url) => {
    expect((await create({ type: "webhook", config: { url } })).body).toMatchObject({ code: "INVALID_REQUEST", path: "/config/url", fix: expect.any(String) as string });
  });

  it("of another organization is one that does not exist", async () => {
    const { body } = await create({ type: "slack", config: { webhook_url: HOOK } });
    for (const [method, patch] of [["GET", undefined], ["PATCH", { name: "mine" }], ["DELETE", undefined]] as const) {
      const ask = (id: string) => plane.call(method, `${PATH}/${id}`, patch, { "x-api-key": other.apiKey, "x-request-id": "same" });
      const [foreign, unknown, malformed] = await Promise.all([ask(body.id as string), ask(UNKNOWN_ID), ask("nonsense")]);
      expect(foreign.status).toBe(404);
      expect(foreign.body).toEqual(unknown.body);
      expect(foreign.body).toEqual(malformed.body);
    }
    expect(JSON.stringify((await plane.call("GET", PATH, undefined, { "x-api-key": other.apiKey })).body)).not.toContain(body.id as string);
  });
});
