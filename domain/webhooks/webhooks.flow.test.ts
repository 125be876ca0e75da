import { asc, eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Failure } from "../../platform/failures.ts";
import { newId } from "../../platform/ids.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { CreateWebhook, UpdateWebhook } from "../../schemas/api/webhooks.ts";
import { auditEntries, organizations } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import type { Actor } from "../actor.ts";
import { listDeliveries } from "../deliveries/read.ts";
import { redeliver, testWebhook } from "../deliveries/send-now.ts";
import { createWebhook } from "./create.ts";
import { deleteWebhook } from "./delete.ts";
import { getWebhook, listWebhooks } from "./read.ts";
import { rotateSecret } from "./rotate-secret.ts";
import { updateWebhook } from "./update.ts";

const at = new Date("2026-01-31T12:00:00.000Z");
const config = { WEBHOOK_ALLOW_HTTP: false, OUTBOUND_PORTS: [], OUTBOUND_ALLOW: [] as string[] };
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;
let actor: Actor;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = fresh.database;
});
afterAll(() => fresh.drop());
beforeEach(async () => {
  actor = await makeActor();
});

async function makeActor(): Promise<Actor> {
  const organizationId = newId();
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "free" });
  return { organizationId, type: "api_key", id: newId(), name: "CI", ip: "203.0.113.7", userAgent: "curl" };
}

const input = (changes: object = {}) => CreateWebhook.parse({ name: "On call", url: "https://hooks.example.com/pharos", events: ["incident.created", "incident.created", "monitor.down"], ...changes });
const create = (changes: object = {}, rules = config) => createWebhook({ database, config: rules }, actor, input(changes), at);
const auditOf = () => database.select().from(auditEntries).where(eq(auditEntries.organizationId, actor.organizationId)).orderBy(asc(auditEntries.createdAt));

async function failureOf(work: Promise<unknown>): Promise<{ code: string; message: string; path?: string; fix?: string }> {
  const failure: unknown = await work.then(() => null, (error: unknown) => error);
  if (!(failure instanceof Failure)) throw new Error(`no failure but ${String(failure)}`);
  return { code: failure.code, message: failure.message, ...failure.details };
}

describe("a webhook", () => {
  it("is made with a secret that is shown once, changed, listed and deleted; the audit log never holds the secret", async () => {
    const { webhook, signing_secret: secret } = await create({ headers: { Authorization: "Bearer very-private" } });
    expect(webhook).toEqual({
      id: expect.any(String), name: "On call", url: "https://hooks.example.com/pharos", is_active: true, events: ["incident.created", "monitor.down"], headers: { Authorization: "[masked]" },
      disabled_at: null, disabled_reason: null, created_at: at.toISOString(), updated_at: at.toISOString(),
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await listWebhooks(database, actor.organizationId, { limit: 100, offset: 0 })).toEqual([webhook]);

    const later = new Date(at.getTime() + 1_000);
    const updated = await updateWebhook({ database, config }, actor, webhook.id, UpdateWebhook.parse({ name: "Night", events: ["monitor.up"], is_active: false }), later);
    expect(updated).toEqual({ ...webhook, name: "Night", events: ["monitor.up"], is_active: false, disabled_at: later.toISOString(), disabled_reason: "manual", updated_at: later.toISOString() });
    expect(await getWebhook(database, actor.organizationId, webhook.id)).toEqual(updated);
    const rotated = await rotateSecret(database, actor, webhook.id, { expire_previous: false }, later);
    expect(rotated.signing_secret).not.toBe(secret);
    await deleteWebhook(database, actor, webhook.id);
    expect(await listWebhooks(database, actor.organizationId, { limit: 100, offset: 0 })).toEqual([]);

    const entries = await auditOf();
    expect(entries.map(({ action, changedFields }) => ({ action, changedFields: changedFields.length > 5 ? "all" : changedFields }))).toEqual([
      { action: "webhook.created", changedFields: "all" },
      { action: "webhook.updated", changedFields: ["disabled_at", "disabled_reason", "events", "is_active", "name"] },
      { action: "webhook.secret_rotated", changedFields: ["signing_secret"] },
      { action: "webhook.deleted", changedFields: "all" },
    ]);
    for (const private_ of [secret, rotated.signing_secret, "whsec_", "very-private"]) expect(JSON.stringify(entries)).not.toContain(private_);
  });

  it("of another organization is a webhook that does not exist", async () => {
    const { webhook } = await create();
    const stranger = await makeActor();
    const tries = (by: Actor, id: string) => [
      getWebhook(database, by.organizationId, id), updateWebhook({ database, config }, by, id, {}, at), deleteWebhook(database, by, id), rotateSecret(database, by, id, { expire_previous: false }, at),
      testWebhook(database, by.organizationId, id, { at, waitMs: 0 }), listDeliveries(database, by.organizationId, id, { limit: 10, offset: 0 }),
    ];
    const failures = await Promise.all([...tries(stranger, webhook.id), ...tries(actor, newId()), ...tries(actor, "nonsense")].map(failureOf));
    expect(failures).toEqual(failures.map(() => ({ code: "NOT_FOUND", message: "No such webhook." })));
    const { id: deliveryId } = await testWebhook(database, actor.organizationId, webhook.id, { at, waitMs: 0 });
    const other = await create();
    for (const [by, webhookId, id] of [[stranger, webhook.id, deliveryId], [actor, other.webhook.id, deliveryId], [actor, webhook.id, newId()], [actor, "x", "y"]] as const) {
      expect(await failureOf(redeliver(database, by.organizationId, webhookId, id, at))).toEqual({ code: "NOT_FOUND", message: "No such delivery." });
    }
  });

  it("is refused for a URL that no delivery could go to, at creation and at a change", async () => {
    const { webhook } = await create();
    for (const [url, fix] of [
      ["http://hooks.example.com/", "WEBHOOK_ALLOW_HTTP"], ["https://127.0.0.1/", "OUTBOUND_ALLOW"], ["https://2130706433/", "OUTBOUND_ALLOW"], ["https://[::ffff:10.0.0.1]/", "OUTBOUND_ALLOW"], ["https://localhost/", "OUTBOUND_ALLOW"],
      ["https://user:pass@hooks.example.com/", "header"], ["hooks.example.com", "absolute URL"], ["ftp://hooks.example.com/", "https://"],
    ]) {
      const refusal = { code: "INVALID_REQUEST", path: "/url", fix: expect.stringContaining(fix!) };
      expect(await failureOf(create({ url }))).toMatchObject(refusal);
      expect(await failureOf(updateWebhook({ database, config }, actor, webhook.id, { url }, at))).toMatchObject(refusal);
    }
    const open = { WEBHOOK_ALLOW_HTTP: true, OUTBOUND_PORTS: [], OUTBOUND_ALLOW: ["127.0.0.0/8"] };
    expect((await create({ url: "http://127.0.0.1:1234/hook" }, open)).webhook.url).toBe("http://127.0.0.1:1234/hook");
  });

  it("counts against the plan", async () => {
    for (let n = 0; n < 5; n++) await create();
    expect(await failureOf(create())).toMatchObject({ code: "PLAN_LIMIT" });
  });

  it("that was disabled by its receiver keeps that reason when it is disabled again by hand", async () => {
    const { webhook } = await create();
    const off = await updateWebhook({ database, config }, actor, webhook.id, { is_active: false }, at);
    expect(await updateWebhook({ database, config }, actor, webhook.id, { is_active: false }, new Date(at.getTime() + 1))).toMatchObject({ disabled_at: off.disabled_at, disabled_reason: "manual" });
  });
});

describe("the body of a request", () => {
  const pathsOf = (changes: object) => CreateWebhook.safeParse({ name: "On call", url: "https://hooks.example.com/", events: ["incident.created"], ...changes }).error?.issues.map(({ path }) => path.join("/"));

  it.each([
    ["no event at all", { events: [] }, "events"],
    ["an event that does not exist", { events: ["incident.exploded"] }, "events/0"],
    ["no name", { name: " " }, "name"],
    ["a URL that is too long", { url: `https://example.com/${"a".repeat(2_100)}` }, "url"],
    ["a field that does not exist", { secret: "x" }, ""],
    ["too many headers", { headers: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, ""])) }, "headers"],
    ["a header twice", { headers: { "X-A": "1", "x-a": "2" } }, "headers"],
    ["a header value that is no text", { headers: { "x-a": 1 } }, "headers/x-a"],
    ["a header value with a line break", { headers: { "x-a": "a\r\nHost: b" } }, "headers/x-a"],
    ["a header name with a space", { headers: { "x a": "1" } }, "headers/x a"],
    ["a header without a name", { headers: { "": "1" } }, "headers/"],
  ])("is refused with its place: %s", (_, changes, path) => expect(pathsOf(changes)).toEqual([path]));

  it.each(["host", "Host", "Content-Length", "content-type", "Content-Encoding", "Transfer-Encoding", "Connection", "Keep-Alive", "TE", "Trailer", "Upgrade", "Expect", "Proxy-Authorization", "webhook-id", "Webhook-Signature", "X-Service-Signature", "X-Service-Signature-Previous"])(
    "may not set the header %s",
    (name) => expect(pathsOf({ headers: { [name]: "x" } })).toEqual([`headers/${name}`]),
  );

  it("may set headers of its own", () => expect(pathsOf({ headers: { Authorization: "Basic eA==", "X-Team": "a\tb", "User-Agent": "mine" } })).toBeUndefined());
});
