import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { UpdateHeartbeatMonitor } from "../../schemas/api/heartbeat-monitors.ts";
import { UpdateService } from "../../schemas/api/services.ts";
import { events, heartbeatMonitors, organizations, services } from "../../schemas/tables/all.ts";
import type { ServiceStatus } from "../../schemas/vocabulary.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { systemActor } from "../actor.ts";
import { updateService } from "../services/update.ts";
import { deleteHeartbeatMonitor } from "../heartbeats/delete.ts";
import { flipLate } from "../heartbeats/find-late.ts";
import { recordPings } from "../heartbeats/record-pings.ts";
import { updateHeartbeatMonitor } from "../heartbeats/update.ts";

const T = Date.parse("2026-05-04T12:00:00Z");
const at = (seconds: number) => new Date(T + seconds * 1_000);

let database: Database;
let drop: () => Promise<void>;
let organizationId: string;
let serviceId: string;
let second: number;
let first: string;
let other: string;

beforeAll(async () => ({ database, drop } = await freshDatabase()));
afterAll(() => drop());

beforeEach(async () => {
  organizationId = newId();
  await database.delete(organizations);
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "team" });
  serviceId = await addService("Billing");
  second = 0;
  [first, other] = [await addMonitor("First"), await addMonitor("Other")];
});

async function addService(name: string): Promise<string> {
  const id = newId();
  await database.insert(services).values({ id, organizationId, name });
  return id;
}

async function addMonitor(name: string): Promise<string> {
  const id = newId();
  await database.insert(heartbeatMonitors).values({ id, organizationId, serviceId, name, slug: id.slice(0, 8), scheduleType: "interval", intervalSeconds: 60, graceSeconds: 120, status: "up" });
  return id;
}

/** Pings of monitors in one batch. */
const report = (status: "ok" | "fail", ...monitorIds: string[]) =>
  inTransaction(database, (tx) => {
    const receivedAt = T + ++second * 1_000;
    return recordPings(tx, monitorIds.map((monitorId) => ({ monitorId, organizationId, receivedAt, edgeId: null, ping: { status, run_id: null, exit_code: null, duration_ms: null, message: null } })), at(second));
  });

const actor = () => systemActor(organizationId, "test");
const setByHand = (status: ServiceStatus) => updateService(database, actor(), serviceId, UpdateService.parse({ status }), at(++second));
const change = (monitorId: string, patch: object) => updateHeartbeatMonitor(database, actor(), monitorId, UpdateHeartbeatMonitor.parse(patch), at(++second));
const statusOf = async (id = serviceId) => (await database.select().from(services).where(eq(services.id, id))).map(({ status, statusSource }) => `${statusSource}: ${status}`)[0];

describe("a status set by hand while a monitor is down", () => {
  beforeEach(async () => {
    await report("fail", first);
    expect(await statusOf()).toBe("monitors: major_outage");
    await setByHand("degraded");
    expect(await statusOf()).toBe("manual: degraded");
  });

  it.each<[string, () => Promise<unknown>]>([
    ["another one falls", () => report("fail", other)],
    ["another one falls and rises", async () => [await report("fail", other), await report("ok", other)]],
    ["another one is late", async () => {
      await database.update(heartbeatMonitors).set({ nextExpectedAt: at(0) }).where(eq(heartbeatMonitors.id, other));
      expect(await flipLate(database, { now: at(1_000), provenUpTo: at(1_000), serviceStartedAt: at(-100_000) })).toBe(1);
    }],
    ["another one that is down is deleted", async () => [await report("fail", other), await deleteHeartbeatMonitor(database, actor(), other, at(++second))]],
    ["another one that is down is paused", async () => [await report("fail", other), await change(other, { enabled: false })]],
    ["it rises itself", () => report("ok", first)],
    ["it rises and another one stays down", async () => [await report("fail", other), await report("ok", first)]],
  ])("holds when %s", async (_, happen) => {
    await happen();
    expect(await statusOf()).toBe("manual: degraded");
    expect(await database.$count(events, eq(events.type, "service.status_changed"))).toBe(2);
  });

  it("gives way when all were up and one falls again", async () => {
    await report("fail", other);
    await report("ok", first, other);
    expect(await statusOf()).toBe("manual: degraded");
    await report("fail", other);
    expect(await statusOf()).toBe("monitors: major_outage");
  });

  it("is of that service alone: the monitor counts where it is moved to, and may fall there anew", async () => {
    const elsewhere = await addService("Shop");
    await change(first, { service_id: elsewhere });
    expect([await statusOf(), await statusOf(elsewhere)]).toEqual(["manual: degraded", "monitors: major_outage"]);
    await report("fail", other);
    expect(await statusOf()).toBe("monitors: major_outage");
  });

  it("holds again when it is set again", async () => {
    await report("ok", first);
    await report("fail", first);
    expect(await statusOf()).toBe("monitors: major_outage");
    await setByHand("operational");
    await report("fail", other);
    expect(await statusOf()).toBe("manual: operational");
  });
});

describe("a status set by hand while all monitors are up", () => {
  it("does not hide the first that falls", async () => {
    await setByHand("degraded");
    await report("fail", first);
    expect(await statusOf()).toBe("monitors: major_outage");
  });
});
