import { eq, inArray, sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { cutoffOf } from "../../domain/retention/plan-partition.ts";
import { systemClock } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import { makeMetrics } from "../../platform/metrics.ts";
import { beaconKeys, dailyCreations, deadLetters, deletions, edges, frameSequences, heartbeatMonitors, organizations, periodicWork, services } from "../../schemas/tables/all.ts";
import type { Plan } from "../../schemas/vocabulary.ts";
import { insertAgedRows } from "../../testing/aged-rows.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { keepRetention } from "./keep-retention.ts";

const DAY = 86_400_000;
const ROWS = 50_000;
const TABLES = ["beacon_events", "metric_samples", "heartbeat_pings"] as const;

const now = new Date();
const ago = (days: number) => new Date(now.getTime() - days * DAY);
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let stores: Awaited<ReturnType<typeof freshClickHouse>>;
beforeAll(async () => {
  [fresh, stores] = await Promise.all([freshDatabase(), freshClickHouse()]);
});
afterAll(async () => {
  await Promise.all([fresh.drop(), stores.drop()]);
});

interface Owner {
  organizationId: string;
  serviceId: string;
  monitorId: string;
}

/** An organization with a service and a heartbeat monitor, and rows of the last `days` days. */
async function addOrganization(plan: Plan, retentionDays: number, days: number): Promise<Owner> {
  const owner: Owner = { organizationId: newId(), serviceId: newId(), monitorId: newId() };
  const { organizationId, serviceId, monitorId } = owner;
  await fresh.database.insert(organizations).values({ id: organizationId, name: "Acme", plan, retentionDays });
  await fresh.database.insert(services).values({ id: serviceId, organizationId, name: "Shop" });
  await fresh.database.insert(heartbeatMonitors).values({ id: monitorId, organizationId, name: "Job", slug: "job", scheduleType: "interval", intervalSeconds: 60, graceSeconds: 60 });
  await insertAgedRows(stores.clickhouse, { ...owner, rows: ROWS, from: ago(days), until: now }, TABLES);
  await insertAgedRows(stores.clickhouse, { ...owner, rows: 1_000, from: ago(20), until: now }, ["check_results"]);
  return owner;
}

const query = <Row>(text: string, params?: Record<string, unknown>) => stores.clickhouse.query<Row>(text, params);

/** Rows of an organization: how many there are, and when the oldest is from. */
async function rowsOf(table: string, { organizationId }: Owner, time = "received_at"): Promise<{ rows: number; oldest: number }> {
  const [row] = await query<{ rows: string; oldest: string }>(`SELECT count() AS rows, toUnixTimestamp64Milli(min(${time})) AS oldest FROM ${table} WHERE organization_id = {id:UUID}`, { id: organizationId });
  return { rows: Number(row!.rows), oldest: Number(row!.oldest) };
}

const youngerThan = async (table: string, owner: Owner, before: number) =>
  Number((await query<{ rows: string }>(`SELECT count() AS rows FROM ${table} WHERE organization_id = {id:UUID} AND received_at >= fromUnixTimestamp64Milli({before:Int64}, 'UTC')`, { id: owner.organizationId, before: String(before) }))[0]!.rows);

const slotsOf = async ({ serviceId }: Owner) => (await query<{ slot: string }>("SELECT DISTINCT toUnixTimestamp(slot) AS slot FROM signature_slots WHERE service_id = {id:UUID} ORDER BY slot", { id: serviceId })).map(({ slot }) => Number(slot) * 1_000);

const bytes = async () => Number((await query<{ bytes: string }>("SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE database = currentDatabase() AND active"))[0]!.bytes);

const mutations = async () => Number((await query<{ count: string }>("SELECT count() AS count FROM system.mutations WHERE database = currentDatabase() AND command LIKE '%DELETE%'"))[0]!.count);

/** One run from its claim to its end, by `processes` schedulers at once. */
async function run(processes = 1): Promise<void> {
  await fresh.database.delete(periodicWork);
  const metrics = makeMetrics();
  const log = makeLog("silent");
  const errors = vi.spyOn(log, "error");
  const all = Array.from({ length: processes }, () => keepRetention({ database: fresh.database, clickhouse: stores.clickhouse, clock: systemClock, log, metrics, pauseMs: 50, pollMs: 20 }));
  for (const each of all) each.start();
  await vi.waitFor(async () => expect((await metrics.retention.lastRun.get()).values[0]!.value).toBeGreaterThan(0), 120_000);
  await Promise.all(all.map((each) => each.stop()));
  expect(errors.mock.calls).toEqual([]);
}

it("deletes what is older than each organization's retention, exactly that, and gives its space back", async () => {
  const free = await addOrganization("free", 90, 75);
  const week = await addOrganization("team", 7, 75);
  const months = await addOrganization("pro", 60, 75);
  const years = await addOrganization("team", 730, 75);
  const bounds: [Owner, number][] = [[free, 30], [week, 7], [months, 60], [years, 730]];
  const kept = await Promise.all(TABLES.flatMap((table) => bounds.map(([owner, days]) => youngerThan(table, owner, cutoffOf(days, now)))));
  const before = await bytes();

  await run(3);

  expect(await Promise.all(TABLES.flatMap((table) => bounds.map(async ([owner]) => (await rowsOf(table, owner)).rows)))).toEqual(kept);
  for (const [owner, days] of bounds) {
    for (const table of TABLES) expect((await rowsOf(table, owner)).oldest).toBeGreaterThanOrEqual(cutoffOf(days, now));
    const slots = await slotsOf(owner);
    expect(Math.min(...slots) + DAY / 4).toBeGreaterThanOrEqual(cutoffOf(days, now));
    expect(slots.length).toBeGreaterThanOrEqual(Math.min(days, 75) * 4);
  }
  expect((await rowsOf("check_results", week, "checked_at")).oldest).toBeGreaterThanOrEqual(cutoffOf(7, now));
  expect((await rowsOf("check_results", years, "checked_at")).rows).toBe(1_000);
  // Of 75 days 45, 68 and 15 go of three in four.
  expect(await bytes()).toBeLessThan(before * 0.68);
  // Places are found by their projection as before.
  const [{ rows: byPlace }] = await query<{ rows: string }>("SELECT count() AS rows FROM metric_samples WHERE log_id = 'log' AND partition IN (0, 1, 2, 3)") as [{ rows: string }];
  expect(Number(byPlace)).toBe(kept.slice(4, 8).reduce((sum, each) => sum + each, 0));

  // A second run of the same day sends ClickHouse nothing.
  const mutated = await mutations();
  await run();
  expect(await mutations()).toBe(mutated);
});

it("drops a month that is over for all who have rows in it, and leaves those of organizations that Postgres does not know", async () => {
  const gone = { organizationId: newId(), serviceId: newId(), monitorId: newId() };
  const span = (from: number, until: number) => ({ rows: 1_000, from: ago(from), until: ago(until) });
  await insertAgedRows(stores.clickhouse, { ...gone, ...span(400, 380) }, ["metric_samples"]);
  await run();
  expect((await rowsOf("metric_samples", gone)).rows).toBe(1_000);
  const before = await mutations();
  await insertAgedRows(stores.clickhouse, { ...gone, ...span(1_000, 900) }, ["metric_samples"]);
  await run();
  expect((await rowsOf("metric_samples", gone)).rows).toBe(1_000);
  expect(await mutations()).toBe(before);
});

it("deletes the rows of deleted services and monitors, but the youngest, and never those of one that merely is missing", async () => {
  const [deleted, organizationLess, missing] = [await addOrganization("team", 730, 10), await addOrganization("team", 730, 10), await addOrganization("team", 730, 10)];
  await fresh.database.delete(services).where(eq(services.id, deleted.serviceId));
  await fresh.database.update(heartbeatMonitors).set({ deletedAt: now }).where(eq(heartbeatMonitors.id, deleted.monitorId));
  await fresh.database.delete(organizations).where(eq(organizations.id, organizationLess.organizationId));
  // As a Postgres that was restored from before they were made.
  await fresh.database.delete(services).where(eq(services.id, missing.serviceId));
  await fresh.database.delete(heartbeatMonitors).where(eq(heartbeatMonitors.id, missing.monitorId));
  await fresh.database.delete(deletions).where(inArray(deletions.id, [missing.serviceId, missing.monitorId]));
  await run();
  for (const owner of [deleted, organizationLess]) {
    for (const table of TABLES) {
      const { rows, oldest } = await rowsOf(table, owner);
      expect(rows).toBeLessThanOrEqual((ROWS / 240) * 2);
      expect(oldest).toBeGreaterThan(now.getTime() - 2 * 3_600_000 - 60_000);
    }
    expect((await slotsOf(owner)).length).toBeLessThanOrEqual(2);
  }
  for (const table of TABLES) expect((await rowsOf(table, missing)).rows).toBe(ROWS);
});

it("puts away what the pipeline left behind, and nothing that is still asked for", async () => {
  const { database } = fresh;
  const [alive, quiet, gone, deadButCounted] = [newId(), newId(), newId(), newId()];
  await database.insert(edges).values([{ id: alive, seenAt: now }, { id: quiet, seenAt: ago(29) }, { id: gone, seenAt: ago(31) }]);
  const sequence = (edgeId: string, days: number, partition = 0) => ({ consumerGroup: "g", logId: "l", topic: "t", partition, edgeId, lastSequence: 1n, updatedAt: ago(days) });
  await database.insert(frameSequences).values([sequence(alive, 40), sequence(quiet, 40), sequence(gone, 40), sequence(gone, 29, 1), sequence(deadButCounted, 2), ...Array.from({ length: 2_500 }, () => sequence(newId(), 31))]);
  const letter = (state: "open" | "replayed" | "discarded" | "rows_stand", days: number, offset: bigint) => ({ id: newId(), consumerGroup: "g", logId: "l", topic: "t", partition: 0, offset, entry: -1, reason: "odd", bytes: Buffer.from("x"), state, createdAt: ago(days), answeredAt: state === "replayed" || state === "discarded" ? ago(days) : null });
  await database.insert(deadLetters).values([letter("open", 900, 1n), letter("rows_stand", 900, 2n), letter("replayed", 89, 3n), letter("replayed", 91, 4n), letter("discarded", 91, 5n)]);
  const { organizationId, serviceId } = await addOrganization("free", 30, 1);
  const day = (days: number) => ({ serviceId, day: ago(days).toISOString().slice(0, 10), kind: "signature" as const, count: 1 });
  await database.insert(dailyCreations).values([day(0), day(3), day(4), day(10)]);
  const keyOf = (deletedDays: number | null) => ({ id: newId(), organizationId, serviceId, name: "Shop", key: `bpk_${newId()}`, createdAt: ago(90), deletedAt: deletedDays === null ? null : ago(deletedDays) });
  const keys = [keyOf(null), keyOf(29), keyOf(31)];
  await database.insert(beaconKeys).values(keys);
  const jobOf = (deletedDays: number | null) => ({ id: newId(), organizationId, serviceId, name: "Job", slug: newId(), scheduleType: "interval" as const, intervalSeconds: 60, graceSeconds: 60, createdAt: ago(90), deletedAt: deletedDays === null ? null : ago(deletedDays) });
  const jobs = [jobOf(null), jobOf(29), jobOf(31)];
  await database.insert(heartbeatMonitors).values(jobs);
  const fence = (partition: number, epoch: number, days: number) => ({ consumer_group: "g", log_id: "l'", partition, epoch: String(epoch), lease: newId(), taken_at: ago(days).toISOString().slice(0, 23).replace("T", " ") });
  await stores.clickhouse.insert("insert_fences", [fence(0, 1, 20), fence(0, 2, 8), fence(0, 3, 6), fence(0, 4, 1), fence(1, 9, 50), fence(2, 1, 50), fence(2, 2, 40)], {});

  await run();

  expect((await database.select({ id: edges.id }).from(edges)).map(({ id }) => id).sort()).toEqual([alive, quiet].sort());
  expect((await database.select({ id: frameSequences.edgeId }).from(frameSequences)).map(({ id }) => id).sort()).toEqual([alive, quiet, gone, deadButCounted].sort());
  expect((await database.select({ offset: deadLetters.offset }).from(deadLetters).orderBy(deadLetters.offset)).map(({ offset }) => offset)).toEqual([1n, 2n, 3n]);
  expect((await database.execute(sql`select day from daily_creations`)).rows).toHaveLength(2);
  const ids = (rows: { id: string }[]) => rows.map(({ id }) => id).sort();
  expect(ids(await database.select({ id: beaconKeys.id }).from(beaconKeys).where(eq(beaconKeys.serviceId, serviceId)))).toEqual(ids(keys.slice(0, 2)));
  expect(ids(await database.select({ id: heartbeatMonitors.id }).from(heartbeatMonitors).where(eq(heartbeatMonitors.serviceId, serviceId)))).toEqual(ids(jobs.slice(0, 2)));
  expect(await query("SELECT partition, toUInt32(epoch) AS epoch FROM insert_fences ORDER BY partition, epoch")).toEqual([
    { partition: 0, epoch: 3 }, { partition: 0, epoch: 4 }, { partition: 1, epoch: 9 }, { partition: 2, epoch: 2 },
  ]);
});

it("can be stopped at once, and the next run does what is left", async () => {
  const week = await addOrganization("team", 7, 40);
  await fresh.database.delete(periodicWork);
  const needs = { database: fresh.database, clickhouse: stores.clickhouse, clock: systemClock, log: makeLog("silent"), metrics: makeMetrics() };
  const stopped = keepRetention(needs);
  const before = await mutations();
  stopped.start();
  await vi.waitFor(async () => expect(await mutations()).toBeGreaterThan(before), 60_000);
  const began = performance.now();
  await stopped.stop();
  expect(performance.now() - began).toBeLessThan(5_000);
  const [work] = await fresh.database.select().from(periodicWork);
  expect(work).toMatchObject({ leaseToken: null });
  await run();
  for (const table of TABLES) expect((await rowsOf(table, week)).oldest).toBeGreaterThanOrEqual(cutoffOf(7, now));
});
