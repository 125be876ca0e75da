import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { channels, domainMonitors, events, heartbeatMonitors, notifications, organizations, sslMonitors, uptimeMonitors } from "../../schemas/tables/all.ts";
import type { EventType } from "../../schemas/vocabulary.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { systemActor } from "../actor.ts";
import { createChannel } from "../channels/create.ts";
import { emitEvents } from "../events/emit.ts";
import { fanOut } from "../events/fan-out.ts";
import { addIncidentUpdate } from "../incidents/change.ts";
import { openIncident } from "../incidents/open.ts";

const AT = new Date("2026-01-31T12:00:00.000Z");
const config = { WEBHOOK_ALLOW_HTTP: false, OUTBOUND_PORTS: [], OUTBOUND_ALLOW: [], SMS_PER_DAY: { free: 0, pro: 0, team: 0 } };

let database: Database;
let drop: () => Promise<void>;
let organizationId: string;
beforeAll(async () => {
  ({ database, drop } = await freshDatabase());
});
afterAll(() => drop());
beforeEach(async () => {
  organizationId = await makeOrganization();
});

async function makeOrganization(): Promise<string> {
  const id = newId();
  await database.insert(organizations).values({ id, name: "Acme", plan: "team" });
  return id;
}

type ChannelChanges = Partial<Parameters<typeof createChannel>[2]>;

async function addChannel(name: string, changes: ChannelChanges = {}, of = organizationId): Promise<string> {
  const input = { type: "slack" as const, name, config: { webhook_url: "https://hooks.slack.com/services/x" }, enabled: true, notify_on_incident: true, notify_on_maintenance: true, ...changes };
  return (await createChannel({ database, config }, systemActor(of, "Test"), input, AT)).id;
}

const emit = (type: EventType, data: Record<string, unknown>, of = organizationId) => inTransaction(database, (tx) => emitEvents(tx, [{ organizationId: of, type, data, at: AT }]));

/** "event channel" for each notification there is, after a fan-out. */
async function told(): Promise<string[]> {
  await fanOut(database, AT);
  const rows = await database.select({ type: events.type, name: channels.name }).from(notifications).innerJoin(channels, eq(channels.id, notifications.channelId)).innerJoin(events, eq(events.id, notifications.eventId)).where(eq(channels.organizationId, organizationId));
  return rows.map(({ type, name }) => `${type} ${name}`).sort();
}

const quiet = { notify_on_incident: false, notify_on_maintenance: false };

describe("who is told", () => {
  beforeEach(async () => {
    await addChannel("all");
    await addChannel("incidents", { notify_on_maintenance: false });
    await addChannel("maintenance", { notify_on_incident: false });
    await addChannel("none", quiet);
    await addChannel("off", { enabled: false });
    await addChannel("pager", { type: "pagerduty", config: { routing_key: "R0UTINGKEY" } });
    await addChannel("foreign", {}, await makeOrganization());
  });

  it.each<[EventType, Record<string, unknown>, string[]]>([
    ["incident.created", {}, ["all", "incidents", "pager"]],
    ["incident.updated", {}, ["all", "incidents", "pager"]],
    ["incident.resolved", { status: "resolved" }, ["all", "incidents", "pager"]],
    ["incident.deleted", { status: "identified" }, ["all", "incidents", "pager"]],
    ["incident.deleted", { status: "resolved" }, []],
    ["maintenance.scheduled", {}, ["all", "maintenance"]],
    ["maintenance.started", {}, ["all", "maintenance", "pager"]],
    ["maintenance.completed", {}, ["all", "maintenance", "pager"]],
    ["service.status_changed", { id: newId() }, []],
    ["error.new", { id: "no uuid" }, []],
    ["monitor.down", { id: newId() }, []],
  ])("of %s (%j): %j", async (type, data, names) => {
    await emit(type, data);
    expect(await told()).toEqual(names.map((name) => `${type} ${name}`));
    expect(await fanOut(database, AT)).toBe(0);
  });
});

describe("of a monitor the channels that it names are told", () => {
  const kinds = {
    uptime: (notificationChannels: string[]) => ({ table: uptimeMonitors, row: { name: "Shop", url: "https://shop.example.com", method: "GET", headers: {}, intervalSeconds: 60, timeoutMs: 1_000, expectedStatusCodes: [], followRedirects: true, verifySsl: true, failuresToDown: 1, successesToUp: 1, createIncident: false, status: "up" as const, notificationChannels } }),
    ssl: (notificationChannels: string[]) => ({ table: sslMonitors, row: { domain: "shop.example.com", port: 443, alertDays: 30, notificationChannels } }),
    domain: (notificationChannels: string[]) => ({ table: domainMonitors, row: { domain: "example.com", alertDays: 30, lookupMethod: "auto" as const, notificationChannels } }),
    heartbeat: (notificationChannels: string[]) => ({ table: heartbeatMonitors, row: { name: "Backup", slug: "backup", scheduleType: "interval" as const, intervalSeconds: 60, graceSeconds: 60, notificationChannels } }),
  };

  it.each(Object.entries(kinds))("%s", async (_, make) => {
    const named = await addChannel("named", quiet);
    await addChannel("other");
    const foreign = await addChannel("foreign", {}, await makeOrganization());
    const id = newId();
    const { table, row } = make([named, newId(), foreign]);
    await database.insert(table as typeof uptimeMonitors).values({ id, organizationId, dueAt: AT, createdAt: AT, updatedAt: AT, ...row } as typeof uptimeMonitors.$inferInsert);
    for (const type of ["monitor.down", "heartbeat.missed", "monitor.up", "ssl.expiring", "domain.expiring"] as const) await emit(type, { id });
    // The monitor of another organization's event is nobody's.
    await emit("monitor.down", { id }, await makeOrganization());
    expect(await told()).toEqual(["domain.expiring named", "monitor.down named", "monitor.up named", "ssl.expiring named"]);
    expect(await database.select().from(notifications).where(eq(notifications.channelId, foreign))).toEqual([]);
  });
});

it("an update that nobody shall hear of is told to nobody", async () => {
  await addChannel("all");
  const actor = systemActor(organizationId, "Test");
  const { id } = await openIncident(database, actor, { title: "Slow", status: "investigating", severity: "minor", services: [], at: AT });
  expect(await told()).toEqual(["incident.created all"]);
  await addIncidentUpdate(database, actor, id, { message: "Quietly.", notify: false }, AT);
  expect(await told()).toEqual(["incident.created all"]);
  await addIncidentUpdate(database, actor, id, { message: "Aloud.", notify: true }, AT);
  expect(await told()).toEqual(["incident.created all", "incident.updated all"]);
});

it("each is told once by many schedulers that fan out at once, in the order of what happened", async () => {
  const id = await addChannel("all");
  const many = Array.from({ length: 1_500 }, (_, n) => ({ organizationId, type: "incident.created" as const, data: { id: String(n) }, at: new Date(AT.getTime() + n) }));
  await inTransaction(database, (tx) => emitEvents(tx, many));
  await Promise.all(Array.from({ length: 4 }, () => fanOut(database, AT)));
  const rows = await database.select({ data: events.data }).from(notifications).innerJoin(events, eq(events.id, notifications.eventId)).where(eq(notifications.channelId, id)).orderBy(notifications.createdAt);
  expect(rows.map(({ data }) => data.id)).toEqual(many.map(({ data }) => data.id));
});
