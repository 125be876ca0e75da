import { eq, sql } from "drizzle-orm";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { apiKeys, auditEntries, beaconKeys, events, heartbeatMonitors, organizations, services, webhookDeliveries, webhooks } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { newId } from "../ids.ts";
import type { Database } from "./database.ts";

let drop: () => Promise<void>;
let database: Database;
let listener: Client;
/** What was announced since the test began, as `channel` or `channel table`. */
let announced: string[] = [];

/** A moment long past: whoever still shows it was not stamped. */
const LONG_AGO = new Date("2020-01-01T00:00:00Z");

beforeAll(async () => {
  const fresh = await freshDatabase();
  ({ database, drop } = fresh);
  listener = new Client({ connectionString: fresh.url });
  await listener.connect();
  listener.on("notification", ({ channel, payload }) => announced.push(`${channel} ${payload ?? ""}`.trim()));
  await listener.query("listen pharos_changes; listen pharos_events; listen test_done");
});

afterAll(async () => {
  await listener.end();
  await drop();
});

/** Everything announced so far; notifications come in order, so a mark of our own ends the wait. */
async function announcements(): Promise<string[]> {
  await database.execute(sql`select pg_notify('test_done', '')`);
  await vi.waitFor(() => expect(announced).toContain("test_done"), { timeout: 60_000 });
  return announced.splice(0).filter((each) => each !== "test_done");
}

async function insertOrganization(): Promise<string> {
  const id = newId();
  await database.insert(organizations).values({ id, name: "Lighthouse", plan: "free", updatedAt: LONG_AGO });
  return id;
}

async function insertService(organizationId: string): Promise<string> {
  const id = newId();
  await database.insert(services).values({ id, organizationId, name: "Shop" });
  return id;
}

async function insertApiKey(organizationId: string): Promise<string> {
  const id = newId();
  await database.insert(apiKeys).values({ id, organizationId, name: "key", prefix: "psk_12345678", hash: Buffer.from(id), scopes: ["*:*"], changedAt: LONG_AGO });
  return id;
}

async function insertMonitor(organizationId: string): Promise<string> {
  const id = newId();
  await database.insert(heartbeatMonitors).values({ id, organizationId, name: "Backup", slug: `backup-${id}`, scheduleType: "interval", intervalSeconds: 60, graceSeconds: 60, changedAt: LONG_AGO });
  return id;
}

async function insertAuditEntry(organizationId: string): Promise<string> {
  const id = newId();
  await database.insert(auditEntries).values({ id, organizationId, actorType: "cli", actorName: "cli", action: "service.created", resourceType: "service", resourceId: newId(), changedFields: [] });
  return id;
}

/** `changed_at` lies within the last seconds by the database's clock. */
async function isFresh(table: "api_keys" | "beacon_keys" | "heartbeat_monitors", id: string): Promise<boolean> {
  const { rows } = await database.$client.query<{ fresh: boolean }>(`select changed_at between clock_timestamp() - interval '10 s' and clock_timestamp() + interval '1 ms' as fresh from ${table} where id = $1`, [id]);
  return rows[0]!.fresh;
}

async function makeOld(table: "api_keys" | "beacon_keys" | "heartbeat_monitors", id: string): Promise<void> {
  await database.$client.query(`alter table ${table} disable trigger user`);
  await database.$client.query(`update ${table} set changed_at = $2 where id = $1`, [id, LONG_AGO]);
  await database.$client.query(`alter table ${table} enable trigger user`);
}

let organizationId: string;
beforeEach(async () => {
  organizationId = await insertOrganization();
  await announcements();
});

describe("API keys", () => {
  test("are stamped when made, whatever the writer said", async () => {
    expect(await isFresh("api_keys", await insertApiKey(organizationId))).toBe(true);
  });

  test("are stamped and announced when revoked, expired or given other scopes", async () => {
    const id = await insertApiKey(organizationId);
    for (const change of [{ revokedAt: new Date() }, { expiresAt: new Date() }, { scopes: ["services:read"] }]) {
      await makeOld("api_keys", id);
      await database.update(apiKeys).set(change).where(eq(apiKeys.id, id));
      expect(await isFresh("api_keys", id)).toBe(true);
      expect(await announcements()).toEqual(["pharos_changes api_keys"]);
    }
  });

  test("are neither stamped nor announced when only their use is noted", async () => {
    const id = await insertApiKey(organizationId);
    await makeOld("api_keys", id);
    await database.update(apiKeys).set({ lastUsedAt: new Date() }).where(eq(apiKeys.id, id));
    expect(await isFresh("api_keys", id)).toBe(false);
    expect(await announcements()).toEqual([]);
  });

  test("are stamped with the time of writing, not of the transaction's begin", async () => {
    const id = await insertApiKey(organizationId);
    const late = await database.transaction(async (transaction) => {
      await transaction.execute(sql`select pg_sleep(0.05)`);
      await transaction.update(apiKeys).set({ revokedAt: new Date() }).where(eq(apiKeys.id, id));
      const [row] = await transaction.select({ late: sql<boolean>`changed_at > now() + interval '40 ms'` }).from(apiKeys).where(eq(apiKeys.id, id));
      return row!.late;
    });
    expect(late).toBe(true);
  });
});

test("Beacon keys are stamped and announced when made and when changed", async () => {
  const serviceId = await insertService(organizationId);
  const id = newId();
  await database.insert(beaconKeys).values({ id, organizationId, serviceId, name: "web", key: `bpk_${id}`, changedAt: LONG_AGO });
  expect(await isFresh("beacon_keys", id)).toBe(true);
  expect(await announcements()).toEqual(["pharos_changes beacon_keys"]);
  await makeOld("beacon_keys", id);
  await database.update(beaconKeys).set({ deletedAt: new Date() }).where(eq(beaconKeys.id, id));
  expect(await isFresh("beacon_keys", id)).toBe(true);
  expect(await announcements()).toEqual(["pharos_changes beacon_keys"]);
});

describe("Heartbeat monitors", () => {
  test("are stamped when made", async () => {
    expect(await isFresh("heartbeat_monitors", await insertMonitor(organizationId))).toBe(true);
  });

  test("are stamped and announced when an edge must hear of the change", async () => {
    const id = await insertMonitor(organizationId);
    const changes = [{ slug: `other-${id}` }, { scheduleType: "cron" as const }, { intervalSeconds: null }, { cron: "* * * * *" }, { timezone: "Europe/Berlin" }, { graceSeconds: 90 }, { status: "paused" as const }, { status: "new" as const }, { deletedAt: new Date() }];
    for (const change of changes) {
      await makeOld("heartbeat_monitors", id);
      await database.update(heartbeatMonitors).set(change).where(eq(heartbeatMonitors.id, id));
      expect(await isFresh("heartbeat_monitors", id), JSON.stringify(change)).toBe(true);
      expect(await announcements(), JSON.stringify(change)).toEqual(["pharos_changes heartbeat_monitors"]);
    }
  });

  test("are neither stamped nor announced by pings and lateness", async () => {
    const id = await insertMonitor(organizationId);
    await makeOld("heartbeat_monitors", id);
    await database.update(heartbeatMonitors).set({ status: "up", lastPingAt: new Date(), nextExpectedAt: new Date(), updatedAt: new Date() }).where(eq(heartbeatMonitors.id, id));
    await database.update(heartbeatMonitors).set({ status: "grace" }).where(eq(heartbeatMonitors.id, id));
    expect(await isFresh("heartbeat_monitors", id)).toBe(false);
    expect(await announcements()).toEqual([]);
  });
});

test("A changed plan is stamped and announced, a changed name is not announced", async () => {
  await database.update(organizations).set({ name: "Lantern" }).where(eq(organizations.id, organizationId));
  expect(await announcements()).toEqual([]);
  await database.update(organizations).set({ plan: "team" }).where(eq(organizations.id, organizationId));
  expect(await announcements()).toEqual(["pharos_changes organizations"]);
  const [row] = await database.select({ updatedAt: organizations.updatedAt }).from(organizations).where(eq(organizations.id, organizationId));
  expect(row!.updatedAt.getTime()).toBeGreaterThan(LONG_AGO.getTime());
});

test("Events and deliveries wake the scheduler once a transaction, and not at all when it is rolled back", async () => {
  const webhookId = newId();
  await database.insert(webhooks).values({ id: webhookId, organizationId, name: "hook", url: "https://example.com", signingSecret: "s", events: [] });
  const write = async (fails: boolean) =>
    database.transaction(async (transaction) => {
      const ids = [newId(), newId()];
      await transaction.insert(events).values(ids.map((id) => ({ id, organizationId, type: "webhook.test" as const, data: {}, createdAt: new Date() })));
      await transaction.insert(webhookDeliveries).values(ids.map((eventId) => ({ id: newId(), organizationId, webhookId, eventId, attempt: 1, trigger: "event" as const, dueAt: new Date() })));
      if (fails) throw new Error("rolled back");
    });
  await expect(write(true)).rejects.toThrow("rolled back");
  expect(await announcements()).toEqual([]);
  await write(false);
  expect(await announcements()).toEqual(["pharos_events"]);
});

test("Events that come while others wait to be fanned out are not announced: whoever fans those out looks again", async () => {
  await database.update(events).set({ fannedOutAt: new Date() });
  await announcements();
  const organizationId = await insertOrganization();
  const insert = () => database.insert(events).values({ id: newId(), organizationId, type: "webhook.test", data: {}, createdAt: new Date() });
  await insert();
  await insert();
  expect(await announcements()).toEqual(["pharos_events"]);
  await database.update(events).set({ fannedOutAt: new Date() });
  await insert();
  expect(await announcements()).toEqual(["pharos_events"]);
});

test("A statement that writes no event and no delivery wakes nobody: the scheduler, woken, runs such ones", async () => {
  await database.execute(sql`insert into ${events} (id, organization_id, type, data, created_at) select id, organization_id, type, data, created_at from ${events} where false`);
  await database.execute(sql`insert into ${webhookDeliveries} (id, organization_id, webhook_id, event_id, attempt, trigger, due_at) select id, organization_id, webhook_id, event_id, attempt, trigger, due_at from ${webhookDeliveries} where false`);
  expect(await announcements()).toEqual([]);
});

describe("The audit log", () => {
  test("refuses updates and deletes", async () => {
    const id = await insertAuditEntry(organizationId);
    const refusal = { cause: expect.objectContaining({ message: "the audit log is append-only" }) as unknown };
    await expect(database.update(auditEntries).set({ action: "x" }).where(eq(auditEntries.id, id))).rejects.toMatchObject(refusal);
    await expect(database.delete(auditEntries).where(eq(auditEntries.id, id))).rejects.toMatchObject(refusal);
    expect(await database.select({ action: auditEntries.action }).from(auditEntries).where(eq(auditEntries.id, id))).toEqual([{ action: "service.created" }]);
  });

  test("goes with its organization, and with no other", async () => {
    const other = await insertOrganization();
    const kept = await insertAuditEntry(other);
    await insertAuditEntry(organizationId);
    await insertApiKey(organizationId);
    await insertMonitor(organizationId);
    await insertService(organizationId);
    await database.insert(events).values({ id: newId(), organizationId, type: "webhook.test", data: {}, createdAt: new Date() });
    await database.delete(organizations).where(eq(organizations.id, organizationId));
    expect(await database.$count(events, eq(events.organizationId, organizationId))).toBe(0);
    expect(await database.select({ id: auditEntries.id }).from(auditEntries).where(eq(auditEntries.organizationId, organizationId))).toEqual([]);
    expect(await database.select({ id: auditEntries.id }).from(auditEntries).where(eq(auditEntries.organizationId, other))).toEqual([{ id: kept }]);
  });
});
