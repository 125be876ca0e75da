import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { storeResults } from "../../../domain/monitors/store-results.ts";
import { newId } from "../../../platform/ids.ts";
import { auditEntries, channels, checkResults, domainMonitors, events, services } from "../../../schemas/tables/all.ts";
import { freshClickHouse } from "../../../testing/clickhouse.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";
import { rdapDomain, startRdapRegistry, startWhoisRegistry, type RdapRegistry, type WhoisRegistry } from "../../../testing/registries.ts";

const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Math.floor(Date.now() / 1_000) * 1_000 + days * DAY_MS + 3_600_000).toISOString();

let plane: TestControlPlane;
let clickhouse: Awaited<ReturnType<typeof freshClickHouse>>;
let rdap: RdapRegistry;
let whois: WhoisRegistry;
let expires: string;

beforeAll(async () => {
  [clickhouse, rdap, whois] = await Promise.all([freshClickHouse(), startRdapRegistry(), startWhoisRegistry()]);
  rdap.answer((request, response) => {
    if (request.url === "/dns.json") response.end(JSON.stringify({ services: [[["com"], [rdap.base]]] }));
    else if (request.url === "/domain/example.com") response.end(JSON.stringify(rdapDomain("example.com", { expires })));
    else response.writeHead(404).end();
  });
  plane = await startTestControlPlane({ settings: { OUTBOUND_ALLOW: "127.0.0.1", RDAP_BOOTSTRAP_URL: `${rdap.base}dns.json`, WHOIS_ROOT: whois.address, REGISTRY_PAUSE_MS: "0" }, clickhouse: clickhouse.clickhouse });
});
afterAll(async () => {
  await plane.stop();
  await Promise.all([clickhouse.drop(), rdap.stop(), whois.stop()]);
});
beforeEach(() => {
  expires = inDays(100);
});

const create = async (more: object = {}) => (await plane.call("POST", "/domain-monitors", { domain: "www.example.com", ...more })).body as { id: string } & Record<string, unknown>;
const tell = () => plane.database.select({ type: events.type, data: events.data }).from(events).orderBy(events.createdAt);

describe("domain monitors", () => {
  it("are created for the part of a name that is registered, due at once", async () => {
    const { status, body } = await plane.call("POST", "/domain-monitors", { domain: "Shop.Bücher.co.uk" });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String) as string, domain: "xn--bcher-kva.co.uk", alert_days: 30, lookup_method: "auto", enabled: true, status: null, last_error: null, last_checked_at: null, registration: null,
      service_id: null, notification_channels: [], created_at: expect.any(String) as string, updated_at: expect.any(String) as string,
    });
    const [row] = await plane.database.select().from(domainMonitors).where(eq(domainMonitors.id, body.id as string));
    expect(row!.dueAt.getTime()).toBeLessThanOrEqual(Date.now());
    expect((await plane.call("GET", "/domain-monitors")).body.domain_monitors).toContainEqual(body);
    const [audit] = await plane.database.select().from(auditEntries).where(eq(auditEntries.resourceId, body.id as string));
    expect(audit).toMatchObject({ action: "domain_monitor.created", resourceType: "domain_monitor" });
  });

  it.each([
    [{ domain: "https://example.com" }, "/domain"],
    [{ domain: "co.uk" }, "/domain"],
    [{}, "/domain"],
    [{ domain: "example.com", alert_days: 0 }, "/alert_days"],
    [{ domain: "example.com", lookup_method: "guess" }, "/lookup_method"],
    [{ domain: "example.com", port: 43 }, "/port"],
  ])("refuse %j", async (body, path) => {
    expect(await plane.call("POST", "/domain-monitors", body)).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path } });
  });

  it("take no service or channel that is not the organization's own", async () => {
    const channelId = newId();
    expect(await plane.call("POST", "/domain-monitors", { domain: "example.com", service_id: newId() })).toMatchObject({ status: 404, body: { path: "/service_id" } });
    const { id } = await create();
    expect(await plane.call("PATCH", `/domain-monitors/${id}`, { notification_channels: [channelId] })).toMatchObject({ status: 404, body: { path: "/notification_channels/0" } });
    await plane.database.insert(channels).values({ id: channelId, organizationId: plane.organization.organizationId, type: "webhook", name: "Hook", config: { url: "https://hooks.example.com" }, createdAt: new Date(), updatedAt: new Date() });
    expect(await plane.call("PATCH", `/domain-monitors/${id}`, { notification_channels: [channelId] })).toMatchObject({ status: 200, body: { notification_channels: [channelId] } });
  });

  it("are checked on demand, with their history before and after it has come to ClickHouse", async () => {
    const { id } = await create();
    expect(await plane.call("POST", `/domain-monitors/${id}`)).toMatchObject({
      status: 200,
      body: { status: "ok", days_until_expiry: 100, expires_on: expires, registrar: "Example Registrar Ltd", name_servers: ["ns1.example.net", "ns2.example.net"], error: null },
    });
    const read = async () => (await plane.call("GET", `/domain-monitors/${id}`)).body;
    const before = await read();
    expect(before).toMatchObject({
      domain: "example.com", status: "ok", last_error: null, last_checked_at: expect.any(String) as string,
      registration: { registrar: "Example Registrar Ltd", registrar_url: "https://registrar.example", created_date: "2001-05-01T04:00:00.000Z", expiry_date: expires, days_until_expiry: 100, nameservers: ["ns1.example.net", "ns2.example.net"], status: ["client transfer prohibited"] },
      check_history: [{ checked_at: expect.any(String) as string, status: "ok", days_until_expiry: 100, error: null }],
    });
    await storeResults({ database: plane.database, clickhouse: clickhouse.clickhouse });
    expect(await plane.database.$count(checkResults)).toBe(0);
    expect(await read()).toEqual(before);
    const [row] = await plane.database.select().from(domainMonitors).where(eq(domainMonitors.id, id));
    // Asked just now, so not again for most of a day.
    expect(row!.dueAt.getTime() - Date.now()).toBeGreaterThan(22 * 3_600_000);
  });

  it("say so when a domain is not registered", async () => {
    const { id } = await create({ domain: "nobody.com" });
    expect((await plane.call("POST", `/domain-monitors/${id}`)).body).toEqual({ status: "error", days_until_expiry: null, expires_on: null, registrar: null, name_servers: [], error: "nobody.com is not registered." });
    expect((await plane.call("GET", `/domain-monitors/${id}`)).body).toMatchObject({ status: "error", last_error: "nobody.com is not registered.", registration: null, check_history: [{ status: "error", days_until_expiry: null, error: "nobody.com is not registered." }] });
  });

  it("tell of an expiry, and weigh on their service until renewed, unlinked, paused or deleted", async () => {
    const { serviceId } = plane.organization;
    const statusOf = async () => (await plane.database.select({ status: services.status }).from(services).where(eq(services.id, serviceId)))[0]!.status;
    const { id } = await create({ service_id: serviceId });
    await plane.database.delete(events);
    expires = inDays(10);
    await plane.call("POST", `/domain-monitors/${id}`);
    await plane.call("POST", `/domain-monitors/${id}`);
    expect(await tell()).toEqual([{ type: "domain.expiring", data: { id, domain: "example.com", days_until_expiry: 10, expires_at: expires, registrar: "Example Registrar Ltd" } }]);
    expect(await statusOf()).toBe("operational");
    expires = inDays(-2);
    expect((await plane.call("POST", `/domain-monitors/${id}`)).body).toMatchObject({ status: "critical", days_until_expiry: -2 });
    expect(await statusOf()).toBe("major_outage");
    expect((await tell()).find(({ type }) => type === "monitor.down")).toMatchObject({ data: { id, name: "example.com", url: null, error: `The registration expired on ${expires.slice(0, 10)}.` } });
    await plane.call("PATCH", `/domain-monitors/${id}`, { enabled: false });
    expect(await statusOf()).toBe("operational");
    await plane.call("PATCH", `/domain-monitors/${id}`, { enabled: true });
    expect(await statusOf()).toBe("major_outage");
    await plane.call("PATCH", `/domain-monitors/${id}`, { service_id: null });
    expect(await statusOf()).toBe("operational");
    await plane.call("PATCH", `/domain-monitors/${id}`, { service_id: serviceId });
    expires = inDays(300);
    await plane.call("POST", `/domain-monitors/${id}`);
    expect(await statusOf()).toBe("operational");
    expect((await tell()).filter(({ type }) => type.startsWith("monitor.")).map(({ type }) => type)).toEqual(["monitor.down", "monitor.up"]);
    expires = inDays(-1);
    await plane.call("POST", `/domain-monitors/${id}`);
    expect(await statusOf()).toBe("major_outage");
    expect((await plane.call("DELETE", `/domain-monitors/${id}`)).status).toBe(200);
    expect(await statusOf()).toBe("operational");
  });

  it("follow a change of alert_days at once, and try another way of looking up at once", async () => {
    const { id } = await create();
    await plane.call("POST", `/domain-monitors/${id}`);
    expect((await plane.call("PATCH", `/domain-monitors/${id}`, { alert_days: 120 })).body).toMatchObject({ alert_days: 120, status: "warning" });
    await plane.call("PATCH", `/domain-monitors/${id}`, { lookup_method: "whois" });
    const [row] = await plane.database.select().from(domainMonitors).where(eq(domainMonitors.id, id));
    expect(row!.dueAt.getTime()).toBeLessThanOrEqual(Date.now());
    expect((await plane.call("POST", `/domain-monitors/${id}`)).body).toMatchObject({ status: "error", error: "example.com is not registered." });
  });

  it("are deleted with all their history", async () => {
    const { id } = await create();
    await plane.call("POST", `/domain-monitors/${id}`);
    await storeResults({ database: plane.database, clickhouse: clickhouse.clickhouse });
    await plane.call("POST", `/domain-monitors/${id}`);
    expect((await plane.call("DELETE", `/domain-monitors/${id}`)).body).toEqual({ success: true, message: "The domain monitor and its history were deleted." });
    expect(await plane.database.$count(checkResults, eq(checkResults.monitorId, id))).toBe(0);
    expect(await clickhouse.clickhouse.query("SELECT id FROM check_results WHERE monitor_id = {id:UUID}", { id })).toEqual([]);
    for (const method of ["GET", "POST", "PATCH", "DELETE"] as const) {
      expect((await plane.call(method, `/domain-monitors/${id}`, method === "PATCH" ? { enabled: true } : undefined)).status).toBe(404);
    }
  });

  it("are another organization's alone", async () => {
    const { id } = await create();
    const other = await plane.createOrganization("team");
    const headers = { "x-api-key": other.apiKey };
    expect((await plane.call("GET", "/domain-monitors", undefined, headers)).body).toEqual({ domain_monitors: [] });
    const asked = rdap.asked.length;
    expect((await plane.call("POST", `/domain-monitors/${id}`, undefined, headers)).status).toBe(404);
    expect(rdap.asked.length).toBe(asked);
  });
});
