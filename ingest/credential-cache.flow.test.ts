import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { makeApiKey } from "../domain/api-keys/format.ts";
import { makeBeaconKey } from "../domain/beacon-keys/format.ts";
import { createOrganization, type CreatedOrganization } from "../domain/organizations/create.ts";
import { systemClock } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { openDatabase, type Database } from "../platform/postgres/database.ts";
import { apiKeys, beaconKeys, heartbeatMonitors, organizations, services } from "../schemas/tables/all.ts";
import { freshDatabase } from "../testing/postgres.ts";
import { startPostgresRelay } from "../testing/postgres-relay.ts";
import { makeCredentialCache, type CredentialCache } from "./credential-cache.ts";

const log = makeLog("silent");
let database: Database;
let url: string;
let drop: () => Promise<void>;
let organization: CreatedOrganization;
beforeAll(async () => {
  ({ database, url, drop } = await freshDatabase());
  organization = await createOrganization(database, { name: "Shop", plan: "team" });
});
afterAll(() => drop());

/**
 * A cache that hears of no notification: only its refreshes, which the test makes, tell it of
 * changes.
 */
function makeCache(on: Database = database): { cache: CredentialCache; statements(): number } {
  const spied = vi.spyOn(on.$client, "query");
  onTestFinished(() => spied.mockRestore());
  return { cache: makeCredentialCache({ database: on, clock: systemClock, log }), statements: () => spied.mock.calls.length };
}

async function makeMonitors(count: number): Promise<{ id: string; slug: string }[]> {
  const { organizationId } = organization;
  const rows = Array.from({ length: count }, () => ({ id: newId(), organizationId, name: "Job", slug: `job-${newId()}`, scheduleType: "interval" as const, intervalSeconds: 60, graceSeconds: 60 }));
  await database.insert(heartbeatMonitors).values(rows);
  return rows;
}

/** The change is read by the next refresh, its row a moment later. */
const seen = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 10_000, interval: 5 });

test("keys and monitors made just now go on working when Postgres dies, whatever changed before", async () => {
  const relay = await startPostgresRelay(url);
  const through = openDatabase(relay.url, 4, log);
  onTestFinished(() => through.$client.end());
  const { cache } = makeCache(through);
  const { apiKey, beaconKey, organizationId, serviceId } = organization;
  const [monitor] = await makeMonitors(1);
  const found = [await cache.loadApiKey(apiKey), await cache.loadBeaconKey(beaconKey), await cache.loadMonitor(organizationId, monitor!.slug), await cache.loadService(organizationId, serviceId)];
  await cache.refresh();
  await database.update(heartbeatMonitors).set({ graceSeconds: 90 }).where(eq(heartbeatMonitors.id, monitor!.id));
  await cache.refresh();
  await relay.cut();
  await expect(cache.refresh()).rejects.toThrow();
  const known = () => [cache.apiKey(apiKey), cache.beaconKey(beaconKey), cache.monitor(organizationId, monitor!.slug), cache.service(organizationId, serviceId)];
  for (let turn = 0; turn < 20; turn++) {
    expect(known().map((value) => value?.id)).toEqual(found.map((value) => value!.id));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await relay.mend();
  await vi.waitFor(() => cache.refresh(), { timeout: 20_000, interval: 50 });
  await seen(() => expect(cache.monitor(organizationId, monitor!.slug)).toMatchObject({ graceSeconds: 90 }));
});

test("a refresh is one statement, and a change costs once: monitors made just now are not asked for again and again", async () => {
  const { cache, statements } = makeCache();
  const { organizationId } = organization;
  const monitors = await makeMonitors(300);
  for (const { slug } of monitors) await cache.loadMonitor(organizationId, slug);
  const before = statements();
  await cache.refresh();
  await new Promise((resolve) => setTimeout(resolve, 200));
  // The changes, and their rows in one.
  expect(statements() - before).toBe(2);
  for (let turn = 0; turn < 3; turn++) {
    await cache.refresh();
    for (const { slug } of monitors) expect(cache.monitor(organizationId, slug)).toBeTruthy();
  }
  expect(statements() - before).toBe(5);
  await Promise.all(Array.from({ length: 50 }, () => cache.refresh()));
  expect(statements() - before).toBe(7);
});

test("a revoked key, a deleted beacon key, a deleted service, a new plan and a renamed monitor are seen without a notification", async () => {
  const { cache } = makeCache();
  const other = await createOrganization(database, { name: "Other", plan: "free" });
  const { apiKey, beaconKey, organizationId, serviceId } = other;
  const monitor = { id: newId(), organizationId, name: "Job", slug: "nightly", scheduleType: "interval" as const, intervalSeconds: 60, graceSeconds: 60 };
  await database.insert(heartbeatMonitors).values(monitor);
  await Promise.all([cache.loadApiKey(apiKey), cache.loadBeaconKey(beaconKey), cache.loadService(organizationId, serviceId), cache.loadMonitor(organizationId, "nightly"), cache.loadMonitor(organizationId, monitor.id)]);
  await cache.refresh();
  const changed = async (check: () => void): Promise<void> => {
    await cache.refresh();
    await seen(check);
  };

  await database.update(organizations).set({ plan: "pro" }).where(eq(organizations.id, organizationId));
  await changed(() => expect(cache.apiKey(apiKey)?.plan).toBe("pro"));
  await database.update(heartbeatMonitors).set({ slug: "daily" }).where(eq(heartbeatMonitors.id, monitor.id));
  await changed(() => expect([cache.monitor(organizationId, "nightly"), cache.monitor(organizationId, monitor.id)?.id]).toEqual([undefined, monitor.id]));
  await database.update(beaconKeys).set({ deletedAt: new Date() }).where(eq(beaconKeys.key, beaconKey));
  await changed(() => expect(cache.beaconKey(beaconKey)).toBeFalsy());
  await database.update(apiKeys).set({ revokedAt: new Date() }).where(eq(apiKeys.organizationId, organizationId));
  await changed(() => expect(cache.apiKey(apiKey)?.revokedAt).toBeInstanceOf(Date));
  await database.delete(services).where(eq(services.id, serviceId));
  await changed(() => expect(cache.service(organizationId, serviceId)).toBeFalsy());
});

test("a change that commits long after it was stamped is seen, though later ones were seen before", async () => {
  const { cache } = makeCache();
  const { organizationId } = organization;
  const [late, early] = (await makeMonitors(2)) as [{ id: string; slug: string }, { id: string; slug: string }];
  for (const { slug } of [late, early]) await cache.loadMonitor(organizationId, slug);
  await cache.refresh();
  await database.transaction(async (transaction) => {
    await transaction.update(heartbeatMonitors).set({ graceSeconds: 600 }).where(eq(heartbeatMonitors.id, late.id));
    await new Promise((resolve) => setTimeout(resolve, 20));
    await database.update(heartbeatMonitors).set({ graceSeconds: 700 }).where(eq(heartbeatMonitors.id, early.id));
    await cache.refresh();
    await seen(() => expect(cache.monitor(organizationId, early.slug)?.graceSeconds).toBe(700));
    await cache.refresh();
  });
  expect(cache.monitor(organizationId, late.slug)?.graceSeconds).toBe(60);
  await cache.refresh();
  await seen(() => expect(cache.monitor(organizationId, late.slug)?.graceSeconds).toBe(600));
});

test("a key that was revoked while a connection hung stops working within 5 s of its revocation", async () => {
  const { apiKey, organizationId } = await createOrganization(database, { name: "Hung", plan: "free" });
  const { cache } = makeCache();
  await cache.loadApiKey(apiKey);
  await cache.refresh();
  vi.spyOn(database.$client, "query").mockReturnValueOnce(new Promise(() => undefined) as never);
  const hung = cache.refresh();
  await database.transaction((transaction) => transaction.update(apiKeys).set({ revokedAt: new Date() }).where(eq(apiKeys.organizationId, organizationId)));
  const revokedAt = performance.now();
  await Promise.all([expect(hung).rejects.toThrow("has not answered"), cache.refresh()]);
  await seen(() => expect(cache.apiKey(apiKey)?.revokedAt).toBeInstanceOf(Date));
  expect(performance.now() - revokedAt).toBeLessThan(5_000);
});

test("a monitor is found by id in any case, by slug, and by a slug that looks like an id", async () => {
  const { cache, statements } = makeCache();
  const { organizationId } = organization;
  const [monitor] = (await makeMonitors(1)) as [{ id: string; slug: string }];
  const odd = { id: newId(), organizationId, name: "Odd", slug: newId(), scheduleType: "interval" as const, intervalSeconds: 60, graceSeconds: 60 };
  await database.insert(heartbeatMonitors).values(odd);
  const found = await Promise.all([monitor.id, monitor.id.toUpperCase(), monitor.slug, odd.slug, newId(), "nobody"].map((name) => cache.loadMonitor(organizationId, name)));
  expect(found.map((each) => each?.id)).toEqual([monitor.id, monitor.id, monitor.id, odd.id, undefined, undefined]);
  expect(await cache.loadMonitor(newId(), monitor.id)).toBeNull();
  const before = statements();
  for (const spelled of [monitor.id, monitor.id.toUpperCase(), monitor.id.replace(/[a-f]/, (letter) => letter.toUpperCase())]) expect(cache.monitor(organizationId, spelled)?.id).toBe(monitor.id);
  await cache.loadService(organizationId, organization.serviceId);
  expect(cache.service(organizationId, organization.serviceId.toUpperCase())?.id).toBe(organization.serviceId);
  expect(statements() - before).toBe(1);
});

test("a flood of unknown keys and names costs a bounded number of statements, and holds up nobody who is known", async () => {
  const { cache, statements } = makeCache();
  const { organizationId, beaconKey, apiKey } = organization;
  await Promise.all([cache.loadBeaconKey(beaconKey), cache.loadApiKey(apiKey)]);
  const [before, began] = [statements(), performance.now()];
  for (let burst = 0; burst < 20; burst++) {
    const loads = Array.from({ length: 300 }, () => [cache.loadBeaconKey(makeBeaconKey()), cache.loadApiKey(makeApiKey().key), cache.loadMonitor(organizationId, `nobody-${newId()}`), cache.loadService(organizationId, newId())]);
    expect(new Set(await Promise.all(loads.flat()))).toEqual(new Set([null]));
    expect([cache.beaconKey(beaconKey)?.organizationId, cache.apiKey(apiKey)?.organizationId]).toEqual([organizationId, organizationId]);
  }
  // Of each of the four kinds one at a time, with 10 ms from one to the next.
  expect(statements() - before).toBeLessThanOrEqual(4 * (1 + (performance.now() - began) / 10));
  expect(statements() - before).toBeLessThanOrEqual(4 * 20 * 2);
});

test("an unknown key is not looked up again at once, and a text that names no monitor never", async () => {
  const { cache, statements } = makeCache();
  const key = makeBeaconKey();
  expect(await cache.loadBeaconKey(key)).toBeNull();
  const before = statements();
  for (let turn = 0; turn < 100; turn++) expect(await cache.loadBeaconKey(key)).toBeNull();
  for (const text of ["a", "%00".repeat(20), "A_B", "x".repeat(64)]) expect(cache.monitor(organization.organizationId, text)).toBeNull();
  expect(statements()).toBe(before);
});
