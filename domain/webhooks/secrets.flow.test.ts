import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Failure } from "../../platform/failures.ts";
import { newId } from "../../platform/ids.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { CreateWebhook, UpdateWebhook } from "../../schemas/api/webhooks.ts";
import { auditEntries, organizations, webhooks } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { systemActor, type Actor } from "../actor.ts";
import { createWebhook } from "./create.ts";
import { validPreviousSecret } from "./previous-secret.ts";
import { listWebhooks } from "./read.ts";
import { rotateSecret } from "./rotate-secret.ts";
import { updateWebhook } from "./update.ts";

const HOUR = 3_600_000;
const at = new Date("2026-01-31T12:00:00.000Z");
const after = (ms: number) => new Date(at.getTime() + ms);
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
  actor = systemActor(newId(), "Test");
  await database.insert(organizations).values({ id: actor.organizationId, name: "Acme", plan: "free" });
});

const create = (headers: Record<string, string> = {}) => createWebhook({ database, config }, actor, CreateWebhook.parse({ name: "On call", url: "https://hooks.example.com/pharos", events: ["incident.created"], headers }), at);
const update = (id: string, patch: object) => updateWebhook({ database, config }, actor, id, UpdateWebhook.parse(patch), at);
const rotate = (id: string, moment: Date, endNow = false) => rotateSecret(database, actor, id, { expire_previous: endNow }, moment);
const stored = async (id: string) => (await database.select().from(webhooks).where(eq(webhooks.id, id)))[0]!;
const headersOf = async (id: string) => (await stored(id)).headers;

async function refusalOf(work: Promise<unknown>): Promise<object> {
  const failure: unknown = await work.then(() => null, (error: unknown) => error);
  if (!(failure instanceof Failure)) throw new Error(`no failure but ${String(failure)}`);
  return { code: failure.code, ...failure.details };
}

describe("a rotated secret", () => {
  it("leaves the one before valid for 24 hours, to the millisecond, and an older one not at all", async () => {
    const { webhook: { id }, signing_secret: first } = await create();
    const { signing_secret: second, previous_secret_expires_at: ends } = await rotate(id, at);
    expect(ends).toBe("2026-02-01T12:00:00.000Z");
    const row = await stored(id);
    expect(row.signingSecret).toBe(second);
    expect([at, after(24 * HOUR - 1), after(24 * HOUR)].map((moment) => validPreviousSecret(row, moment))).toEqual([first, first, null]);

    const again = await rotate(id, after(HOUR));
    expect(again.previous_secret_expires_at).toBe("2026-02-01T13:00:00.000Z");
    expect(await stored(id)).toMatchObject({ signingSecret: again.signing_secret, previousSecret: second });
  });

  it("that others know ends at once, also when it is the one before", async () => {
    const { webhook: { id } } = await create();
    await rotate(id, at);
    expect(await rotate(id, after(1), true)).toMatchObject({ previous_secret_expires_at: null });
    expect(await stored(id)).toMatchObject({ previousSecret: null, previousSecretExpiresAt: null });
  });

  it("is nowhere in the audit log, nor in what is listed", async () => {
    const { webhook: { id }, signing_secret: first } = await create();
    const { signing_secret: second } = await rotate(id, at);
    const entries = await database.select().from(auditEntries).where(and(eq(auditEntries.resourceId, id), eq(auditEntries.action, "webhook.secret_rotated")));
    expect(entries).toMatchObject([{ changedFields: ["signing_secret"] }]);
    for (const secret of [first, second]) expect(JSON.stringify([entries, await listWebhooks(database, actor.organizationId, { limit: 100, offset: 0 })])).not.toContain(secret);
  });
});

describe("custom headers that authenticate", () => {
  it("are masked when they are shown, and stay when they are sent back so", async () => {
    const { webhook } = await create({ Authorization: "Bearer private", "X-Team": "checkout", "X-Api-Key": "" });
    expect(webhook.headers).toEqual({ Authorization: "[masked]", "X-Team": "checkout", "X-Api-Key": "" });
    const changed = await update(webhook.id, { headers: { authorization: "[masked]", "X-Team": "night" } });
    expect(changed.headers).toEqual({ authorization: "[masked]", "X-Team": "night" });
    expect(await headersOf(webhook.id)).toEqual({ authorization: "Bearer private", "X-Team": "night" });
    await update(webhook.id, { url: "https://hooks.example.com/other", name: "Night" });
    expect(await headersOf(webhook.id)).toEqual({ authorization: "Bearer private", "X-Team": "night" });
  });

  it("do not go to another origin unless they are given again, but other headers do", async () => {
    const { webhook: { id } } = await create({ Authorization: "Bearer private", "X-Team": "checkout" });
    const refusal = { code: "INVALID_REQUEST", path: "/headers/Authorization", fix: expect.stringContaining("without this header") };
    for (const url of ["https://evil.example.com/", "https://hooks.example.com:8443/pharos"]) {
      expect(await refusalOf(update(id, { url }))).toEqual(refusal);
      expect(await refusalOf(update(id, { url, headers: { Authorization: "[masked]" } }))).toEqual(refusal);
    }
    expect(await stored(id)).toMatchObject({ url: "https://hooks.example.com/pharos", headers: { Authorization: "Bearer private" } });
    await update(id, { url: "https://new.example.com/", headers: { Authorization: "Bearer other", "X-Team": "checkout" } });
    expect(await headersOf(id)).toEqual({ Authorization: "Bearer other", "X-Team": "checkout" });
    await update(id, { headers: { "X-Team": "checkout" } });
    await update(id, { url: "https://newer.example.com/" });
    expect(await headersOf(id)).toEqual({ "X-Team": "checkout" });
  });

  it("cannot be masked when none is stored", async () => {
    expect(await refusalOf(create({ "x~token": "[masked]" }))).toMatchObject({ path: "/headers/x~0token" });
    const { webhook: { id } } = await create();
    expect(await refusalOf(update(id, { headers: { Authorization: "[masked]" } }))).toMatchObject({ path: "/headers/Authorization" });
  });

  it("that change are seen in the audit log by the field's name alone", async () => {
    const { webhook: { id } } = await create({ Authorization: "Bearer private" });
    await update(id, { headers: { Authorization: "Bearer other" } });
    const [entry] = await database.select().from(auditEntries).where(and(eq(auditEntries.resourceId, id), eq(auditEntries.action, "webhook.updated")));
    expect(entry!.changedFields).toEqual(["headers"]);
    expect(JSON.stringify(entry)).not.toMatch(/private|other/);
  });
});
