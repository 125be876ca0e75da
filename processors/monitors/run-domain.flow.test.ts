import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Clock } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { checkResults, domainMonitors, events, organizations } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { rdapDomain, startRdapRegistry, startWhoisRegistry, type RdapRegistry, type WhoisRegistry } from "../../testing/registries.ts";
import { domainRunner } from "./run-domain.ts";
import { runDueMonitors } from "./run-due.ts";

const T = Date.parse("2026-05-04T12:00:00Z");
const DAY_MS = 86_400_000;
const EXPIRES = "2026-05-14T12:00:00.000Z";

let database: Database;
let drop: () => Promise<void>;
let rdap: RdapRegistry;
let whois: WhoisRegistry;
let now: number;
let id: string;

const log = makeLog("silent");
const clock: Clock = { now: () => now, monotonic: () => performance.now() };

beforeAll(async () => {
  ({ database, drop } = await freshDatabase());
  [rdap, whois] = await Promise.all([startRdapRegistry(), startWhoisRegistry()]);
});
afterAll(() => Promise.all([drop(), rdap.stop(), whois.stop()]));

beforeEach(async () => {
  now = T;
  id = newId();
  rdap.asked.length = 0;
  rdap.answer((request, response) => void response.end(JSON.stringify(request.url === "/dns.json" ? { services: [[["com"], [rdap.base]]] } : rdapDomain("example.com", { expires: EXPIRES }))));
  await database.delete(checkResults);
  await database.delete(organizations);
  await database.insert(organizations).values({ id: newId(), name: "Acme", plan: "team" });
  await addMonitor(id);
});

async function addMonitor(monitorId: string, changes: Partial<typeof domainMonitors.$inferInsert> = {}): Promise<void> {
  const [{ id: organizationId } = { id: "" }] = await database.select({ id: organizations.id }).from(organizations);
  const at = new Date(T);
  await database.insert(domainMonitors).values({ id: monitorId, organizationId, domain: "example.com", alertDays: 30, lookupMethod: "rdap", dueAt: at, createdAt: at, updatedAt: at, ...changes });
}

function startScheduler() {
  const config = { OUTBOUND_PORTS: [], OUTBOUND_ALLOW: ["127.0.0.1"], OUTBOUND_CA_FILE: null, RDAP_BOOTSTRAP_URL: `${rdap.base}dns.json`, WHOIS_ROOT: whois.address, REGISTRY_PAUSE_MS: 0, SCHEDULER_TICK_MS: 20 };
  const running = runDueMonitors({ database, clock, config, log, runner: domainRunner({ config, clock, log }) });
  running.start();
  return running;
}

const row = async () => (await database.select().from(domainMonitors).where(eq(domainMonitors.id, id)))[0]!;
const lookUps = () => rdap.asked.filter((path) => path.startsWith("/domain/")).length;

it("looks a domain up once a day, however many schedulers there are", async () => {
  const schedulers = [startScheduler(), startScheduler()];
  await expect.poll(async () => (await row()).status).toBe("warning");
  const first = await row();
  expect(first).toMatchObject({ daysUntilExpiry: 10, lastError: null, leaseToken: null, registration: { expiry_date: EXPIRES }, lastCheckedAt: new Date(T), told: `${EXPIRES} 14` });
  const wait = first.dueAt.getTime() - T;
  expect(wait).toBeGreaterThanOrEqual(DAY_MS - 3_600_000);
  expect(wait).toBeLessThan(2 * DAY_MS);
  // When it is due: once more, and from then on every day at that time.
  now = first.dueAt.getTime() + 5_000;
  await expect.poll(async () => (await row()).lastCheckedAt?.getTime()).toBe(now);
  expect((await row()).dueAt.getTime()).toBe(first.dueAt.getTime() + DAY_MS);
  await Promise.all(schedulers.map((each) => each.stop()));
  expect(lookUps()).toBe(2);
  expect(await database.$count(checkResults, eq(checkResults.monitorId, id))).toBe(2);
  expect(await database.select({ type: events.type }).from(events)).toEqual([{ type: "domain.expiring" }]);
});

it("asks once for the monitors of one domain, whoever they belong to", async () => {
  const second = newId();
  await addMonitor(second, { alertDays: 5 });
  await addMonitor(newId(), { domain: "example.org", enabled: false });
  const scheduler = startScheduler();
  await expect.poll(async () => (await database.select({ status: domainMonitors.status }).from(domainMonitors).where(eq(domainMonitors.enabled, true))).map(({ status }) => status).sort()).toEqual(["ok", "warning"]);
  await scheduler.stop();
  expect(lookUps()).toBe(1);
});

it("tries again within hours after a failure, keeping what it knew, and not while it is paused", async () => {
  const paused = newId();
  await addMonitor(paused, { enabled: false });
  rdap.answer((request, response) => void (request.url === "/dns.json" ? response.end(JSON.stringify({ services: [[["com"], [rdap.base]]] })) : response.writeHead(429, { "retry-after": "7200" }).end()));
  await database.update(domainMonitors).set({ registration: { expiry_date: EXPIRES }, daysUntilExpiry: 11, status: "warning" }).where(eq(domainMonitors.id, id));
  const scheduler = startScheduler();
  await expect.poll(async () => (await row()).status).toBe("error");
  await scheduler.stop();
  const after = await row();
  expect(after).toMatchObject({ lastError: "127.0.0.1 answers too many questions just now.", daysUntilExpiry: 11, registration: { expiry_date: EXPIRES } });
  const wait = after.dueAt.getTime() - T;
  expect(wait).toBeGreaterThanOrEqual(7_200_000 - 5_000);
  expect(wait).toBeLessThanOrEqual(3 * 3_600_000);
  expect(lookUps()).toBe(1);
});

it("leaves the monitor to another when it is stopped in the middle of a look-up", async () => {
  rdap.answer((request, response) => void (request.url === "/dns.json" && response.end(JSON.stringify({ services: [[["com"], [rdap.base]]] }))));
  const scheduler = startScheduler();
  await expect.poll(lookUps).toBe(1);
  await scheduler.stop();
  expect(await row()).toMatchObject({ status: null, lastCheckedAt: null });
  expect(await database.$count(checkResults)).toBe(0);
  rdap.answer((request, response) => void response.end(JSON.stringify(request.url === "/dns.json" ? { services: [[["com"], [rdap.base]]] } : rdapDomain("example.com", { expires: EXPIRES }))));
  now = (await row()).dueAt.getTime();
  const next = startScheduler();
  await expect.poll(async () => (await row()).status).toBe("warning");
  await next.stop();
});
