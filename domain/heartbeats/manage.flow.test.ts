import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { CreateHeartbeatMonitor, UpdateHeartbeatMonitor } from "../../schemas/api/heartbeat-monitors.ts";
import { auditEntries, channels, heartbeatMonitors, organizations, services } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { systemActor, type Actor } from "../actor.ts";
import { createHeartbeatMonitor } from "./create.ts";
import { deleteHeartbeatMonitor } from "./delete.ts";
import { getHeartbeatMonitor, listHeartbeatMonitors } from "./read.ts";
import { recordPings } from "./record-pings.ts";
import { updateHeartbeatMonitor } from "./update.ts";

const T = Date.parse("2026-05-04T12:00:00Z");
const at = (seconds: number) => new Date(T + seconds * 1_000);

let database: Database;
let drop: () => Promise<void>;
let actor: Actor;
let stranger: Actor;
let serviceId: string;

beforeAll(async () => ({ database, drop } = await freshDatabase()));
afterAll(() => drop());

beforeEach(async () => {
  actor = systemActor(newId(), "test");
  stranger = systemActor(newId(), "stranger");
  serviceId = newId();
  await database.insert(organizations).values([actor, stranger].map(({ organizationId }) => ({ id: organizationId, name: "Acme", plan: "free" as const })));
  await database.insert(services).values({ id: serviceId, organizationId: actor.organizationId, name: "Billing" });
});

const create = (body: Record<string, unknown>, by = actor) => createHeartbeatMonitor(database, by, CreateHeartbeatMonitor.parse({ name: "Nightly Backup", interval_seconds: 60, ...body }), at(0));
const update = (id: string, body: Record<string, unknown>, second = 10, by = actor) => updateHeartbeatMonitor(database, by, id, UpdateHeartbeatMonitor.parse(body), at(second));
const ping = (monitorId: string, second: number, status: "ok" | "fail" = "ok") =>
  inTransaction(database, (tx) =>
    recordPings(tx, [{ monitorId, organizationId: actor.organizationId, receivedAt: T + second * 1_000, edgeId: null, ping: { status, run_id: null, exit_code: null, duration_ms: null, message: null } }], at(second)),
  );
const serviceStatus = async () => (await database.select().from(services).where(eq(services.id, serviceId)))[0]!.status;

describe("creating", () => {
  it("gives the monitor as it will be listed, with an audit entry", async () => {
    const created = await create({ service_id: serviceId });
    expect(created).toEqual({
      id: created.id,
      name: "Nightly Backup",
      slug: "nightly-backup",
      schedule_type: "interval",
      interval_seconds: 60,
      cron: null,
      timezone: "UTC",
      grace_seconds: 60,
      max_runtime_seconds: null,
      enabled: true,
      status: "new",
      last_ping_at: null,
      next_expected_at: null,
      last_duration_ms: null,
      running_since: null,
      run_exceeded: false,
      warning: null,
      service_id: serviceId,
      notification_channels: [],
      created_at: at(0).toISOString(),
      updated_at: at(0).toISOString(),
    });
    expect(await getHeartbeatMonitor(database, actor.organizationId, created.id)).toEqual(created);
    expect(await database.select().from(auditEntries).where(eq(auditEntries.resourceId, created.id))).toMatchObject([{ action: "heartbeat_monitor.created", after: { slug: "nightly-backup" } }]);
  });

  it("takes the schedule's type from what is given", async () => {
    expect(await create({ interval_seconds: undefined, cron: " 0 3 * * * ", timezone: "Europe/Berlin" })).toMatchObject({ schedule_type: "cron", cron: "0 3 * * *", interval_seconds: null });
  });

  it("makes a slug of any name, and another for the same name", async () => {
    const names = ["Job", "Job", "Job", "DB", "夜间备份", "Ünïcode & Çafé!", "-".repeat(300).slice(0, 255), newId()];
    const slugs: string[] = [];
    for (const name of names) slugs.push((await create({ name })).slug);
    expect(slugs).toEqual(["job", "job-2", "job-3", "db-monitor", "monitor", "unicode-cafe", "monitor-2", `${names.at(-1)!}-2`]);
  });

  it("gives parallel creates of one name different slugs and holds the plan's limit", async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 25 }, () => create({})));
    const made = outcomes.filter((outcome) => outcome.status === "fulfilled").map(({ value }) => value.slug);
    expect(new Set(made).size).toBe(20);
    expect(made).toHaveLength(20);
    expect(outcomes.find((outcome) => outcome.status === "rejected")).toMatchObject({ reason: { code: "PLAN_LIMIT" } });
  });

  test.each<[Record<string, unknown>, string, string]>([
    [{ interval_seconds: undefined }, "INVALID_REQUEST", "/interval_seconds"],
    [{ schedule_type: "cron" }, "INVALID_REQUEST", "/cron"],
    [{ cron: "61 * * * *" }, "INVALID_REQUEST", "/cron"],
    [{ cron: "0 3 * * *", timezone: "Mars/Base" }, "INVALID_REQUEST", "/timezone"],
    [{ slug: "0b9f3a52-7c1e-4d8e-9a64-3f2f5c7d1e10" }, "INVALID_REQUEST", "/slug"],
    [{ service_id: "0b9f3a52-7c1e-4d8e-9a64-3f2f5c7d1e10" }, "NOT_FOUND", "/service_id"],
    [{ service_id: "billing" }, "NOT_FOUND", "/service_id"],
    [{ notification_channels: ["0b9f3a52-7c1e-4d8e-9a64-3f2f5c7d1e10"] }, "NOT_FOUND", "/notification_channels/0"],
    [{ notification_channels: ["email"] }, "NOT_FOUND", "/notification_channels/0"],
  ])("refuses %j as %s at %s", async (body, code, path) => {
    await expect(create(body)).rejects.toMatchObject({ code, details: { path } });
  });

  it("refuses a slug that is taken, until its monitor is deleted", async () => {
    const first = await create({ slug: "backup" });
    await expect(create({ slug: "backup" })).rejects.toMatchObject({ code: "SLUG_TAKEN" });
    await deleteHeartbeatMonitor(database, actor, first.id, at(1));
    expect(await create({ slug: "backup" })).toMatchObject({ slug: "backup" });
  });
});

describe("notification channels", () => {
  it("are the organization's own, each once, and can be taken away", async () => {
    const [mine, foreign] = [newId(), newId()];
    const row = { name: "Ops", type: "webhook" as const, config: {}, events: [], updatedAt: at(0) };
    await database.insert(channels).values([{ id: mine, organizationId: actor.organizationId, ...row }, { id: foreign, organizationId: stranger.organizationId, ...row }]);
    const { id, notification_channels } = await create({ notification_channels: [mine, mine.toUpperCase()] });
    expect(notification_channels).toEqual([mine]);
    await expect(update(id, { notification_channels: [mine, foreign] })).rejects.toMatchObject({ code: "NOT_FOUND", details: { path: "/notification_channels/1" } });
    expect(await update(id, { name: "Other" })).toMatchObject({ notification_channels: [mine] });
    expect(await update(id, { notification_channels: [] })).toMatchObject({ notification_channels: [] });
  });
});

describe("changing", () => {
  it("leaves what is not named, and can clear what may be null", async () => {
    const { id, ...created } = await create({ max_runtime_seconds: 30, service_id: serviceId });
    expect(await update(id, { name: "Hourly", max_runtime_seconds: null, service_id: null })).toEqual({ ...created, id, name: "Hourly", max_runtime_seconds: null, service_id: null, updated_at: at(10).toISOString() });
  });

  it("pauses and goes on, and takes its opinion of the service back", async () => {
    const { id } = await create({ service_id: serviceId });
    await ping(id, 1, "fail");
    expect(await serviceStatus()).toBe("major_outage");
    expect(await update(id, { enabled: false })).toMatchObject({ enabled: false, status: "paused", next_expected_at: null });
    expect(await serviceStatus()).toBe("operational");
    expect(await update(id, { enabled: true })).toMatchObject({ enabled: true, status: "new" });
    await ping(id, 20);
    expect(await update(id, { enabled: true })).toMatchObject({ status: "up" });
  });

  it("moves its opinion to another service", async () => {
    const other = newId();
    await database.insert(services).values({ id: other, organizationId: actor.organizationId, name: "Search" });
    const { id } = await create({ service_id: serviceId });
    await ping(id, 1, "fail");
    await update(id, { service_id: other });
    expect(await serviceStatus()).toBe("operational");
    expect((await database.select().from(services).where(eq(services.id, other)))[0]).toMatchObject({ status: "major_outage" });
  });

  it("expects the next ping by the new schedule, never in the past", async () => {
    const { id } = await create({ interval_seconds: 3_600 });
    await ping(id, 0);
    expect(await update(id, { interval_seconds: 600 }, 100)).toMatchObject({ next_expected_at: at(600).toISOString() });
    expect(await update(id, { interval_seconds: 60 }, 100)).toMatchObject({ next_expected_at: at(160).toISOString() });
    expect(await update(id, { cron: "*/30 * * * *" }, 100)).toMatchObject({ schedule_type: "cron", interval_seconds: null, next_expected_at: at(1_800).toISOString() });
  });

  it("refuses a slug that another monitor has", async () => {
    await create({ slug: "first" });
    const { id } = await create({ slug: "second" });
    await expect(update(id, { slug: "first" })).rejects.toMatchObject({ code: "SLUG_TAKEN" });
  });
});

describe("tenancy and deletion", () => {
  it("treats another organization's monitor exactly like one that does not exist", async () => {
    const { id } = await create({});
    const attempts = await Promise.allSettled([
      getHeartbeatMonitor(database, stranger.organizationId, id),
      update(id, { name: "x" }, 1, stranger),
      deleteHeartbeatMonitor(database, stranger, id, at(1)),
      update("nonsense", {}),
      update(newId(), {}),
    ]);
    for (const attempt of attempts) expect(attempt).toMatchObject({ status: "rejected", reason: { code: "NOT_FOUND", message: "No such heartbeat monitor." } });
    expect(await listHeartbeatMonitors(database, stranger.organizationId, { limit: 50, offset: 0 })).toEqual([]);
    await expect(create({ service_id: serviceId }, stranger)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("hides a deleted monitor, keeps its row for the edges and withdraws its opinion", async () => {
    const { id } = await create({ service_id: serviceId });
    await ping(id, 1, "fail");
    await deleteHeartbeatMonitor(database, actor, id, at(2));
    expect(await serviceStatus()).toBe("operational");
    expect(await listHeartbeatMonitors(database, actor.organizationId, { limit: 50, offset: 0 })).toEqual([]);
    await expect(deleteHeartbeatMonitor(database, actor, id, at(3))).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await database.select().from(heartbeatMonitors).where(eq(heartbeatMonitors.id, id))).toMatchObject([{ deletedAt: at(2) }]);
  });
});
