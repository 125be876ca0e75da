import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { storeResults } from "../../domain/monitors/store-results.ts";
import type { Clock } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { checkResults, events, organizations, services, sslMonitors } from "../../schemas/tables/all.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { startFaultyTls, type FaultyTls } from "../../testing/faulty-tls.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { runDueMonitors } from "./run-due.ts";
import { sslRunner } from "./run-ssl.ts";

const HOUR_MS = 3_600_000;

let farm: FaultyTls;
let stored: Awaited<ReturnType<typeof freshClickHouse>>;
let database: Database;
let drop: () => Promise<void>;
let now = Date.now();

const clock: Clock = { now: () => now, monotonic: () => performance.now() };

beforeAll(async () => {
  farm = await startFaultyTls();
  stored = await freshClickHouse();
  ({ database, drop } = await freshDatabase());
});
afterAll(async () => {
  await drop();
  await stored.drop();
  await farm.stop();
});

it("checks what is due once among two schedulers, tells each change once, and brings every result to ClickHouse", async () => {
  const [organizationId, serviceId, id, paused] = [newId(), newId(), newId(), newId()];
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "team" });
  await database.insert(services).values({ id: serviceId, organizationId, name: "Shop" });
  const row = { id, organizationId, serviceId, domain: "localhost", port: farm.ports.ten_days, alertDays: 30, dueAt: new Date(now), createdAt: new Date(now), updatedAt: new Date(now) };
  await database.insert(sslMonitors).values([row, { ...row, id: paused, enabled: false }]);

  const runner = sslRunner({ OUTBOUND_PORTS: [], OUTBOUND_ALLOW: ["127.0.0.0/8", "::1/128"], OUTBOUND_CA_FILE: farm.caFile });
  const schedulers = [1, 2].map(() => runDueMonitors({ database, clock, config: { SCHEDULER_TICK_MS: 20 }, log: makeLog("silent"), runner }));
  for (const each of schedulers) each.start();
  const checkedTimes = (times: number) => vi.waitFor(async () => expect(await database.$count(checkResults)).toBe(times), { timeout: 60_000, interval: 20 });
  const monitor = async () => (await database.select().from(sslMonitors)).find((each) => each.id === id)!;
  const again = async (ms: number) => {
    now += ms;
    await database.update(sslMonitors).set({ dueAt: new Date(now) });
  };
  try {
    await checkedTimes(1);
    const first = await monitor();
    expect(first).toMatchObject({ status: "warning", daysUntilExpiry: 10, leaseToken: null, lastCheckedAt: new Date(now), told: `${first.certificate!.fingerprint as string} 14` });
    expect(first.dueAt.getTime() - now).toBeGreaterThan(0);
    expect(first.dueAt.getTime() - now).toBeLessThanOrEqual(HOUR_MS);

    await again(HOUR_MS / 4);
    await checkedTimes(2);
    farm.swap("ten_days", "expired");
    await again(HOUR_MS / 4);
    await checkedTimes(3);
    expect(await database.select().from(services)).toMatchObject([{ status: "major_outage", statusSource: "monitors" }]);
    farm.swap("ten_days", "valid");
    await again(HOUR_MS / 4);
    await checkedTimes(4);
    expect(await monitor()).toMatchObject({ status: "ok", lastError: null });
    expect(await database.select().from(services)).toMatchObject([{ status: "operational" }]);
  } finally {
    await Promise.all(schedulers.map((each) => each.stop()));
  }

  const happened = (await database.select().from(events).orderBy(events.createdAt)).map(({ type, data }) => [type, data] as const);
  expect(happened.map(([type]) => type).filter((type) => type !== "service.status_changed")).toEqual(["ssl.expiring", "monitor.down", "ssl.expiring", "monitor.up"]);
  expect(happened[0]![1]).toMatchObject({ id, domain: "localhost", days_until_expiry: 10, expires_at: expect.any(String) as string });
  expect(happened.find(([type]) => type === "monitor.down")![1]).toMatchObject({ id, name: "localhost", url: `https://localhost:${farm.ports.ten_days}`, error: expect.stringContaining("expired on") as string });

  await storeResults({ database, clickhouse: stored.clickhouse });
  expect(await database.$count(checkResults)).toBe(0);
  const rows = await stored.clickhouse.query("SELECT toString(monitor_id) AS monitor, kind, status, days_until_expiry, is_valid FROM check_results ORDER BY checked_at");
  const result = { monitor: id, kind: "ssl" };
  expect(rows).toEqual([
    { ...result, status: "warning", days_until_expiry: 10, is_valid: true },
    { ...result, status: "warning", days_until_expiry: 10, is_valid: true },
    { ...result, status: "critical", days_until_expiry: -1, is_valid: false },
    { ...result, status: "ok", days_until_expiry: 40, is_valid: true },
  ]);
});
