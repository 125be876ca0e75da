import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { makeUptimeProbe } from "../../domain/monitors/uptime/probe.ts";
import { standStillOverSteps } from "../../platform/clock-steps.ts";
import type { Clock } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import type { Repeating } from "../../platform/repeat.ts";
import { announcements, channels, checkResults, domainMonitors, events, mails, notifications, organizations, sslMonitors, uptimeMonitors, webhookDeliveries, webhooks, workflowRuns, workflows } from "../../schemas/tables/all.ts";
import { makeCertificate, type Certificate } from "../../testing/certificate.ts";
import { startFaultyHttp, type FaultyHttp } from "../../testing/faulty-http.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { runDueMonitors } from "../monitors/run-due.ts";
import { uptimeRunner } from "../monitors/run-uptime.ts";
import { followClock } from "./follow-clock.ts";

const T = Date.parse("2026-05-04T12:00:00Z");
const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const LEASE = 45_000;
const log = makeLog("silent");

let certificate: Certificate;
let farm: FaultyHttp;
let database: Database;
let drop: () => Promise<void>;
let organizationId: string;

/** The wall's time and the time that passed. */
const time = { wall: T, since: 0 };
const clock: Clock = { now: () => time.wall, monotonic: () => time.since };
const passes = (ms: number) => ((time.wall += ms), (time.since += ms));
const isSet = (ms: number) => (time.wall += ms);
const running: Repeating[] = [];
/** How often each of those that run has asked its clock. */
const looks: number[] = [];
/** The clock, for one of them. */
function watchedClock(): Clock {
  const looker = looks.push(0) - 1;
  return { now: clock.now, monotonic: () => (looks[looker]!++, clock.monotonic()) };
}

beforeAll(async () => {
  certificate = makeCertificate();
  [farm, { database, drop }] = await Promise.all([startFaultyHttp(certificate), freshDatabase()]);
});
afterAll(async () => {
  await Promise.all([farm.stop(), drop()]);
  certificate.remove();
});
beforeEach(async () => {
  Object.assign(time, { wall: T, since: 0 });
  organizationId = newId();
  for (const table of [checkResults, events, organizations]) await database.delete(table);
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "team" });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop()));
  looks.length = 0;
});

function start(repeating: Repeating): void {
  running.push(repeating);
  repeating.start();
}

/** Checks uptime monitors as a scheduler does; `hold` delays each check. */
function startScheduler(hold: Promise<void> = Promise.resolve()): { begun: () => number } {
  let begun = 0;
  const runner = uptimeRunner(makeUptimeProbe({ OUTBOUND_PORTS: [], OUTBOUND_ALLOW: ["127.0.0.1"], OUTBOUND_CA_FILE: null }));
  const check: typeof runner.check = async (row, signal) => (begun++, await hold, runner.check(row, signal));
  const own = watchedClock();
  start(runDueMonitors({ database, clock: standStillOverSteps(own, LEASE), wall: own, config: { SCHEDULER_TICK_MS: 20 }, log, runner: { ...runner, leaseMs: LEASE, check } }));
  return { begun: () => begun };
}

const startFollowing = () => start(followClock({ database, clock: watchedClock(), log, deliveryLeaseMs: LEASE, pauseMs: 20 }));

/** Each has looked several times since: one of them may be slow on a busy machine. */
async function looked(): Promise<void> {
  const before = [...looks];
  await vi.waitFor(() => expect(looks.every((count, looker) => count > before[looker]! + 12)).toBe(true), 60_000);
}

const moments = (dueAt: number) => ({ organizationId, dueAt: new Date(dueAt), createdAt: new Date(T), updatedAt: new Date(T) });
const rules = { method: "GET", headers: {}, timeoutMs: 20_000, expectedStatusCodes: [], followRedirects: true, verifySsl: true, failuresToDown: 2, successesToUp: 1, createIncident: false, status: "up" as const };

async function addMonitors(count: number, more: Partial<typeof uptimeMonitors.$inferInsert> = {}): Promise<string[]> {
  const run = newId();
  const rows = Array.from({ length: count }, (_, n) => ({ id: newId(), name: `Shop ${n}`, url: `${farm.http}/ok?${run}-${n}`, ...rules, intervalSeconds: 60, ...moments(T), ...more }));
  await database.insert(uptimeMonitors).values(rows);
  return rows.map(({ url }) => url.slice(farm.http.length));
}

const checked = (count: number) => vi.waitFor(async () => expect(await database.$count(checkResults)).toBe(count), 60_000);
const askedOf = (paths: string[]) => new Set(paths.map((path) => farm.asked(path)));
const dues = async () => (await database.select().from(uptimeMonitors)).map(({ dueAt }) => dueAt.getTime() - time.wall);
const told = async () => (await database.select().from(events)).map(({ type }) => type);

it("a clock that is set back by an hour leaves no monitor unchecked, and brings no check twice", async () => {
  const paths = await addMonitors(30);
  startScheduler();
  startFollowing();
  await checked(30);
  passes(MINUTE);
  await checked(60);
  isSet(-HOUR);
  await vi.waitFor(async () => expect(Math.max(...(await dues()))).toBeLessThanOrEqual(MINUTE), 60_000);
  // Spread over their minute, not all at once.
  expect(new Set(await dues()).size).toBeGreaterThan(25);
  for (let second = 0; second < 60; second += 10) {
    passes(10 * SECOND);
    await looked();
  }
  await vi.waitFor(() => paths.forEach((path) => expect(farm.asked(path)).toBeGreaterThanOrEqual(3)), 60_000);
  expect(Math.max(...askedOf(paths))).toBeLessThanOrEqual(4);
  expect(await told()).toEqual([]);
});

it("a clock that is set forward by an hour ends no claim: no check is begun while the one before it goes on", async () => {
  const paths = await addMonitors(10);
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const [one, other] = [startScheduler(held), startScheduler(held)];
  const begun = () => one.begun() + other.begun();
  startFollowing();
  try {
    await vi.waitFor(() => expect(begun()).toBe(10), 60_000);
    isSet(HOUR);
    await looked();
    passes(LEASE - SECOND);
    await looked();
    expect(begun()).toBe(10);
  } finally {
    release();
  }
  await checked(10);
  expect(askedOf(paths)).toEqual(new Set([1]));
  // Then each is checked once, as after any hour in which nobody checked.
  passes(SECOND);
  await checked(20);
  await looked();
  expect(askedOf(paths)).toEqual(new Set([2]));
  expect(await told()).toEqual([]);
});

it("a claim keeps its lease when the clock is set back, and ends with it", async () => {
  await addMonitors(1, { leaseToken: newId(), dueAt: new Date(T + LEASE) });
  startFollowing();
  await looked();
  isSet(-HOUR);
  await vi.waitFor(async () => expect(await dues()).toEqual([LEASE]), 60_000);
  const { begun } = startScheduler();
  passes(LEASE - 1);
  await looked();
  expect(begun()).toBe(0);
  passes(1);
  await checked(1);
});

it("what was planned by a clock that was put back while no scheduler ran is planned anew at the start, and the rest is left alone", async () => {
  await addMonitors(1, { dueAt: new Date(T + HOUR) });
  await addMonitors(1, { dueAt: new Date(T + HOUR), intervalSeconds: 86_400 });
  const [ssl, domain] = [{ id: newId(), domain: "example.com", port: 443, alertDays: 30 }, { id: newId(), domain: "example.com", alertDays: 30, lookupMethod: "auto" as const }];
  await database.insert(sslMonitors).values([{ ...ssl, ...moments(T + 7 * HOUR) }, { ...ssl, id: newId(), ...moments(T + 5 * HOUR) }]);
  await database.insert(domainMonitors).values([{ ...domain, ...moments(T + 49 * HOUR) }, { ...domain, id: newId(), ...moments(T + 30 * HOUR) }]);
  startFollowing();
  await vi.waitFor(async () => expect(Math.min(...(await dues()))).toBeLessThanOrEqual(MINUTE), 60_000);
  await looked();
  expect(Math.max(...(await dues()))).toBe(HOUR);
  const inHours = (rows: { dueAt: Date }[]) => rows.map(({ dueAt }) => (dueAt.getTime() - T) / HOUR).toSorted((a, b) => a - b);
  const [sslDues, domainDues] = [inHours(await database.select().from(sslMonitors)), inHours(await database.select().from(domainMonitors))];
  expect([sslDues.includes(5), Math.max(...sslDues) <= 6]).toEqual([true, true]);
  expect([domainDues.includes(30), Math.max(...domainDues) <= 48]).toEqual([true, true]);
});

it("a webhook's retry in five minutes stays one in five minutes when the clock is set back", async () => {
  const [webhookId, eventId] = [newId(), newId()];
  await database.insert(webhooks).values({ id: webhookId, organizationId, name: "on call", url: "https://example.com/", events: [], headers: {}, signingSecret: "secret", createdAt: new Date(T), updatedAt: new Date(T) });
  await database.insert(events).values({ id: eventId, organizationId, type: "webhook.test", data: {}, createdAt: new Date(T), fannedOutAt: new Date(T) });
  const row = { organizationId, webhookId, eventId, attempt: 2, trigger: "event" as const };
  const retry = { ...row, id: newId(), dueAt: new Date(T + 5 * MINUTE), nextRetryAt: new Date(T + 5 * MINUTE), createdAt: new Date(T) };
  const claimed = { ...row, id: newId(), attempt: 1, leaseToken: newId(), dueAt: new Date(T + LEASE), createdAt: new Date(T) };
  const older = { ...row, id: newId(), attempt: 3, dueAt: new Date(T + 5 * MINUTE), createdAt: new Date(T - 2 * HOUR) };
  await database.insert(webhookDeliveries).values([retry, claimed, older]);
  startFollowing();
  await looked();
  isSet(-HOUR);
  const planned = async (id: string) => (await database.select().from(webhookDeliveries)).find((each) => each.id === id)!;
  const back = T - HOUR;
  await vi.waitFor(async () => expect(await planned(retry.id)).toMatchObject({ dueAt: new Date(back + 5 * MINUTE), nextRetryAt: new Date(back + 5 * MINUTE), createdAt: new Date(back) }), 60_000);
  expect(await planned(claimed.id)).toMatchObject({ dueAt: new Date(back + LEASE), leaseToken: claimed.leaseToken });
  expect(await planned(older.id)).toMatchObject({ dueAt: older.dueAt });
});

it("channels, mails, announcements, runs and schedules of workflows do not stand still for the hour by which the clock was set back", async () => {
  const [channelId, eventId, workflowId] = [newId(), newId(), newId()];
  const at = { createdAt: new Date(T), updatedAt: new Date(T) };
  await database.insert(events).values({ id: eventId, organizationId, type: "webhook.test", data: {}, createdAt: new Date(T), fannedOutAt: new Date(T) });
  await database.insert(channels).values({ id: channelId, organizationId, type: "slack", name: "On call", config: {}, enabled: true, dueAt: new Date(T + SECOND), ...at });
  await database.insert(notifications).values({ id: newId(), organizationId, channelId, message: "x", trigger: "workflow", dueAt: new Date(T), firstAttemptAt: new Date(T), createdAt: new Date(T) });
  const mail = { organizationId, kind: "notice" as const, to: "a@example.com", subject: "x", text: "x", headers: {}, createdAt: new Date(T) };
  await database.insert(mails).values([
    { ...mail, id: newId(), dueAt: new Date(T) },
    { ...mail, id: newId(), attempts: 2, dueAt: new Date(T + 5 * MINUTE) },
  ]);
  await database.insert(announcements).values({ id: eventId, organizationId, dueAt: new Date(T), createdAt: new Date(T) });
  await database.insert(workflows).values({ id: workflowId, organizationId, name: "x", enabled: true, trigger: { type: "schedule", cron: "*/5 * * * *" }, steps: [], nextRunAt: new Date(T + 5 * MINUTE), ...at });
  const run = { organizationId, workflowId, inputs: {}, createdAt: new Date(T) };
  await database.insert(workflowRuns).values([
    { ...run, id: newId(), dueAt: new Date(T) },
    { ...run, id: newId(), status: "waiting", trace: [{ type: "wait", result: { seconds: 60 } }], dueAt: new Date(T + MINUTE) },
    { ...run, id: newId(), status: "running", leaseToken: newId(), dueAt: new Date(T + LEASE) },
  ]);
  startFollowing();
  await looked();
  isSet(-HOUR);
  const back = T - HOUR;
  const ahead = async (table: typeof channels | typeof notifications | typeof mails | typeof announcements | typeof workflowRuns) =>
    (await database.select({ dueAt: table.dueAt }).from(table)).map(({ dueAt }) => dueAt.getTime() - back).toSorted((a, b) => a - b);
  await vi.waitFor(async () => expect((await database.select().from(workflows))[0]!.nextRunAt).toEqual(new Date(back + 5 * MINUTE)), 60_000);
  expect([await ahead(channels), await ahead(notifications), await ahead(mails), await ahead(announcements), await ahead(workflowRuns)]).toEqual([[0], [0], [0, 5 * MINUTE], [0], [0, MINUTE, 5 * MINUTE]]);
  expect((await database.select().from(notifications))[0]).toMatchObject({ firstAttemptAt: new Date(back), createdAt: new Date(back) });
});

it("a check that is begun soon after the clock was set forward keeps its claim", async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const [one, other] = [startScheduler(held), startScheduler(held)];
  try {
    await looked();
    isSet(HOUR);
    await looked();
    passes(LEASE - 10 * SECOND);
    // A claim that was asked for before would have a lease from then.
    await looked();
    await addMonitors(5);
    await vi.waitFor(() => expect(one.begun() + other.begun()).toBe(5), 60_000);
    passes(20 * SECOND);
    await looked();
    expect(one.begun() + other.begun()).toBe(5);
  } finally {
    release();
    await Promise.all(running.splice(0).map((each) => each.stop()));
  }
});
