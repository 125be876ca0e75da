import type { ServerResponse } from "node:http";
import { asc, eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemActor, type Actor } from "../../domain/actor.ts";
import { createChannel } from "../../domain/channels/create.ts";
import { deleteChannel } from "../../domain/channels/delete.ts";
import { confirmChannel, sendCode } from "../../domain/channels/phone-code.ts";
import { queueMessage } from "../../domain/channels/queue-message.ts";
import { updateChannel } from "../../domain/channels/update.ts";
import { emitEvents } from "../../domain/events/emit.ts";
import { fanOut } from "../../domain/events/fan-out.ts";
import { claimChannels } from "../../domain/notifications/claim.ts";
import { listNotifications } from "../../domain/notifications/read.ts";
import { forgetOldNotifications } from "../../domain/notifications/forget-old.ts";
import { testChannel } from "../../domain/notifications/test-channel.ts";
import type { Clock } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import { makeOutbound, type Outbound } from "../../platform/outbound/outbound.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { channels, dailyTexts, events, notifications, organizations, statusPages } from "../../schemas/tables/all.ts";
import type { ChannelType, EventType } from "../../schemas/vocabulary.ts";
import { makeCertificate, type Certificate } from "../../testing/certificate.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { startReceiver, type Receiver } from "../../testing/receiver.ts";
import { DiscordMessage, PagerdutyEvent, SlackMessage, SmsMessage, TeamsMessage } from "../../testing/vendor-schemas.ts";
import { attemptSending, nextFor } from "./attempt.ts";
import type { Sender } from "../due-work/sender.ts";
import { makeNotifications } from "./notify.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const baseConfig = {
  SCHEDULER_TICK_MS: 20,
  SHUTDOWN_LIMIT_MS: 1_000,
  WEBHOOK_TIMEOUT_MS: 30_000,
  WEBHOOK_ALLOW_HTTP: false,
  OUTBOUND_PORTS: [], OUTBOUND_ALLOW: ["127.0.0.0/8"],
  PUBLIC_URL: "https://status.example.com/" as string | null,
  SMS_GATEWAY_URL: null as string | null,
  SMS_FROM: "+15005550006" as string | null,
  SMS_PER_DAY: { free: 0, pro: 2, team: 1_000 },
  PAGERDUTY_EVENTS_URL: "https://localhost:9/",
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
  outbound = makeOutbound({ config: { OUTBOUND_ALLOW: baseConfig.OUTBOUND_ALLOW, OUTBOUND_PORTS: [], OUTBOUND_CA_FILE: certificate.file } });
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
  await database.delete(channels);
  await database.update(events).set({ fannedOutAt: new Date(now) });
});

async function makeOrganization(): Promise<string> {
  const id = newId();
  await database.insert(organizations).values({ id, name: "Acme", plan: "team", timezone: "Europe/Berlin" });
  await database.insert(statusPages).values({ id: newId(), organizationId: id, name: "Acme", slug: `acme-${id.slice(0, 8)}`, isDefault: true });
  return id;
}

function start(changes: Partial<typeof baseConfig> = {}): Sender {
  const notifying = makeNotifications({ database, outbound, clock, config: { ...baseConfig, ...changes }, log });
  notifying.start();
  stops.push(() => notifying.stop());
  return notifying;
}

async function receive(answer: Parameters<typeof startReceiver>[1]): Promise<Receiver> {
  const receiver = await startReceiver(certificate, answer);
  stops.push(() => receiver.stop());
  return receiver;
}

const answer = (code: number, body = "", headers = {}) => (response: ServerResponse) => response.writeHead(code, headers).end(body);

async function addChannel(type: ChannelType, config: Record<string, string>, by = actor): Promise<string> {
  const input = { type, name: "On call", config, enabled: true, notify_on_incident: true, notify_on_maintenance: true };
  const { id } = await createChannel({ database, config: baseConfig }, by, input, new Date(now));
  if (type === "sms") {
    await database.update(channels).set({ confirmedAt: new Date(now) }).where(eq(channels.id, id));
    await database.delete(notifications).where(eq(notifications.channelId, id));
  }
  return id;
}

const incident = (id: string) => ({ id, title: `Slow ${id}`, status: "investigating", severity: "major", services: ["Checkout"], message: "We look into it." });

/** Events of one moment each, one after the other, fanned out. */
async function happen(...happened: (readonly [EventType, Record<string, unknown>])[]): Promise<void> {
  await happenTo(actor, ...happened);
}

async function happenTo({ organizationId }: Actor, ...happened: (readonly [EventType, Record<string, unknown>])[]): Promise<void> {
  const start = now - happened.length;
  await inTransaction(database, (tx) => emitEvents(tx, happened.map(([type, data], n) => ({ organizationId, type, data, at: new Date(start + n) }))));
  await fanOut(database, new Date(now));
}

const rowsOf = (channelId: string) => database.select().from(notifications).where(eq(notifications.channelId, channelId)).orderBy(asc(notifications.createdAt), asc(notifications.id));
const statusesOf = async (channelId: string) => (await rowsOf(channelId)).map(({ attempts, status }) => `${attempts} ${status}`);
const settled = (channelId: string, ...statuses: string[]) => expect.poll(() => statusesOf(channelId)).toEqual(statuses);
const titlesOf = (receiver: Receiver) => receiver.received.map(({ body }) => (JSON.parse(body) as { blocks: { text: { text: string } }[] }).blocks[0]!.text.text);

describe("each vendor", () => {
  it.each([
    ["slack", answer(200, "ok"), (url: string) => ({ webhook_url: `${url}/services/T0/B0/very-private` }), SlackMessage, "ok"],
    ["discord", answer(204), (url: string) => ({ webhook_url: `${url}/api/webhooks/1/very-private` }), DiscordMessage, ""],
    ["teams", answer(202), (url: string) => ({ webhook_url: `${url}/workflows/very-private` }), TeamsMessage, ""],
    ["pagerduty", answer(202, '{"status":"success","dedup_key":"x"}'), () => ({ routing_key: "R0UTINGKEY" }), PagerdutyEvent, '{"status":"success","dedup_key":"x"}'],
    ["sms", answer(201, '{"sid":"SM1","to":"+4915112345678","account_sid":"AC0123456"}'), () => ({ phone_number: "+4915112345678" }), SmsMessage, '{"sid":"SM1","to":"…","account_sid":"…"}'],
  ] as const)("%s gets what it takes, and its answer is kept without secrets", async (type, answers, configOf, schema, shown) => {
    const receiver = await receive(answers);
    const gateway = new URL(`${receiver.url}/Accounts/AC0123456/Messages.json`);
    [gateway.username, gateway.password] = ["AC0123456", "s3cret"];
    const id = await addChannel(type, configOf(receiver.url));
    await happen(["incident.created", incident("1")]);
    start({ SMS_GATEWAY_URL: gateway.href, PAGERDUTY_EVENTS_URL: `${receiver.url}/v2/enqueue` });
    await settled(id, "1 delivered");
    const [request] = receiver.received;
    const body: unknown = type === "sms" ? Object.fromEntries(new URLSearchParams(request!.body)) : JSON.parse(request!.body);
    expect(schema.safeParse(body).error).toBeUndefined();
    expect(request!.body.replaceAll("+", " ")).toContain("Slow 1");
    if (type === "sms") expect(request).toMatchObject({ path: "/Accounts/AC0123456/Messages.json", headers: { authorization: `Basic ${Buffer.from("AC0123456:s3cret").toString("base64")}` } });
    const [row] = await rowsOf(id);
    expect(row).toMatchObject({ error: null, responseBody: shown, durationMs: expect.any(Number) as number, finishedAt: new Date(now), trigger: "event" });
    expect(JSON.stringify(row)).not.toMatch(/very-private|R0UTINGKEY|15112345678|AC0123456|s3cret/);
  });

  it("without a gateway for text messages the operator is named", async () => {
    const id = await addChannel("sms", { phone_number: "+4915112345678" });
    await happen(["incident.created", incident("1")]);
    start();
    await settled(id, "1 failed");
    expect((await rowsOf(id))[0]).toMatchObject({ error: expect.stringContaining("SMS_GATEWAY_URL") as string, responseStatusCode: null });
  });
});

describe("a phone number", () => {
  const number = "+4915112340000";
  const wanted = { type: "sms" as const, name: "On call", config: { phone_number: number }, enabled: true, notify_on_incident: true, notify_on_maintenance: true };
  const create = (by = actor) => createChannel({ database, config: baseConfig }, by, wanted, new Date(now));
  const said = ({ body }: Receiver["received"][number]) => new URLSearchParams(body).get("Body")!;
  const codeIn = (receiver: Receiver) => /Your code is (\d{6})/.exec(said(receiver.received.at(-1)!))![1]!;
  const errorsOf = async (channelId: string) => (await rowsOf(channelId)).map(({ error }) => error);
  const onPlan = (plan: "free" | "pro" | "team") => database.update(organizations).set({ plan }).where(eq(organizations.id, actor.organizationId));
  let receiver: Receiver;
  const begin = async () => {
    await database.delete(dailyTexts);
    // It says back what it was given to send, as gateways do.
    receiver = await startReceiver(certificate, (response, { body }) => response.writeHead(201).end(JSON.stringify({ sid: "SM1", body: new URLSearchParams(body).get("Body") })));
    stops.push(() => receiver.stop());
    start({ SMS_GATEWAY_URL: receiver.url });
  };

  it("is sent a code first, which no reader of the API sees, and nothing else until it is given", async () => {
    await begin();
    const { id, confirmed } = await create();
    expect(confirmed).toBe(false);
    await settled(id, "1 delivered");
    const code = codeIn(receiver);
    expect(said(receiver.received[0]!)).not.toContain("Acme");
    expect(JSON.stringify([await rowsOf(id), await listNotifications(database, actor.organizationId, id, { limit: 50, offset: 0 })])).not.toContain(code);
    now += 6 * SECOND;
    await happen(["incident.created", incident("1")]);
    await settled(id, "1 delivered", "1 failed");
    expect((await errorsOf(id))[1]).toMatch(/not confirmed yet/);
    expect(receiver.received).toHaveLength(1);

    const confirm = (given: string) => confirmChannel(database, actor, id, { code: given }, new Date(now));
    await expect(confirm(code === "000000" ? "000001" : "000000")).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    expect(await confirm(code)).toMatchObject({ confirmed: true });
    await expect(confirm(code)).rejects.toMatchObject({ code: "CONFLICT" });
    now += 6 * SECOND;
    await happen(["incident.created", incident("2")]);
    await settled(id, "1 delivered", "1 failed", "1 delivered");
    expect(said(receiver.received[1]!)).toContain("Slow 2");
  });

  it.each([
    ["after five wrong tries", async (id: string, code: string) => {
      for (let n = 0; n < 5; n++) await confirmChannel(database, actor, id, { code: code === "111111" ? "222222" : "111111" }, new Date(now)).catch(() => undefined);
    }],
    ["after a quarter of an hour", () => Promise.resolve(void (now += 15 * MINUTE + 1))],
    ["when another was sent", async (id: string) => {
      now += MINUTE;
      await sendCode(database, actor, id, new Date(now));
      await settled(id, "1 delivered", "1 delivered");
    }],
  ])("is not confirmed by its code %s", async (_, happens) => {
    await begin();
    const { id } = await create();
    await settled(id, "1 delivered");
    const code = codeIn(receiver);
    await happens(id, code);
    // One in a million: the new code may be the old one.
    if (codeIn(receiver) !== code || receiver.received.length === 1) await expect(confirmChannel(database, actor, id, { code }, new Date(now))).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  it("that is changed is asked anew", async () => {
    const id = await addChannel("sms", { phone_number: number });
    const change = (config: object) => updateChannel({ database, config: baseConfig }, actor, id, { config }, new Date(now));
    expect(await change({ phone_number: number })).toMatchObject({ confirmed: true });
    expect(await change({ phone_number: "+4915112340001" })).toMatchObject({ confirmed: false });
    expect((await rowsOf(id)).map(({ trigger }) => trigger)).toEqual(["code"]);
  });

  it("gets five codes a day, whoever asks, and one a minute", async () => {
    await begin();
    for (let n = 0; n < 6; n++) {
      actor = systemActor(await makeOrganization(), "Another");
      const { id } = await create();
      await settled(id, n < 5 ? "1 delivered" : "1 failed");
      if (n === 5) expect(await errorsOf(id)).toEqual([expect.stringMatching(/^This number was sent 5 codes today/)]);
      await expect(sendCode(database, actor, id, new Date(now))).rejects.toMatchObject({ code: "RATE_LIMITED" });
    }
    expect(receiver.received).toHaveLength(5);
  });

  it("is told no more than its organization's plan allows in a day", async () => {
    await begin();
    await onPlan("pro");
    const id = await addChannel("sms", { phone_number: number });
    for (let n = 0; n < 3; n++) {
      await happen(["incident.created", incident(String(n))]);
      await settled(id, ...["1 delivered", "1 delivered", "1 failed"].slice(0, n + 1));
      now += 6 * SECOND;
    }
    expect((await errorsOf(id))[2]).toBe("The pro plan sends 2 text messages a day (UTC), and today's are used up.");
    now += 24 * 60 * MINUTE;
    await happen(["incident.created", incident("next day")]);
    await settled(id, "1 delivered", "1 delivered", "1 failed", "1 delivered");
  });

  it("is none on a plan without text messages", async () => {
    await onPlan("free");
    await expect(create()).rejects.toMatchObject({ code: "PLAN_RESTRICTED" });
  });
});

describe("the order", () => {
  it("holds, one after the other at the vendor's pace, with three schedulers", async () => {
    const receiver = await receive(answer(200, "ok"));
    const id = await addChannel("slack", { webhook_url: receiver.url });
    await happen(["incident.created", incident("1")], ["incident.updated", incident("1")], ["incident.resolved", incident("1")]);
    for (let n = 0; n < 3; n++) start();
    await settled(id, "1 delivered", "0 pending", "0 pending");
    now += SECOND - 1;
    await looked();
    expect(receiver.received).toHaveLength(1);
    now += 1;
    await settled(id, "1 delivered", "1 delivered", "0 pending");
    now += SECOND;
    await settled(id, "1 delivered", "1 delivered", "1 delivered");
    expect(titlesOf(receiver)).toEqual(["Incident opened: Slow 1", "Incident updated: Slow 1", "Incident resolved: Slow 1"]);
  });

  it("holds while the first fails: what came later waits for it", async () => {
    let broken = true;
    const receiver = await receive((response) => (broken ? answer(500) : answer(200, "ok"))(response));
    const id = await addChannel("slack", { webhook_url: receiver.url });
    await happen(["incident.created", incident("1")], ["incident.resolved", incident("1")]);
    start();
    await settled(id, "1 pending", "0 pending");
    now += 9 * SECOND;
    await looked();
    expect(receiver.received).toHaveLength(1);
    // What comes new may find it back already; the first still is the first.
    broken = false;
    await happen(["incident.created", incident("2")]);
    await settled(id, "2 delivered", "0 pending", "0 pending");
    now += SECOND;
    await settled(id, "2 delivered", "1 delivered", "0 pending");
    now += SECOND;
    await settled(id, "2 delivered", "1 delivered", "1 delivered");
    expect(titlesOf(receiver)).toEqual(["Incident opened: Slow 1", "Incident opened: Slow 1", "Incident resolved: Slow 1", "Incident opened: Slow 2"]);
  });

  it("waits for what happened earlier and is not fanned out yet", async () => {
    const receiver = await receive(answer(200, "ok"));
    const id = await addChannel("slack", { webhook_url: receiver.url });
    await happen(["incident.resolved", incident("1")]);
    await inTransaction(database, (tx) => emitEvents(tx, [{ organizationId: actor.organizationId, type: "incident.created", data: incident("1"), at: new Date(now - 1_000) }]));
    start();
    await looked();
    expect(receiver.received).toEqual([]);
    await fanOut(database, new Date(now));
    await settled(id, "1 delivered", "0 pending");
    expect(titlesOf(receiver)).toEqual(["Incident opened: Slow 1"]);
  });
});

describe("a failure", () => {
  it("is tried again 10 s, 1 min, 5 min, 30 min and 2 h after the one before, then given up", async () => {
    const receiver = await receive(answer(503, "later"));
    const id = await addChannel("slack", { webhook_url: receiver.url });
    await happen(["incident.created", incident("1")]);
    start();
    await settled(id, "1 pending");
    for (const [n, seconds] of [10, 60, 300, 1_800, 7_200].entries()) {
      now += seconds * SECOND - 1;
      await looked();
      expect(receiver.received).toHaveLength(n + 1);
      now += 1;
      await settled(id, `${n + 2} ${n === 4 ? "failed" : "pending"}`);
    }
    expect((await rowsOf(id))[0]).toMatchObject({ error: "The receiver answered 503.", responseStatusCode: 503, responseBody: "later", finishedAt: new Date(now) });
  });

  it("of too much at once waits as long as the vendor says, and everything else with it", async () => {
    let limited = true;
    const receiver = await receive((response) => (limited ? answer(429, '{"retry_after": 45}', { "retry-after": "45" }) : answer(204))(response));
    const id = await addChannel("discord", { webhook_url: receiver.url });
    await happen(["incident.created", incident("1")]);
    start();
    await settled(id, "1 pending");
    limited = false;
    now += 10;
    await happen(["incident.created", incident("2")]);
    now += 45 * SECOND - 11;
    await looked();
    expect(receiver.received).toHaveLength(1);
    now += 1;
    await settled(id, "2 delivered", "0 pending");
  });

  it("need not be waited for when the channel has another address", async () => {
    const limited = await receive(answer(429, "", { "retry-after": "600" }));
    const other = await receive(answer(200, "ok"));
    const id = await addChannel("slack", { webhook_url: limited.url });
    await happen(["incident.created", incident("1")]);
    start();
    await settled(id, "1 pending");
    await updateChannel({ database, config: baseConfig }, actor, id, { config: { webhook_url: other.url } }, new Date(now));
    expect(await testChannel(database, actor.organizationId, id, { at: new Date(now), waitMs: MINUTE })).toMatchObject({ status: "delivered" });
  });

  it.each([
    ["slack", 404, "no_service", "This Slack hook was removed or is disabled"],
    ["slack", 400, "invalid_payload", "The receiver answered 400."],
    ["discord", 404, '{"code": 10015}', "was deleted"],
    ["webhook", 410, "", "The address is gone"],
  ] as const)("of %s that answers %i %s is final", async (type, code, body, sentence) => {
    const receiver = await receive(answer(code, body));
    const id = await addChannel(type, type === "webhook" ? { url: receiver.url } : { webhook_url: receiver.url });
    await happen(["incident.created", incident("1")]);
    start();
    await settled(id, "1 failed");
    expect((await rowsOf(id))[0]).toMatchObject({ error: expect.stringContaining(sentence) as string, responseStatusCode: code });
  });

  it("can be an address that may not be reached (any more)", async () => {
    const receiver = await receive(answer(200));
    const id = await addChannel("slack", { webhook_url: receiver.url });
    await happen(["incident.created", incident("1")]);
    const strict = makeOutbound({ config: { OUTBOUND_ALLOW: [], OUTBOUND_PORTS: [], OUTBOUND_CA_FILE: certificate.file } });
    const notifying = makeNotifications({ database, outbound: strict, clock, config: baseConfig, log });
    notifying.start();
    await settled(id, "1 failed");
    await notifying.stop();
    expect((await rowsOf(id))[0]?.error).toMatch(/not public.*OUTBOUND_ALLOW/);
    expect(receiver.connections()).toBe(0);
  });
});

describe("a burst", () => {
  const hundred = Array.from({ length: 100 }, (_, n) => ["incident.created", incident(String(n))] as const);

  it("is one message where people read, and each is noted with it", async () => {
    const receiver = await receive(answer(200, "ok"));
    const id = await addChannel("slack", { webhook_url: receiver.url });
    await happen(...hundred);
    for (let n = 0; n < 2; n++) start();
    await expect.poll(async () => (await rowsOf(id)).every(({ status }) => status === "delivered")).toBe(true);
    expect(titlesOf(receiver)).toEqual(["100 notices: 100 incidents opened"]);
    const [first, ...others] = await rowsOf(id);
    expect(first).toMatchObject({ coalescedInto: null, attempts: 1, responseBody: "ok" });
    expect(new Set(others.map(({ coalescedInto, attempts }) => `${coalescedInto} ${attempts}`))).toEqual(new Set([`${first!.id} 1`]));
  });

  it("is an alert each at PagerDuty, but for what is over already", async () => {
    const receiver = await receive(answer(202));
    const id = await addChannel("pagerduty", { routing_key: "R0UTINGKEY" });
    const ids = ["1", "2", "3", "4"];
    await happen(...ids.map((each) => ["incident.created", incident(each)] as const), ...["1", "2"].map((each) => ["incident.resolved", incident(each)] as const));
    start({ PAGERDUTY_EVENTS_URL: receiver.url });
    for (const done of [2, 3, 4, 5, 6]) {
      await expect.poll(async () => (await rowsOf(id)).filter(({ status }) => status === "delivered").length).toBe(done);
      now += SECOND;
    }
    const events = receiver.received.map(({ body }) => PagerdutyEvent.parse(JSON.parse(body))).map(({ event_action, dedup_key }) => `${event_action} ${dedup_key}`);
    expect(events).toEqual(["resolve incident/1", "trigger incident/2", "trigger incident/3", "trigger incident/4", "resolve incident/2"]);
  });

  it("is each alone for a program", async () => {
    const receiver = await receive(answer(200));
    const id = await addChannel("webhook", { url: receiver.url, secret: "mine" });
    await happen(...hundred.slice(0, 20));
    for (let n = 0; n < 3; n++) start();
    await settled(id, ...Array.from({ length: 20 }, () => "1 delivered"));
    expect(receiver.received.map(({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id)).toEqual(hundred.slice(0, 20).map(([, { id }]) => id));
  });
});

describe("a vendor that hangs", () => {
  it("delays neither others nor other organizations, and takes no more than its share", async () => {
    const hanging = await receive(() => undefined);
    const quick = await receive(answer(204));
    for (let n = 0; n < 25; n++) await addChannel("slack", { webhook_url: `${hanging.url}/${n}` });
    await happen(["incident.created", incident("1")]);
    start();
    await expect.poll(() => hanging.received.length).toBe(20);
    const neighbour = systemActor(await makeOrganization(), "Test");
    const id = await addChannel("discord", { webhook_url: quick.url }, neighbour);
    await happenTo(neighbour, ["incident.created", incident("2")]);
    await settled(id, "1 delivered");
    expect(hanging.received).toHaveLength(20);
  });

  it("leaves places for the other vendors, however many organizations tell it", async () => {
    const hanging = await receive(() => undefined);
    const quick = await receive(answer(204));
    const organizations = await Promise.all(Array.from({ length: 4 }, async () => systemActor(await makeOrganization(), "Test")));
    for (const each of organizations) {
      for (let n = 0; n < 18; n++) await addChannel("slack", { webhook_url: hanging.url }, each);
      await happenTo(each, ["incident.created", incident("1")]);
    }
    start();
    await expect.poll(() => hanging.received.length).toBe(60);
    const id = await addChannel("discord", { webhook_url: quick.url });
    await happen(["incident.created", incident("2")]);
    await settled(id, "1 delivered");
    expect(hanging.received).toHaveLength(60);
  });
});

describe("a scheduler", () => {
  it("that died between the answer and its record sends once more, after its lease", async () => {
    const receiver = await receive(answer(200));
    const id = await addChannel("webhook", { url: receiver.url });
    await happen(["incident.created", incident("1")]);
    // All that it did: claim and post. It recorded nothing.
    const limits = { room: 10, perType: 10, perOrganization: 10, running: { types: new Map(), organizations: new Map() } };
    const [claimed] = await claimChannels(database, new Date(now), 45_000, limits, null);
    await attemptSending(claimed!, nextFor(claimed!)!, { database, outbound, clock, config: baseConfig, signal: new AbortController().signal });
    start();
    now += 44_999;
    await looked();
    expect(receiver.received).toHaveLength(1);
    now += 1;
    await settled(id, "1 delivered");
    expect(receiver.received[1]!.body).toBe(receiver.received[0]!.body);
  });

  it("that stops gives back what has no answer in time", async () => {
    const receiver = await receive(() => undefined);
    const id = await addChannel("slack", { webhook_url: receiver.url });
    await happen(["incident.created", incident("1")]);
    const notifying = makeNotifications({ database, outbound, clock, config: { ...baseConfig, SHUTDOWN_LIMIT_MS: 200 }, log });
    notifying.start();
    await expect.poll(() => receiver.received.length).toBe(1);
    await notifying.stop();
    expect(await statusesOf(id)).toEqual(["0 pending"]);
    expect(await database.select({ leaseToken: channels.leaseToken, dueAt: channels.dueAt }).from(channels).where(eq(channels.id, id))).toEqual([{ leaseToken: null, dueAt: new Date(now) }]);
  });
});

describe("a person", () => {
  it("tries a channel, once, before all that waits, also when it is disabled", async () => {
    let code = 404;
    const receiver = await receive((response) => answer(code, code === 404 ? "no_service" : "ok")(response));
    const id = await addChannel("slack", { webhook_url: receiver.url });
    start();
    const failed = await testChannel(database, actor.organizationId, id, { at: new Date(now), waitMs: MINUTE });
    expect(failed).toMatchObject({ trigger: "test", status: "failed", response_status_code: 404, response_body: "no_service", error: expect.stringContaining("add a new one in Slack") as string, next_attempt_at: null });
    code = 200;
    now += SECOND;
    await updateChannel({ database, config: baseConfig }, actor, id, { enabled: false }, new Date(now));
    expect(await testChannel(database, actor.organizationId, id, { at: new Date(now), waitMs: MINUTE })).toMatchObject({ status: "delivered", error: null });
    expect(titlesOf(receiver)).toEqual(["Test notification", "Test notification"]);
    code = 503;
    now += SECOND;
    expect(await testChannel(database, actor.organizationId, id, { at: new Date(now), waitMs: MINUTE })).toMatchObject({ status: "failed", attempts: 1 });
  });

  it("disables a channel: what waits for it is given up, also what comes while it is being told", async () => {
    const answers: (() => void)[] = [];
    const receiver = await receive((response) => answers.push(() => answer(500)(response)));
    const [id, deleted] = [await addChannel("slack", { webhook_url: receiver.url }), await addChannel("slack", { webhook_url: receiver.url })];
    await happen(["incident.created", incident("1")], ["incident.updated", incident("1")]);
    start();
    await expect.poll(() => answers.length).toBe(2);
    await updateChannel({ database, config: baseConfig }, actor, id, { enabled: false }, new Date(now));
    expect(await statusesOf(id)).toEqual(["0 abandoned", "0 abandoned"]);
    await deleteChannel(database, actor, deleted);
    for (const each of answers) each();
    await settled(id, "1 abandoned", "0 abandoned");
    expect(await statusesOf(deleted)).toEqual([]);
    // A workflow does not ask whether it is enabled.
    now += MINUTE;
    await inTransaction(database, (tx) => queueMessage(tx, { organizationId: actor.organizationId, channelId: id, text: "Hello", trigger: "workflow", at: new Date(now) }));
    await settled(id, "1 abandoned", "0 abandoned", "0 abandoned");
    expect(receiver.received).toHaveLength(2);
  });
});

it("a workflow's message is told as it is", async () => {
  const receiver = await receive(answer(200, "ok"));
  const [slack, own] = [await addChannel("slack", { webhook_url: receiver.url }), await addChannel("webhook", { url: receiver.url })];
  for (const channelId of [slack, own]) await inTransaction(database, (tx) => queueMessage(tx, { organizationId: actor.organizationId, channelId, text: "Deploy finished\nVersion 7", trigger: "workflow", at: new Date(now) }));
  start();
  for (const id of [slack, own]) await settled(id, "1 delivered");
  const bodies = receiver.received.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  expect(bodies.find((body) => "blocks" in body)).toMatchObject({ blocks: [{ text: { text: "Deploy finished" } }], attachments: [{ blocks: [{ text: { text: "Version 7" } }, { type: "context" }] }] });
  expect(bodies.find((body) => "event" in body)).toMatchObject({ id: (await rowsOf(own))[0]!.id, event: "notification.message", data: { channel_id: own, message: "Deploy finished\nVersion 7", trigger: "workflow" } });
});

it("is forgotten after its organization's shorter retention", async () => {
  const id = await addChannel("slack", { webhook_url: "https://hooks.slack.com/x" });
  await happen(["incident.created", incident("1")]);
  const [row] = await rowsOf(id);
  await database.update(notifications).set({ status: "delivered" }).where(eq(notifications.id, row!.id));
  await database.update(organizations).set({ retentionDays: 7 }).where(eq(organizations.id, row!.organizationId));
  await forgetOldNotifications(database, new Date(now + 7 * 24 * 60 * MINUTE - SECOND));
  expect(await rowsOf(id)).toHaveLength(1);
  await forgetOldNotifications(database, new Date(now + 7 * 24 * 60 * MINUTE + SECOND));
  expect(await rowsOf(id)).toEqual([]);
});

it("is forgotten after 30 days, unless it still waits", async () => {
  const id = await addChannel("slack", { webhook_url: "https://hooks.slack.com/x" });
  await happen(["incident.created", incident("1")], ["incident.created", incident("2")]);
  const [first] = await rowsOf(id);
  await database.update(notifications).set({ status: "delivered" }).where(eq(notifications.id, first!.id));
  const forget = () => forgetOldNotifications(database, new Date(now));
  now += 30 * 24 * 60 * MINUTE - SECOND;
  await forget();
  expect(await rowsOf(id)).toHaveLength(2);
  now += SECOND;
  expect(await forget()).toBe(false);
  expect(await statusesOf(id)).toEqual(["0 pending"]);
});
