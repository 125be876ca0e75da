import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { and, asc, eq, isNotNull } from "drizzle-orm";
import { Client } from "pg";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { systemActor, type Actor } from "../../domain/actor.ts";
import { claimDeliveries } from "../../domain/deliveries/claim.ts";
import { listDeliveries } from "../../domain/deliveries/read.ts";
import { redeliver, testWebhook } from "../../domain/deliveries/send-now.ts";
import { emitEvents } from "../../domain/events/emit.ts";
import { createWebhook } from "../../domain/webhooks/create.ts";
import { deleteWebhook } from "../../domain/webhooks/delete.ts";
import { fanOut } from "../../domain/events/fan-out.ts";
import { getWebhook } from "../../domain/webhooks/read.ts";
import { rotateSecret } from "../../domain/webhooks/rotate-secret.ts";
import { updateWebhook } from "../../domain/webhooks/update.ts";
import type { Clock } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import { makeOutbound, type Outbound } from "../../platform/outbound/outbound.ts";
import { listenTo } from "../../platform/postgres/listen.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { auditEntries, events, organizations, webhookDeliveries } from "../../schemas/tables/all.ts";
import type { EventType } from "../../schemas/vocabulary.ts";
import { makeCertificate, type Certificate } from "../../testing/certificate.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { startReceiver, type Receiver } from "../../testing/receiver.ts";
import type { Sender } from "../due-work/sender.ts";
import { attemptDelivery } from "./attempt.ts";
import { makeDeliveries } from "./deliver.ts";

const MINUTE = 60_000;
const config = {
  SCHEDULER_TICK_MS: 20,
  SHUTDOWN_LIMIT_MS: 1_000,
  WEBHOOK_TIMEOUT_MS: 30_000,
  WEBHOOK_RETRY_DELAYS: [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 24 * 60 * MINUTE],
  WEBHOOK_ALLOW_HTTP: false,
  OUTBOUND_PORTS: [], OUTBOUND_ALLOW: ["127.0.0.0/8"],
};
const log = makeLog("silent");

let now: number;
let timeAsked = 0;
const clock: Clock = {
  now() {
    timeAsked++;
    return now;
  },
  monotonic: () => performance.now(),
};

/** Resolves when a scheduler has looked for work several times since. */
async function looked(): Promise<void> {
  const before = timeAsked;
  await expect.poll(() => timeAsked).toBeGreaterThan(before + 8);
}
let certificate: Certificate;
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;
let outbound: Outbound;
let actor: Actor;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  certificate = makeCertificate();
  fresh = await freshDatabase();
  database = fresh.database;
  outbound = makeOutbound({ config: { ...config, OUTBOUND_CA_FILE: certificate.file } });
});
afterAll(async () => {
  await outbound.close();
  await fresh.drop();
  certificate.remove();
});
beforeEach(async () => {
  now = Date.parse("2026-01-31T12:00:00.000Z");
  actor = systemActor(await makeOrganization(), "Test");
});
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
  // What one test left must not be due in the next.
  await database.delete(webhookDeliveries);
  await database.update(events).set({ fannedOutAt: new Date(now) });
});

async function makeOrganization(): Promise<string> {
  const id = newId();
  await database.insert(organizations).values({ id, name: "Acme", plan: "team" });
  return id;
}

function startDeliveries(changes: Partial<typeof config> = {}, limits?: Parameters<typeof makeDeliveries>[0]["limits"]): Sender {
  const deliveries = makeDeliveries({ database, outbound, clock, config: { ...config, ...changes }, log, ...(limits && { limits }) });
  deliveries.start();
  stops.push(() => deliveries.stop());
  return deliveries;
}

async function receive(answer: Parameters<typeof startReceiver>[1]): Promise<Receiver> {
  const receiver = await startReceiver(certificate, answer);
  stops.push(() => receiver.stop());
  return receiver;
}

const statusCode = (code: number) => (response: ServerResponse) => response.writeHead(code).end(`answer ${code}`);

async function subscribe(url: string, types: EventType[] = ["incident.created"], headers: Record<string, string> = {}, by = actor) {
  const { webhook, signing_secret: secret } = await createWebhook({ database, config }, by, { name: "Hook", url, events: types, headers }, new Date(now));
  return { id: webhook.id, secret };
}

const emit = (type: EventType, data: Record<string, unknown> = {}, by = actor) =>
  inTransaction(database, (tx) => emitEvents(tx, [{ organizationId: by.organizationId, type, data, at: new Date(now) }]));

/** By event: what fanned a later event out may have read the clock before the test moved it. */
async function rowsOf(webhookId: string) {
  const ofWebhook = database.select({ delivery: webhookDeliveries }).from(webhookDeliveries).where(eq(webhookDeliveries.webhookId, webhookId));
  const rows = await ofWebhook
    .innerJoin(events, eq(events.id, webhookDeliveries.eventId))
    .orderBy(asc(events.position), asc(webhookDeliveries.createdAt), asc(webhookDeliveries.attempt));
  return rows.map(({ delivery }) => delivery);
}
const statusesOf = async (webhookId: string) => (await rowsOf(webhookId)).map(({ attempt, status }) => `${attempt} ${status}`);
const settled = async (webhookId: string, ...statuses: string[]) => expect.poll(() => statusesOf(webhookId)).toEqual(statuses);

describe("an event", () => {
  it("arrives with its fields, the custom headers and both signatures", async () => {
    const receiver = await receive(statusCode(200));
    const { id, secret } = await subscribe(`${receiver.url}/hook?x=1`, ["incident.created"], { "X-Team": "checkout", Authorization: "Bearer abc", "User-Agent": "mine" });
    await emit("incident.created", { title: "Zahlung schlägt fehl ✗", services: ["Checkout"], id: "1" });
    startDeliveries();
    await settled(id, "1 delivered");

    const [event] = await database.select().from(events).where(eq(events.organizationId, actor.organizationId));
    const [request] = receiver.received;
    expect(receiver.received).toHaveLength(1);
    expect(JSON.parse(request!.body)).toEqual({ id: event!.id, event: "incident.created", timestamp: "2026-01-31T12:00:00.000Z", data: { title: "Zahlung schlägt fehl ✗", services: ["Checkout"], id: "1" } });
    expect(request).toMatchObject({ method: "POST", path: "/hook?x=1", headers: { "x-team": "checkout", authorization: "Bearer abc", "user-agent": "mine", "content-type": "application/json; charset=utf-8", "webhook-id": event!.id } });
    expect(request!.headers["x-service-signature"]).toBe(createHmac("sha256", secret).update(request!.body).digest("hex"));
    expect(request!.headers["webhook-timestamp"]).toBe(String(now / 1000));
    // Not its `verify`, which refuses timestamps that are far from the machine's own clock.
    expect(request!.headers["webhook-signature"]).toBe(new StandardWebhook(secret).sign(event!.id, new Date(now), request!.body));

    const { deliveries, total } = await listDeliveries(database, actor.organizationId, id, { limit: 50, offset: 0 });
    expect(total).toBe(1);
    expect(deliveries[0]).toMatchObject({
      webhook_id: id, event_id: event!.id, event: "incident.created", attempt: 1, trigger: "event", status: "delivered", url: `${receiver.url}/hook?x=1`, request_body: request!.body,
      response_status_code: 200, response_body: "answer 200", duration_ms: expect.any(Number), error: null, next_retry_at: null, created_at: "2026-01-31T12:00:00.000Z",
    });
  });

  it("goes once to each webhook that subscribes to its type, is active and of its organization", async () => {
    const receiver = await receive(statusCode(204));
    const stranger = systemActor(await makeOrganization(), "Test");
    const subscribed = [await subscribe(`${receiver.url}/1`, ["incident.created", "monitor.down"]), await subscribe(`${receiver.url}/2`)];
    const others = [await subscribe(`${receiver.url}/3`, ["monitor.down"]), await subscribe(`${receiver.url}/4`), await subscribe(`${receiver.url}/5`, ["incident.created"], {}, stranger)];
    await updateWebhook({ database, config }, actor, others[1]!.id, { is_active: false }, new Date(now));
    await emit("incident.created");
    // Three schedulers at once.
    for (let n = 0; n < 3; n++) startDeliveries();
    for (const { id } of subscribed) await settled(id, "1 delivered");
    for (const { id } of others) expect(await statusesOf(id)).toEqual([]);
    expect(receiver.received.map(({ path }) => path).sort()).toEqual(["/1", "/2"]);
  });

  it("is delivered as soon as it is announced", async () => {
    const receiver = await receive(statusCode(200));
    const { id } = await subscribe(receiver.url);
    const deliveries = startDeliveries({ SCHEDULER_TICK_MS: 10 * MINUTE });
    const listening = listenTo({ connectionString: fresh.url, channel: "pharos_events", onNotify: () => deliveries.wake(), log });
    stops.push(() => listening.stop());
    await expect.poll(async () => (await database.$client.query("select from pg_stat_activity where application_name = 'pharos listen' and query like 'listen%' and state = 'idle' and datname = current_database()")).rowCount).toBe(1);
    await emit("incident.created");
    await settled(id, "1 delivered");
  });

  it("is fanned out exactly once by many schedulers at once, however many events there are", async () => {
    const [first, second] = [await subscribe("https://example.com/1"), await subscribe("https://example.com/2")];
    const happened = Array.from({ length: 2_000 }, (_, n) => ({ organizationId: actor.organizationId, type: "incident.created" as const, data: { n }, at: new Date(now) }));
    await inTransaction(database, (tx) => emitEvents(tx, happened));
    const counts = await Promise.all(Array.from({ length: 4 }, () => fanOut(database, new Date(now))));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2_000);
    for (const { id } of [first, second]) {
      const rows = await rowsOf(id);
      expect(rows).toHaveLength(2_000);
      expect(new Set(rows.map(({ eventId }) => eventId)).size).toBe(2_000);
    }
    expect(await fanOut(database, new Date(now))).toBe(0);
  });
});

describe("a failed delivery", () => {
  it("is retried 1 min, 5 min, 30 min, 2 h and 24 h after the failure before, then the webhook is disabled", async () => {
    const receiver = await receive(statusCode(500));
    const { id } = await subscribe(receiver.url);
    await emit("incident.created", { n: 1 });
    startDeliveries();
    await settled(id, "1 failed", "2 pending");
    for (const [n, delay] of config.WEBHOOK_RETRY_DELAYS.entries()) {
      const done = Array.from({ length: n + 1 }, (_, index) => `${index + 1} failed`);
      // A millisecond early nothing happens, however often the scheduler looks.
      now += delay - 1;
      await looked();
      expect(receiver.received).toHaveLength(n + 1);
      expect((await rowsOf(id)).at(-1)).toMatchObject({ status: "pending", dueAt: new Date(now + 1), nextRetryAt: new Date(now + 1) });
      now += 1;
      const last = n === config.WEBHOOK_RETRY_DELAYS.length - 1;
      await settled(id, ...done, `${n + 2} failed`, ...(last ? [] : [`${n + 3} pending`]));
    }
    expect(receiver.received).toHaveLength(6);
    expect(await getWebhook(database, actor.organizationId, id)).toMatchObject({ is_active: false, disabled_reason: "retries_exhausted", disabled_at: new Date(now).toISOString() });
    // The same bytes and id each time; the timestamp is the attempt's.
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(receiver.received.map(({ headers }) => headers["webhook-timestamp"])).toEqual(["12:00:00", "12:01:00", "12:06:00", "12:36:00", "14:36:00"].map((time) => String(Date.parse(`2026-01-31T${time}Z`) / 1000)).concat(String(Date.parse("2026-02-01T14:36:00Z") / 1000)));
    const [entry] = await database.select().from(auditEntries).where(and(eq(auditEntries.resourceId, id), eq(auditEntries.action, "webhook.disabled")));
    expect(entry).toMatchObject({ actorType: "system", changedFields: ["disabled_at", "disabled_reason", "is_active"] });
  });

  it("that succeeds at a retry is done", async () => {
    let broken = true;
    const receiver = await receive((response) => statusCode(broken ? 503 : 200)(response));
    const { id } = await subscribe(receiver.url);
    await emit("incident.created");
    startDeliveries();
    await settled(id, "1 failed", "2 pending");
    broken = false;
    now += MINUTE;
    await settled(id, "1 failed", "2 delivered");
    expect(await getWebhook(database, actor.organizationId, id)).toMatchObject({ is_active: true });
  });

  it("answered 410 disables the webhook at once and abandons everything that is pending", async () => {
    let code = 500;
    const receiver = await receive((response) => statusCode(code)(response));
    const { id } = await subscribe(receiver.url);
    await emit("incident.created", { n: 1 });
    startDeliveries();
    await settled(id, "1 failed", "2 pending");
    code = 410;
    now += 1_000;
    await emit("incident.created", { n: 2 });
    await settled(id, "1 failed", "2 abandoned", "1 failed");
    expect(await getWebhook(database, actor.organizationId, id)).toMatchObject({ is_active: false, disabled_reason: "gone" });
    expect((await rowsOf(id)).map(({ nextRetryAt }) => nextRetryAt)).toEqual([null, null, null]);

    // Enabled again it starts anew: the next event has its first attempt and all its retries.
    await updateWebhook({ database, config }, actor, id, { is_active: true }, new Date(now));
    expect(await getWebhook(database, actor.organizationId, id)).toMatchObject({ is_active: true, disabled_at: null, disabled_reason: null });
    code = 500;
    now += 1_000;
    await emit("incident.created", { n: 3 });
    await settled(id, "1 failed", "2 abandoned", "1 failed", "1 failed", "2 pending");
  });

  it.each([
    ["a redirect", 30_000, (response: ServerResponse) => response.writeHead(302, { location: "https://example.com/" }).end(), 302, "The receiver answered 302. Redirects are not followed"],
    ["a dropped connection", 30_000, (response: ServerResponse) => response.socket?.destroy(), null, "localhost cut the connection"],
    ["no answer in time", 300, () => undefined, null, "No complete answer within 0.3 s."],
    ["a byte a second", 300, (response: ServerResponse) => trickle(response), null, "No complete answer within 0.3 s."],
  ])("can be %s", async (_, timeoutMs, answer, code, error) => {
    const receiver = await receive(answer);
    const { id } = await subscribe(receiver.url);
    await emit("incident.created");
    startDeliveries({ WEBHOOK_TIMEOUT_MS: timeoutMs });
    await settled(id, "1 failed", "2 pending");
    expect((await rowsOf(id))[0]).toMatchObject({ responseStatusCode: code, error: expect.stringContaining(error), nextRetryAt: new Date(now + MINUTE) });
  });

  it("can be an address that may no longer be reached", async () => {
    const receiver = await receive(statusCode(200));
    const { id } = await subscribe(receiver.url);
    await emit("incident.created");
    const strict = makeOutbound({ config: { ...config, OUTBOUND_PORTS: [], OUTBOUND_ALLOW: [], OUTBOUND_CA_FILE: certificate.file } });
    const deliveries = makeDeliveries({ database, outbound: strict, clock, config, log });
    deliveries.start();
    await settled(id, "1 failed", "2 pending");
    await deliveries.stop();
    expect((await rowsOf(id))[0]?.error).toMatch(/not public.*OUTBOUND_ALLOW/);
    expect(receiver.connections()).toBe(0);
  });
});

function trickle(response: ServerResponse): void {
  response.writeHead(200);
  const trickling = setInterval(() => response.write("."), 100);
  response.on("close", () => clearInterval(trickling));
}

describe("a slow receiver", () => {
  it("delays no other, even with many deliveries waiting", async () => {
    const hanging = await receive(() => undefined);
    const quick = await receive(statusCode(200));
    const slow = await subscribe(hanging.url, ["monitor.down"]);
    const fast = await subscribe(quick.url);
    await inTransaction(database, (tx) => emitEvents(tx, Array.from({ length: 300 }, () => ({ organizationId: actor.organizationId, type: "monitor.down" as const, data: {}, at: new Date(now) }))));
    startDeliveries({ WEBHOOK_TIMEOUT_MS: 2 * MINUTE });
    await expect.poll(() => hanging.received.length).toBe(2);
    await inTransaction(database, (tx) => emitEvents(tx, Array.from({ length: 50 }, () => ({ organizationId: actor.organizationId, type: "incident.created" as const, data: {}, at: new Date(now) }))));
    await expect.poll(async () => (await statusesOf(fast.id)).filter((status) => status === "1 delivered").length).toBe(50);
    // All that while it hangs, with no more than its share of connections.
    expect(await database.$count(webhookDeliveries, and(eq(webhookDeliveries.webhookId, slow.id), isNotNull(webhookDeliveries.leaseToken)))).toBe(20);
    expect((await statusesOf(slow.id)).every((status) => status === "1 pending")).toBe(true);
  });

  it("takes no more than its organization's share, however many webhooks it has", async () => {
    const hanging = await receive(() => undefined);
    const quick = await receive(statusCode(200));
    for (let n = 0; n < 5; n++) await subscribe(`${hanging.url}/${n}`, ["monitor.down"]);
    await inTransaction(database, (tx) => emitEvents(tx, Array.from({ length: 4 }, () => ({ organizationId: actor.organizationId, type: "monitor.down" as const, data: {}, at: new Date(now) }))));
    startDeliveries({ WEBHOOK_TIMEOUT_MS: 2 * MINUTE }, { total: 40, perWebhook: 3, perOrganization: 10 });
    const inHand = () => database.$count(webhookDeliveries, isNotNull(webhookDeliveries.leaseToken));
    await expect.poll(inHand).toBe(10);
    const neighbour = systemActor(await makeOrganization(), "Test");
    const fast = await subscribe(quick.url, ["incident.created"], {}, neighbour);
    await emit("incident.created", {}, neighbour);
    await settled(fast.id, "1 delivered");
    expect(await inHand()).toBe(10);
  });
});

describe("the order of a webhook's events", () => {
  const numbers = (receiver: Receiver) => receiver.received.map(({ body }) => (JSON.parse(body) as { data: { n: number } }).data.n);
  const emitMany = (count: number) => inTransaction(database, (tx) => emitEvents(tx, Array.from({ length: count }, (_, n) => ({ organizationId: actor.organizationId, type: "incident.updated" as const, data: { n }, at: new Date(now) }))));

  it("is kept, by several schedulers, although answers take their time", async () => {
    const receiver = await receive((response) => setTimeout(() => response.end(), Math.random() * 5));
    await subscribe(receiver.url, ["incident.updated"]);
    await emitMany(100);
    for (let n = 0; n < 3; n++) startDeliveries({ SCHEDULER_TICK_MS: 20 });
    await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(100);
    expect(numbers(receiver)).toEqual(Array.from({ length: 100 }, (_, n) => n));
  });

  it("does not make others wait for one that is not answered", async () => {
    const receiver = await receive((response, { body }) => (body.includes('"n":0') ? undefined : response.end()));
    const { id } = await subscribe(receiver.url, ["incident.updated"]);
    await emitMany(3);
    startDeliveries({ WEBHOOK_TIMEOUT_MS: 2 * MINUTE });
    await expect.poll(() => receiver.received.length).toBe(3);
    expect(numbers(receiver)).toEqual([0, 1, 2]);
    await expect.poll(async () => (await statusesOf(id)).toSorted()).toEqual(["1 delivered", "1 delivered", "1 pending"]);
  });
});

describe("a scheduler", () => {
  it("that died between the answer and its record makes a second delivery with the same id, after its lease", async () => {
    const receiver = await receive(statusCode(200));
    const { id } = await subscribe(receiver.url);
    await emit("incident.created");
    await fanOut(database, new Date(now));
    // All that it did: claim and post. It recorded nothing.
    const limits = { room: 10, perWebhook: 10, perOrganization: 10, running: { webhooks: new Map(), organizations: new Map() } };
    const [claimed] = await claimDeliveries(database, new Date(now), config.WEBHOOK_TIMEOUT_MS + 15_000, limits);
    await attemptDelivery(claimed!, { outbound, clock, config, signal: new AbortController().signal });
    expect(receiver.received).toHaveLength(1);

    startDeliveries();
    now += config.WEBHOOK_TIMEOUT_MS + 14_999;
    await looked();
    expect(receiver.received).toHaveLength(1);
    now += 1;
    await settled(id, "1 delivered");
    expect(receiver.received).toHaveLength(2);
    expect(receiver.received[0]!.body).toBe(receiver.received[1]!.body);
    expect(receiver.received[0]!.headers["webhook-id"]).toBe(receiver.received[1]!.headers["webhook-id"]);
  });

  it("that stops finishes what runs and gives back what does not finish in time", async () => {
    const answers: (() => void)[] = [];
    const receiver = await receive((response) => answers.push(() => response.end()));
    const [finishing, hanging] = [await subscribe(`${receiver.url}/finishing`), await subscribe(`${receiver.url}/hanging`, ["monitor.down"])];
    await emit("incident.created");
    await emit("monitor.down");
    const deliveries = makeDeliveries({ database, outbound, clock, config: { ...config, SHUTDOWN_LIMIT_MS: 4_000, WEBHOOK_TIMEOUT_MS: 10 * MINUTE }, log });
    deliveries.start();
    await expect.poll(() => receiver.received.length).toBe(2);
    const stopped = deliveries.stop();
    answers[receiver.received.findIndex(({ path }) => path === "/finishing")]!();
    // Waiting for the other one would take longer than a test may.
    await stopped;
    expect(await statusesOf(finishing.id)).toEqual(["1 delivered"]);
    expect(await rowsOf(hanging.id)).toMatchObject([{ status: "pending", attempt: 1, leaseToken: null, dueAt: new Date(now) }]);
  });

  it("goes on when Postgres was away", async () => {
    const receiver = await receive(statusCode(200));
    const { id } = await subscribe(receiver.url);
    startDeliveries();
    const { name } = (await database.$client.query<{ name: string }>("select current_database() as name")).rows[0]!;
    const admin = new Client({ connectionString: inject("postgresUrl") });
    await admin.connect();
    await admin.query(`alter database ${name} allow_connections false`);
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
    await admin.query("select pg_sleep(0.2)");
    await admin.query(`alter database ${name} allow_connections true`);
    await admin.end();
    await expect.poll(() => emit("incident.created").then(() => true, () => false)).toBe(true);
    await settled(id, "1 delivered");
  });
});

describe("a person", () => {
  it("tries a webhook, once, also when it is disabled, without retries and without telling others", async () => {
    let code = 500;
    const receiver = await receive((response) => statusCode(code)(response));
    const other = await receive(statusCode(200));
    const { id } = await subscribe(receiver.url);
    await subscribe(other.url, ["webhook.test"]);
    startDeliveries();
    const failed = await testWebhook(database, actor.organizationId, id, { at: new Date(now), waitMs: MINUTE });
    expect(failed).toMatchObject({ event: "webhook.test", trigger: "test", status: "failed", response_status_code: 500, next_retry_at: null });
    await updateWebhook({ database, config }, actor, id, { is_active: false }, new Date(now));
    code = 200;
    now += 1;
    expect(await testWebhook(database, actor.organizationId, id, { at: new Date(now), waitMs: MINUTE })).toMatchObject({ status: "delivered", error: null });
    expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({ event: "webhook.test", data: { webhook_id: id } });
    expect(await statusesOf(id)).toEqual(["1 failed", "1 delivered"]);
    expect(other.received).toEqual([]);
  });

  it("has an answer also when nothing delivers", async () => {
    const { id } = await subscribe("https://example.com/");
    expect(await testWebhook(database, actor.organizationId, id, { at: new Date(now), waitMs: 50 })).toMatchObject({ status: "pending" });
  });

  it("delivers an event again, the same bytes under the new secret", async () => {
    const receiver = await receive(statusCode(200));
    const { id } = await subscribe(receiver.url);
    await emit("incident.created", { n: 1 });
    startDeliveries();
    await settled(id, "1 delivered");
    const { signing_secret: secret } = await rotateSecret(database, actor, id, { expire_previous: false }, new Date(now));
    now += 1_000;
    const [first] = await rowsOf(id);
    expect(await redeliver(database, actor.organizationId, id, first!.id, new Date(now))).toMatchObject({ trigger: "redeliver", status: "pending", attempt: 1, event_id: first!.eventId });
    await settled(id, "1 delivered", "1 delivered");
    const [one, two] = receiver.received;
    expect(two!.body).toBe(one!.body);
    expect(two!.headers["webhook-id"]).toBe(one!.headers["webhook-id"]);
    expect(two!.headers["x-service-signature"]).toBe(createHmac("sha256", secret).update(two!.body).digest("hex"));
    expect(two!.headers["x-service-signature"]).not.toBe(one!.headers["x-service-signature"]);
  });

  it("disables or deletes a webhook while its receiver is being called", async () => {
    const answers: (() => void)[] = [];
    const receiver = await receive((response) => answers.push(() => response.writeHead(500).end()));
    const [disabled, deleted] = [await subscribe(`${receiver.url}/disabled`), await subscribe(`${receiver.url}/deleted`)];
    await emit("incident.created");
    startDeliveries();
    await expect.poll(() => answers.length).toBe(2);
    await updateWebhook({ database, config }, actor, disabled.id, { is_active: false }, new Date(now));
    await deleteWebhook(database, actor, deleted.id);
    expect(await statusesOf(disabled.id)).toEqual(["1 abandoned"]);
    for (const answer of answers) answer();
    // The outcome is recorded, and nothing more is planned.
    await settled(disabled.id, "1 failed");
    expect(await getWebhook(database, actor.organizationId, disabled.id)).toMatchObject({ disabled_reason: "manual" });
    expect(await statusesOf(deleted.id)).toEqual([]);
  });
});
