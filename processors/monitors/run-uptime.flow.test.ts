import { setTimeout as rest } from "node:timers/promises";
import { eq, isNotNull } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { systemActor } from "../../domain/actor.ts";
import { createMaintenanceWindow } from "../../domain/maintenance/create.ts";
import { makeDueWindows } from "../../domain/maintenance/run-due.ts";
import { storeResults } from "../../domain/monitors/store-results.ts";
import { makeUptimeProbe } from "../../domain/monitors/uptime/probe.ts";
import type { Clock } from "../../platform/clock.ts";
import { makeDueLooks, type DueLooks } from "../../platform/due-looks.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import { openLookingDatabase, type Database } from "../../platform/postgres/database.ts";
import type { Repeating } from "../../platform/repeat.ts";
import { checkResults, events, organizations, services, uptimeMonitors } from "../../schemas/tables/all.ts";
import { CreateMaintenanceWindow } from "../../schemas/api/maintenance-windows.ts";
import { makeCertificate, type Certificate } from "../../testing/certificate.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { startFaultyHttp, type FaultyHttp } from "../../testing/faulty-http.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { runDueMonitors } from "./run-due.ts";
import { uptimeRunner } from "./run-uptime.ts";
import { readLateness } from "./watch-lateness.ts";

/** Within the 30 days that results are kept. */
const T = Math.floor(Date.now() / 1_000) * 1_000 - 86_400_000;

let certificate: Certificate;
let farm: FaultyHttp;
let database: Database;
let url: string;
let drop: () => Promise<void>;
let stored: Awaited<ReturnType<typeof freshClickHouse>>;

let now: number;
const clock: Clock = { now: () => now, monotonic: () => now };
const runners: Repeating[] = [];

beforeAll(async () => {
  certificate = makeCertificate();
  [farm, { database, url, drop }, stored] = await Promise.all([startFaultyHttp(certificate), freshDatabase(), freshClickHouse()]);
});
afterAll(async () => {
  await Promise.all([farm.stop(), drop(), stored.drop()]);
  certificate.remove();
});
beforeEach(async () => {
  now = T;
  for (const table of [checkResults, events, organizations]) await database.delete(table);
});
afterEach(async () => {
  await Promise.all(runners.splice(0).map((runner) => runner.stop()));
});

async function addMonitors(count: number, pathOf: (n: number) => string): Promise<string[]> {
  const organizationId = newId();
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "team" });
  const moment = { dueAt: new Date(T), createdAt: new Date(T), updatedAt: new Date(T) };
  const rules = { method: "GET", headers: {}, intervalSeconds: 60, timeoutMs: 20_000, expectedStatusCodes: [], followRedirects: true, verifySsl: true, failuresToDown: 2, successesToUp: 1, createIncident: false, status: "up" as const };
  const rows = Array.from({ length: count }, (_, n) => ({ id: newId(), organizationId, name: `Shop ${n}`, url: `${farm.http}${pathOf(n)}`, ...rules, ...moment }));
  await database.insert(uptimeMonitors).values(rows);
  return rows.map(({ id }) => id);
}

type Runner = ReturnType<typeof uptimeRunner>;

/** A scheduler's part that checks uptime monitors. */
function startRunner(more: (runner: Runner) => Partial<Runner> = () => ({}), looks?: DueLooks): Repeating {
  const runner = uptimeRunner(makeUptimeProbe({ OUTBOUND_PORTS: [], OUTBOUND_ALLOW: ["127.0.0.1"], OUTBOUND_CA_FILE: null }));
  const running = runDueMonitors({ database, clock, config: { SCHEDULER_TICK_MS: 20 }, log: makeLog("silent"), looks, runner: { ...runner, ...more(runner) } });
  runners.push(running);
  running.start();
  return running;
}

const noted = () => database.select().from(checkResults);
const rowOf = async (id: string) => (await database.select().from(uptimeMonitors).where(eq(uptimeMonitors.id, id)))[0]!;

it("claims with one statement what is due at a time, however many checks end one after the other", async () => {
  const looking = openLookingDatabase(url, makeLog("silent"));
  const looks = makeDueLooks({ database: looking, clock, log: makeLog("silent"), everyMs: 10 });
  const ids = await addMonitors(20, () => "/ok");
  const claims = vi.spyOn(database, "execute");
  const done = { error: null, statusCode: 200, responseTimeMs: 1, dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null };
  let ended = 0;
  try {
    startRunner(() => ({ check: async () => (await rest(10 * ended++), done) }), looks);
    await vi.waitFor(async () => expect(await noted()).toHaveLength(ids.length), { timeout: 60_000 });
    expect(claims.mock.calls).toHaveLength(1);
    now = T + 60_000;
    await vi.waitFor(async () => expect(await noted()).toHaveLength(2 * ids.length), { timeout: 60_000 });
  } finally {
    claims.mockRestore();
    await Promise.all(runners.splice(0).map((runner) => runner.stop()));
    await looking.$client.end();
  }
});

it("two schedulers check each of 50 monitors once, and its result comes to ClickHouse once", async () => {
  const run = newId();
  const path = (n: number) => `/slow/20?${run}-${n}`;
  const ids = await addMonitors(50, path);
  // Fewer at a time than there are, so that both come back for more.
  startRunner(() => ({ atOnce: 10 }));
  startRunner(() => ({ atOnce: 10 }));
  await vi.waitFor(async () => expect(await noted()).toHaveLength(50), 60_000);
  expect((await noted()).map(({ monitorId }) => monitorId).toSorted()).toEqual(ids.toSorted());
  expect(ids.map((_, n) => farm.asked(path(n)))).toEqual(ids.map(() => 1));
  const both = { database, clickhouse: stored.clickhouse };
  await Promise.all([storeResults(both), storeResults(both), storeResults(both)]);
  while ((await noted()).length > 0) await storeResults(both);
  const rows = await stored.clickhouse.query<{ monitor_id: string }>("SELECT monitor_id FROM check_results WHERE kind = 'uptime'");
  expect(rows.map(({ monitor_id: id }) => id).toSorted()).toEqual(ids.toSorted());
  // Within the next interval each is due again, at a moment of its own.
  const dues = (await database.select().from(uptimeMonitors)).map(({ dueAt }) => dueAt.getTime());
  expect(Math.min(...dues)).toBeGreaterThan(T);
  expect(Math.max(...dues)).toBeLessThanOrEqual(T + 60_000);
  expect(new Set(dues).size).toBeGreaterThan(45);
});

it("a batch that was inserted by somebody who then died is not inserted twice", async () => {
  const [id] = await addMonitors(1, () => "/ok");
  startRunner();
  await vi.waitFor(async () => expect(await noted()).toHaveLength(1), 60_000);
  const died = { ...stored.clickhouse, insert: async (...given: Parameters<typeof stored.clickhouse.insert>) => stored.clickhouse.insert(...given).then(() => Promise.reject(new Error("killed"))) };
  await expect(storeResults({ database, clickhouse: died })).rejects.toThrow("killed");
  await storeResults({ database, clickhouse: stored.clickhouse });
  expect(await noted()).toHaveLength(0);
  expect(await stored.clickhouse.query("SELECT status FROM check_results WHERE monitor_id = {id:UUID}", { id })).toEqual([{ status: "up" }]);
});

it("what a scheduler claimed and did not record is taken over when its lease ends, and not before", async () => {
  const path = `/ok?${newId()}`;
  const [id] = await addMonitors(1, () => path);
  let tried = 0;
  startRunner(() => ({ record: () => Promise.reject(new Error(`killed ${++tried}`)) }));
  await vi.waitFor(() => expect(tried).toBe(1), 60_000);
  await runners.splice(0)[0]!.stop();
  const claims = vi.spyOn(database, "execute");
  startRunner();
  now = T + 44_999;
  await vi.waitFor(() => expect(claims.mock.calls.length).toBeGreaterThan(3), 60_000);
  claims.mockRestore();
  expect(await noted()).toEqual([]);
  now = T + 45_000;
  await vi.waitFor(async () => expect(await noted()).toHaveLength(1), 60_000);
  expect(farm.asked(path)).toBe(2);
  expect(await rowOf(id!)).toMatchObject({ lastCheckedAt: new Date(T + 45_000), leaseToken: null });
});

it("what was taken over counts once, whoever ends first", async () => {
  const path = `/ok?${newId()}`;
  const [id] = await addMonitors(1, () => path);
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let recorded = false;
  startRunner(({ check, record }) => ({
    // With one place, taken by the check that is held, it cannot take its own check over.
    atOnce: 1,
    check: async (row, signal) => (await held, check(row, signal)),
    record: (...given) => record(...given).finally(() => (recorded = true)),
  }));
  await vi.waitFor(async () => expect((await rowOf(id!)).leaseToken).not.toBeNull(), 60_000);
  now = T + 45_000;
  startRunner();
  await vi.waitFor(async () => expect(await noted()).toHaveLength(1), 60_000);
  release();
  await vi.waitFor(() => expect(recorded).toBe(true), 60_000);
  expect(await noted()).toHaveLength(1);
  expect(farm.asked(path)).toBe(2);
});

it("a scheduler that is stopped midway leaves its check to the others", async () => {
  const path = `/hang?${newId()}`;
  const [id] = await addMonitors(1, () => path);
  const running = startRunner();
  await vi.waitFor(() => expect(farm.asked(path)).toBe(1), 60_000);
  await running.stop();
  expect(await noted()).toEqual([]);
  await database.update(uptimeMonitors).set({ url: `${farm.http}/ok` });
  now = T + 45_000;
  startRunner();
  await vi.waitFor(async () => expect((await rowOf(id!)).lastStatusCode).toBe(200), 60_000);
  expect(await noted()).toHaveLength(1);
});

it("a failure is looked at again after five seconds, then told once", async () => {
  const [id] = await addMonitors(1, () => "/switched");
  farm.setSwitched(503);
  startRunner();
  await vi.waitFor(async () => expect((await rowOf(id!)).contrary).toBe(1), 60_000);
  const { dueAt, status } = await rowOf(id!);
  expect({ status, soon: dueAt.getTime() <= T + 5_000 }).toEqual({ status: "up", soon: true });
  now = dueAt.getTime();
  await vi.waitFor(async () => expect((await rowOf(id!)).status).toBe("down"), 60_000);
  now = (await rowOf(id!)).dueAt.getTime();
  await vi.waitFor(async () => expect(await noted()).toHaveLength(3), 60_000);
  farm.setSwitched(200);
  now = (await rowOf(id!)).dueAt.getTime();
  await vi.waitFor(async () => expect((await rowOf(id!)).status).toBe("up"), 60_000);
  expect((await database.select().from(events).orderBy(events.createdAt)).map(({ type, data }) => [type, data])).toEqual([
    ["monitor.down", { id, name: "Shop 0", url: `${farm.http}/switched`, error: "127.0.0.1 answered 503, not 200 to 299." }],
    ["monitor.up", { id, name: "Shop 0", url: `${farm.http}/switched` }],
  ]);
});

it("while its service is maintained a failing monitor tells nobody, and goes down afterwards", async () => {
  const [id] = await addMonitors(1, () => "/switched");
  const { organizationId } = await rowOf(id!);
  const serviceId = newId();
  await database.insert(services).values({ id: serviceId, organizationId, name: "Checkout" });
  await database.update(uptimeMonitors).set({ serviceId }).where(eq(uptimeMonitors.id, id!));
  const window = CreateMaintenanceWindow.parse({ title: "Upgrade", starts_at: new Date(T).toISOString(), ends_at: new Date(T + 600_000).toISOString(), services: [serviceId] });
  await createMaintenanceWindow(database, systemActor(organizationId, "test"), window, new Date(T));
  const carryOut = makeDueWindows({ database, log: makeLog("silent") });
  while (await carryOut(new Date(T)));
  farm.setSwitched(503);
  startRunner();
  for (let n = 1; n <= 3; n++) {
    await vi.waitFor(async () => expect(await noted()).toHaveLength(n), 60_000);
    now = (await rowOf(id!)).dueAt.getTime();
  }
  expect(await rowOf(id!)).toMatchObject({ status: "maintenance", contrary: 0 });
  now = T + 600_000;
  while (await carryOut(new Date(now)));
  for (let n = 0; (await rowOf(id!)).status !== "down" && n < 5; n++) {
    const before = (await noted()).length;
    now = (await rowOf(id!)).dueAt.getTime();
    await vi.waitFor(async () => expect((await noted()).length).toBeGreaterThan(before), 60_000);
  }
  const told = (await database.select().from(events).orderBy(events.position)).filter(({ type }) => type.startsWith("monitor.") || type === "service.status_changed");
  expect(told.map(({ type, data }) => [type, data.new_status])).toEqual([["service.status_changed", "maintenance"], ["service.status_changed", "operational"], ["service.status_changed", "major_outage"], ["monitor.down", undefined]]);
});

it("lateness is that of the longest overdue check, and none of one in progress or paused", async () => {
  expect(await readLateness(database, T)).toBe(0);
  const [first, second] = await addMonitors(2, () => "/ok");
  await database.update(uptimeMonitors).set({ dueAt: new Date(T - 90_000) }).where(eq(uptimeMonitors.id, first!));
  expect(await readLateness(database, T)).toBe(90);
  await database.update(uptimeMonitors).set({ enabled: false }).where(eq(uptimeMonitors.id, first!));
  expect(await readLateness(database, T + 1_500)).toBe(1.5);
  await database.update(uptimeMonitors).set({ leaseToken: newId(), dueAt: new Date(T + 45_000) }).where(eq(uptimeMonitors.id, second!));
  expect(await readLateness(database, T + 1_500)).toBe(0);
});

it("one organization whose hosts hang does not keep another's monitors waiting", async () => {
  const hanging = await addMonitors(40, () => "/hang");
  now = T + 1;
  const others = await addMonitors(20, (n) => `/ok?${n}`);
  startRunner(() => ({ atOnce: 20 }));
  await vi.waitFor(async () => expect((await noted()).map(({ monitorId }) => monitorId).toSorted()).toEqual(others.toSorted()), 10_000);
  const claimed = await database.select({ id: uptimeMonitors.id }).from(uptimeMonitors).where(isNotNull(uptimeMonitors.leaseToken));
  expect(claimed).toHaveLength(10);
  expect(hanging).toEqual(expect.arrayContaining(claimed.map(({ id }) => id)));
});
