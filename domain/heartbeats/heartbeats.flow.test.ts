import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { newId } from "../../platform/ids.ts";
import type { Ping } from "../../schemas/messages/ping.ts";
import { events, heartbeatMonitors, organizations, services, serviceStatusHistory } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { flipLate } from "./find-late.ts";
import { getHeartbeatMonitor } from "./read.ts";
import { recordPings } from "./record-pings.ts";

const T = Date.parse("2026-05-04T12:00:00Z");
const SECOND = 1_000;
const at = (seconds: number) => new Date(T + seconds * SECOND);
const ping = (more: Partial<Ping> = {}): Ping => ({ status: "ok", run_id: null, exit_code: null, duration_ms: null, message: null, ...more });

let database: Database;
let drop: () => Promise<void>;
let organizationId: string;
let serviceId: string;

beforeAll(async () => ({ database, drop } = await freshDatabase()));
afterAll(() => drop());

beforeEach(async () => {
  organizationId = newId();
  serviceId = newId();
  // Late monitors of the test before would be found again.
  await database.delete(organizations);
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "team" });
  await database.insert(services).values({ id: serviceId, organizationId, name: "Billing" });
});

async function addMonitor(more: Partial<typeof heartbeatMonitors.$inferInsert> = {}): Promise<string> {
  const id = newId();
  await database.insert(heartbeatMonitors).values({ id, organizationId, serviceId, name: "Backup", slug: id.slice(0, 8), scheduleType: "interval", intervalSeconds: 60, graceSeconds: 120, ...more });
  return id;
}

/** Pings of monitors with the second of their receipt, in one batch. */
const record = (...pings: [monitorId: string, second: number, Partial<Ping>?][]) =>
  inTransaction(database, (tx) =>
    recordPings(tx, pings.map(([monitorId, second, more]) => ({ monitorId, organizationId, receivedAt: T + second * SECOND, edgeId: null, ping: ping(more) })), at(pings.at(-1)![1])),
  );

const look = (second: number, { provenUpTo = second, since = -100_000 } = {}) =>
  flipLate(database, { now: at(second), provenUpTo: at(provenUpTo), serviceStartedAt: at(since) });

const monitor = async (id: string) => (await database.select().from(heartbeatMonitors).where(eq(heartbeatMonitors.id, id)))[0]!;
const service = async () => (await database.select().from(services).where(eq(services.id, serviceId)))[0]!;
const told = async () => (await database.select().from(events).where(eq(events.organizationId, organizationId)).orderBy(events.createdAt)).map(({ type, data }) => ({ type, data }));
const toldTypes = async () => (await told()).map(({ type }) => type).sort();

describe("recording pings", () => {
  it("brings a new monitor up without telling anybody", async () => {
    const id = await addMonitor();
    await record([id, 0]);
    expect(await monitor(id)).toMatchObject({ status: "up", lastPingAt: at(0), nextExpectedAt: at(60) });
    expect(await toldTypes()).toEqual([]);
  });

  it("goes down at the first fail and up at the next ok, each told once, with the service", async () => {
    const id = await addMonitor();
    await record([id, 0]);
    await record([id, 10, { status: "fail", exit_code: 3, message: "disk full" }], [id, 11, { status: "fail" }]);
    expect(await monitor(id)).toMatchObject({ status: "down", nextExpectedAt: null });
    expect(await service()).toMatchObject({ status: "major_outage", statusSource: "monitors" });
    expect(await told()).toContainEqual({ type: "monitor.down", data: { id, name: "Backup", url: null, error: "The job reported a failure with exit code 3: disk full" } });
    await record([id, 20]);
    expect(await service()).toMatchObject({ status: "operational" });
    expect(await toldTypes()).toEqual(["monitor.down", "monitor.up", "service.status_changed", "service.status_changed"]);
    const history = await database.select().from(serviceStatusHistory).where(eq(serviceStatusHistory.serviceId, serviceId)).orderBy(serviceStatusHistory.id);
    expect(history.map(({ reason }) => reason)).toEqual(['Heartbeat monitor "Backup" is down.', "No monitor is down."]);
  });

  it("keeps the service down until the last of its monitors is up", async () => {
    const [first, second] = [await addMonitor({ name: "A" }), await addMonitor({ name: "B" })];
    await record([first, 0, { status: "fail" }], [second, 0, { status: "fail" }]);
    await record([first, 1]);
    expect(await service()).toMatchObject({ status: "major_outage" });
    await record([second, 2]);
    expect(await service()).toMatchObject({ status: "operational" });
  });

  it("applies a batch in its order and measures runs", async () => {
    const id = await addMonitor();
    await record([id, 0, { status: "start", run_id: "a" }], [id, 7, { run_id: "a" }], [id, 8, { status: "log", message: "x" }]);
    expect(await monitor(id)).toMatchObject({ status: "up", lastPingAt: at(7), lastStartAt: null, lastDurationMs: 7_000, nextExpectedAt: at(67) });
  });

  it("skips monitors that are unknown, deleted or of another organization, and keeps a paused one paused", async () => {
    const deleted = await addMonitor({ deletedAt: at(0) });
    const paused = await addMonitor({ status: "paused" });
    const id = await addMonitor();
    await inTransaction(database, (tx) => recordPings(tx, [{ monitorId: id, organizationId: newId(), receivedAt: T, edgeId: null, ping: ping() }], at(0)));
    await record([newId(), 0], [deleted, 0], [paused, 0], [paused, 1, { status: "fail" }]);
    expect(await monitor(id)).toMatchObject({ status: "new" });
    expect(await monitor(deleted)).toMatchObject({ status: "new", lastPingAt: null });
    expect(await monitor(paused)).toMatchObject({ status: "paused", lastPingAt: at(1), nextExpectedAt: null });
    expect(await toldTypes()).toEqual([]);
  });

  it("takes the same number of statements for one ping and for three hundred", async () => {
    const ids = await Promise.all(Array.from({ length: 300 }, () => addMonitor()));
    const client = await database.$client.connect();
    const prototype = Object.getPrototypeOf(client) as { query: (...given: unknown[]) => unknown };
    client.release();
    const query = prototype.query;
    let statements = 0;
    prototype.query = function (...given) {
      statements += 1;
      return query.apply(this, given);
    };
    try {
      await record([ids[0]!, 0, { status: "fail" }]);
      const forOne = statements;
      statements = 0;
      await record(...ids.slice(1).map((id): [string, number, Partial<Ping>] => [id, 1, { status: "fail" }]));
      expect(statements).toBeLessThanOrEqual(forOne);
    } finally {
      prototype.query = query;
    }
  });

  it("tells of each change once under parallel writers of one service", async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => addMonitor()));
    await Promise.all(ids.map((id, n) => record([id, n, { status: "fail" }])));
    await Promise.all(ids.map((id, n) => record([id, 10 + n])));
    expect(await service()).toMatchObject({ status: "operational" });
    const types = await toldTypes();
    expect(types.filter((type) => type === "service.status_changed")).toHaveLength(2);
    expect(types.filter((type) => type === "monitor.down")).toHaveLength(8);
    expect(types.filter((type) => type === "monitor.up")).toHaveLength(8);
  });
});

describe("finding late monitors", () => {
  it("moves up to grace to down, and tells once", async () => {
    const id = await addMonitor();
    await record([id, 0]);
    expect(await look(60)).toBe(0);
    expect(await look(61)).toBe(1);
    expect(await monitor(id)).toMatchObject({ status: "grace", nextExpectedAt: at(60) });
    expect(await look(180)).toBe(0);
    expect(await toldTypes()).toEqual([]);
    expect(await look(181)).toBe(1);
    expect(await look(182)).toBe(0);
    expect(await monitor(id)).toMatchObject({ status: "down", nextExpectedAt: null });
    expect(await service()).toMatchObject({ status: "major_outage" });
    expect(await toldTypes()).toEqual(["heartbeat.missed", "monitor.down", "service.status_changed"]);
    expect(await told()).toEqual(
      expect.arrayContaining([
        { type: "heartbeat.missed", data: { id, name: "Backup", last_ping_at: at(0).toISOString(), expected_at: at(60).toISOString() } },
        { type: "monitor.down", data: { id, name: "Backup", url: null, error: `No ping since ${at(0).toISOString()}.` } },
      ]),
    );
    await record([id, 200]);
    expect(await monitor(id)).toMatchObject({ status: "up", nextExpectedAt: at(260) });
    expect(await toldTypes()).toContain("monitor.up");
  });

  it("goes by what is proven to be processed, not by the time of day", async () => {
    const id = await addMonitor();
    await record([id, 0]);
    expect(await look(600, { provenUpTo: 59 })).toBe(0);
    await record([id, 50]);
    expect(await look(601, { provenUpTo: 105 })).toBe(0);
    expect(await monitor(id)).toMatchObject({ status: "up" });
  });

  it("gives each monitor its grace again after an outage of the service", async () => {
    const id = await addMonitor();
    await record([id, 0]);
    expect(await look(10_000, { since: 9_990 })).toBe(1);
    expect(await monitor(id)).toMatchObject({ status: "grace" });
    expect(await look(10_109, { since: 9_990 })).toBe(0);
    expect(await look(10_110, { since: 9_990 })).toBe(1);
    expect(await monitor(id)).toMatchObject({ status: "down" });
  });

  it("declares a run down that does not finish in time", async () => {
    const id = await addMonitor({ maxRuntimeSeconds: 30 });
    await record([id, 0, { status: "start" }]);
    expect(await look(30)).toBe(0);
    expect(await look(31)).toBe(1);
    expect(await monitor(id)).toMatchObject({ status: "down", lastStartAt: null });
    const error = `The run that began at ${at(0).toISOString()} is still running after 31 s: it did not finish within 30 s.`;
    expect(await told()).toContainEqual({ type: "monitor.down", data: expect.objectContaining({ error }) });
  });

  it("judges overlapping runs one by one, tells of each once, and is up again with the ok of the run that took long", async () => {
    const id = await addMonitor({ maxRuntimeSeconds: 100, intervalSeconds: 10_000 });
    const shown = async () => {
      const { status, running_since, run_exceeded } = await getHeartbeatMonitor(database, organizationId, id);
      return [status, running_since, run_exceeded];
    };
    await record([id, 0, { status: "start", run_id: "1" }], [id, 50, { status: "start", run_id: "2" }]);
    expect(await shown()).toEqual(["new", at(0).toISOString(), false]);
    expect(await look(130)).toBe(1);
    expect(await shown()).toEqual(["down", at(0).toISOString(), true]);
    expect(await monitor(id)).toMatchObject({ lastStartAt: at(50) });
    // The other exceeds it too: noted, not told again.
    expect([await look(140), await look(151), await look(152)]).toEqual([0, 1, 0]);
    await record([id, 160, { run_id: "2" }]);
    expect(await shown()).toEqual(["up", at(0).toISOString(), true]);
    expect(await look(170)).toBe(0);
    await record([id, 180, { run_id: "1" }]);
    expect(await shown()).toEqual(["up", null, false]);
    expect(await monitor(id)).toMatchObject({ lastDurationMs: 180_000 });
    expect(await toldTypes()).toEqual(["heartbeat.missed", "monitor.down", "monitor.up", "service.status_changed", "service.status_changed"]);
    expect((await told()).find(({ type }) => type === "monitor.down")!.data.error).toContain('The run "1" that began at');
  });

  it("expects a 6-field cron on the day on which its hour is left out", async () => {
    const id = await addMonitor({ scheduleType: "cron", intervalSeconds: null, cron: "30 15 2 * * *", timezone: "Europe/Berlin" });
    // Of 2026-03-28 at noon; the next time would be 02:15:30 on the day on which it is skipped.
    const noon = Date.parse("2026-03-28T12:00:00Z");
    await inTransaction(database, (tx) => recordPings(tx, [{ monitorId: id, organizationId, receivedAt: noon, edgeId: null, ping: ping() }], new Date(noon)));
    const expected = Date.parse("2026-03-29T01:15:30Z");
    expect(await monitor(id)).toMatchObject({ nextExpectedAt: new Date(expected) });
    const lookAt = (ms: number) => flipLate(database, { now: new Date(ms), provenUpTo: new Date(ms), serviceStartedAt: at(-100_000_000) });
    expect([await lookAt(expected), await lookAt(expected + 1), await lookAt(expected + 120_000), await lookAt(expected + 120_001)]).toEqual([0, 1, 0, 1]);
    expect(await monitor(id)).toMatchObject({ status: "down" });
  });

  it("keeps what it knows of runs and pace from batch to batch", async () => {
    const id = await addMonitor({ intervalSeconds: 3_600 });
    await record([id, 30, { run_id: "1" }]);
    await record([id, 0, { status: "start", run_id: "1" }]);
    expect(await monitor(id)).toMatchObject({ lastDurationMs: 30_000, lastStartAt: null });
    await record([id, 40], [id, 50]);
    expect((await getHeartbeatMonitor(database, organizationId, id)).warning).toBe("Pings come every 10 s; a ping is expected every 3600 s: check the job's schedule.");
    await record([id, 3_650]);
    expect((await getHeartbeatMonitor(database, organizationId, id)).warning).toBeNull();
    expect(await toldTypes()).toEqual([]);
  });

  it("does not take a run that is still within its limit for late", async () => {
    const id = await addMonitor({ maxRuntimeSeconds: 1_000 });
    await record([id, 0], [id, 60, { status: "start" }]);
    expect(await look(900)).toBe(0);
    expect(await monitor(id)).toMatchObject({ status: "up" });
    expect(await look(1_061)).toBe(1);
    expect(await monitor(id)).toMatchObject({ status: "down" });
  });

  it("finds a job that begins again and again and never finishes", async () => {
    const id = await addMonitor({ maxRuntimeSeconds: 1_000 });
    await record([id, 0], [id, 500, { status: "start" }], [id, 1_000, { status: "start" }]);
    expect(await look(1_180)).toBe(0);
    expect(await look(1_181)).toBe(1);
  });

  it("leaves alone what is paused, deleted, new or down", async () => {
    await addMonitor({ status: "paused" });
    await addMonitor({ status: "up", nextExpectedAt: at(0), deletedAt: at(0) });
    await addMonitor();
    await addMonitor({ status: "down" });
    expect(await look(100_000)).toBe(0);
  });

  it("moves more monitors than one batch holds, once, with several finders at work", async () => {
    const rows = Array.from({ length: 1_100 }, () => {
      const id = newId();
      return { id, organizationId, name: "Job", slug: id, scheduleType: "interval" as const, intervalSeconds: 60, graceSeconds: 60, status: "up" as const, lastPingAt: at(0), nextExpectedAt: at(60) };
    });
    await database.insert(heartbeatMonitors).values(rows);
    const counts = await Promise.all([look(1_000), look(1_000), look(1_000)]);
    const rest = await look(1_000);
    expect(counts.reduce((sum, count) => sum + count, rest)).toBe(1_100);
    const types = await toldTypes();
    expect(types.filter((type) => type === "monitor.down")).toHaveLength(1_100);
    expect(types.filter((type) => type === "heartbeat.missed")).toHaveLength(1_100);
  });
});
