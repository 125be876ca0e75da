import type { ServerResponse } from "node:http";
import { asc, eq } from "drizzle-orm";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { systemActor, type Actor } from "../../domain/actor.ts";
import { claimDeliveries } from "../../domain/deliveries/claim.ts";
import { getDelivery } from "../../domain/deliveries/read.ts";
import { recordAttempt } from "../../domain/deliveries/record.ts";
import { redeliver, testWebhook } from "../../domain/deliveries/send-now.ts";
import { createWebhook } from "../../domain/webhooks/create.ts";
import { rotateSecret } from "../../domain/webhooks/rotate-secret.ts";
import { updateWebhook } from "../../domain/webhooks/update.ts";
import type { Clock } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { makeOutbound, type Outbound } from "../../platform/outbound/outbound.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { channels, events, mails, notifications, organizations, webhookDeliveries, webhooks } from "../../schemas/tables/all.ts";
import { makeCertificate, type Certificate } from "../../testing/certificate.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { startReceiver, type Receiver } from "../../testing/receiver.ts";
import { attemptDelivery } from "./attempt.ts";

const MINUTE = 60_000;
const DELAYS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 24 * 60 * MINUTE];
const config = { WEBHOOK_TIMEOUT_MS: 30_000, WEBHOOK_ALLOW_HTTP: false, OUTBOUND_PORTS: [], OUTBOUND_ALLOW: ["127.0.0.0/8"] };
const LIMITS = { room: 10, perWebhook: 10, perOrganization: 10, running: { webhooks: new Map(), organizations: new Map() } };

let now: number;
const clock: Clock = { now: () => now, monotonic: () => performance.now() };
let certificate: Certificate;
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;
let outbound: Outbound;
let receiver: Receiver;
let answer: (response: ServerResponse) => void;
let actor: Actor;

beforeAll(async () => {
  certificate = makeCertificate();
  fresh = await freshDatabase();
  database = fresh.database;
  outbound = makeOutbound({ config: { OUTBOUND_ALLOW: config.OUTBOUND_ALLOW, OUTBOUND_PORTS: [], OUTBOUND_CA_FILE: certificate.file } });
  receiver = await startReceiver(certificate, (response) => answer(response));
});
afterAll(async () => {
  await outbound.close();
  await receiver.stop();
  await fresh.drop();
  certificate.remove();
});
beforeEach(async () => {
  await database.delete(webhooks);
  // The machine's own time: the library refuses timestamps that are far from it.
  now = Date.now();
  answer = (response) => response.writeHead(200).end("taken");
  receiver.received.length = 0;
  actor = systemActor(newId(), "Test");
  await database.insert(organizations).values({ id: actor.organizationId, name: "Acme", plan: "team" });
});

async function subscribe(headers: Record<string, string> = {}) {
  const { webhook, signing_secret: secret } = await createWebhook({ database, config }, actor, { name: "Hook", url: `${receiver.url}/hook?key=private`, events: ["incident.created"], headers }, new Date(now));
  return { id: webhook.id, secret };
}

async function plan(webhookId: string): Promise<void> {
  const eventId = newId();
  const at = new Date(now);
  await database.insert(events).values({ id: eventId, organizationId: actor.organizationId, type: "incident.created", data: { n: 1 }, createdAt: at, fannedOutAt: at });
  await database.insert(webhookDeliveries).values({ id: newId(), organizationId: actor.organizationId, webhookId, eventId, attempt: 1, trigger: "event", dueAt: at, createdAt: at });
}

/** Claims what is due, attempts it and records it: what a scheduler does with it. */
async function deliverOnce(): Promise<void> {
  const [claimed] = await claimDeliveries(database, new Date(now), 45_000, LIMITS);
  const attempt = await attemptDelivery(claimed!, { outbound, clock, config, signal: new AbortController().signal });
  await recordAttempt(database, claimed!, attempt!, DELAYS);
}

const rowsOf = (id: string) => database.select().from(webhookDeliveries).where(eq(webhookDeliveries.webhookId, id)).orderBy(asc(webhookDeliveries.createdAt), asc(webhookDeliveries.attempt));

it.each([200, 500])("a delivery answered %i shows what was sent, where it was sent, and no secret", async (status) => {
  answer = (response) => response.writeHead(status).end("seen");
  const { id } = await subscribe({ Authorization: "Bearer private-token", "X-Team": "checkout" });
  await plan(id);
  const [planned] = await rowsOf(id);
  const show = () => getDelivery(database, actor.organizationId, id, planned!.id);
  expect(await show()).toMatchObject({ url: `${receiver.url}/hook?key=private`, request_headers: null });
  await deliverOnce();
  await updateWebhook({ database, config }, actor, id, { url: `${receiver.url}/moved`, headers: {} }, new Date(now));

  const sent = receiver.received[0]!.headers;
  const shown = await show();
  expect(sent.authorization).toBe("Bearer private-token");
  expect(shown).toMatchObject({ url: `${receiver.url}/hook?key=private`, response_status_code: status, response_body: "seen" });
  const { host: _host, connection: _connection, "content-length": _length, ...own } = sent;
  expect(shown.request_headers).toEqual({ ...own, authorization: "[masked]" });
  expect(JSON.stringify(await rowsOf(id))).not.toContain("private-token");
});

it("a delivery that could not be sent shows no headers", async () => {
  const { id } = await subscribe();
  await plan(id);
  await database.update(webhooks).set({ url: "http://hooks.example.com/" });
  await deliverOnce();
  expect((await rowsOf(id))[0]).toMatchObject({ status: "failed", url: "http://hooks.example.com/", requestHeaders: null, error: expect.stringContaining("WEBHOOK_ALLOW_HTTP") });
});

it.each([
  { name: "seconds", header: () => "200", waitsS: 200 },
  { name: "a date", header: () => new Date(Math.ceil(now / 1_000) * 1_000 + 120_000).toUTCString(), waitsS: null },
  { name: "more than a step", header: () => "86400", waitsS: 300 },
])("a receiver that asks for time in $name has it", async ({ header, waitsS }) => {
  const asked = header();
  answer = (response) => response.writeHead(429, { "retry-after": asked }).end();
  const { id } = await subscribe();
  await plan(id);
  await deliverOnce();
  const due = waitsS === null ? new Date(asked) : new Date(now + waitsS * 1_000);
  expect(await rowsOf(id)).toMatchObject([{ status: "failed", nextRetryAt: due }, { status: "pending", dueAt: due }]);
});

it("after a rotation the library verifies a delivery with either secret for a day, and then with the new one alone", async () => {
  const { id, secret: first } = await subscribe();
  const { signing_secret: second } = await rotateSecret(database, actor, id, { expire_previous: false }, new Date(now - 24 * 60 * MINUTE + 1_000));
  const verified = async (): Promise<string[]> => {
    await plan(id);
    await deliverOnce();
    const { body, headers } = receiver.received.at(-1)!;
    const verifies = (secret: string) => {
      try {
        return new StandardWebhook(secret).verify(body, headers as Record<string, string>) !== null;
      } catch {
        return false;
      }
    };
    return Object.entries({ first, second }).filter(([, secret]) => verifies(secret)).map(([name]) => name);
  };
  expect(await verified()).toEqual(["first", "second"]);
  expect(receiver.received.at(-1)!.headers).toHaveProperty("x-service-signature-previous");
  now += 1_000;
  expect(await verified()).toEqual(["second"]);
  expect(receiver.received.at(-1)!.headers).not.toHaveProperty("x-service-signature-previous");
});

it("the owner is told in each enabled channel which webhook was disabled, why, since when and what to do, and no secret", async () => {
  const { id } = await subscribe({ "X-Token": "private-token" });
  await database.update(organizations).set({ ownerEmail: "owner@example.com", ownerEmailConfirmedAt: new Date() }).where(eq(organizations.id, actor.organizationId));
  const [on, off] = [newId(), newId()];
  await database.insert(channels).values([{ id: on, organizationId: actor.organizationId, type: "slack", name: "Ops", config: {} }, { id: off, organizationId: actor.organizationId, type: "slack", name: "Old", enabled: false, config: {} }]);
  answer = (response) => response.writeHead(503).end();
  await plan(id);
  const since = new Date(now).toISOString();
  const start = now;
  await deliverOnce();
  for (const delay of DELAYS) {
    now += delay;
    await deliverOnce();
  }
  const told = await database.select().from(notifications).where(eq(notifications.organizationId, actor.organizationId));
  expect(told).toMatchObject([{ channelId: on, trigger: "notice", status: "pending", eventId: null, dueAt: new Date(now), createdAt: new Date(now) }]);
  const message = told[0]!.message!;
  expect(await database.select().from(mails).where(eq(mails.organizationId, actor.organizationId))).toMatchObject([{ to: "owner@example.com", kind: "notice", status: "pending", subject: expect.stringContaining("Hook"), text: expect.stringContaining(receiver.url) }]);
  for (const part of ['Webhook "Hook" was disabled', receiver.url, new Date(now).toISOString(), `since ${since}`, "503", `PATCH /api/v1/webhooks/${id}`, `{"since": "${since}"}`]) expect(message).toContain(part);
  for (const secret of ["private", "/hook", "whsec_"]) expect(message).not.toContain(secret);

  // Enabled again, 410 of a test tells once more; what a person disables tells nobody.
  now = start;
  await updateWebhook({ database, config }, actor, id, { is_active: true }, new Date(now));
  answer = (response) => response.writeHead(410).end();
  await testWebhook(database, actor.organizationId, id, { at: new Date(now), waitMs: 0 });
  await deliverOnce();
  expect((await database.select().from(notifications).where(eq(notifications.channelId, on))).map(({ message: text }) => text?.includes("410"))).toEqual([false, true]);
  await redeliver(database, actor.organizationId, id, (await rowsOf(id))[0]!.id, new Date(now));
  await deliverOnce();
  await updateWebhook({ database, config }, actor, id, { is_active: true }, new Date(now));
  await updateWebhook({ database, config }, actor, id, { is_active: false }, new Date(now));
  expect(await database.select().from(notifications).where(eq(notifications.channelId, on))).toHaveLength(2);
});
