import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { storeResults } from "../../../domain/monitors/store-results.ts";
import { newId } from "../../../platform/ids.ts";
import { PLAN_LIMITS } from "../../../schemas/plans.ts";
import { checkResults, events, services, sslMonitors } from "../../../schemas/tables/all.ts";
import { freshClickHouse } from "../../../testing/clickhouse.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";
import { startFaultyTls, type FaultyTls } from "../../../testing/faulty-tls.ts";

const UNKNOWN = "5c1f8f6e-1111-4222-8333-444455556666";

let farm: FaultyTls;
let stored: Awaited<ReturnType<typeof freshClickHouse>>;
let plane: TestControlPlane;

beforeAll(async () => {
  farm = await startFaultyTls();
  stored = await freshClickHouse();
  plane = await startTestControlPlane({ clickhouse: stored.clickhouse, settings: { OUTBOUND_ALLOW: "127.0.0.0/8,::1/128", OUTBOUND_CA_FILE: farm.caFile } });
});
afterAll(async () => {
  await plane.stop();
  await stored.drop();
  await farm.stop();
});

const create = (server: keyof FaultyTls["ports"], more: object = {}) => plane.call("POST", "/ssl-monitors", { domain: "localhost", port: farm.ports[server], ...more });
const bring = () => storeResults({ database: plane.database, clickhouse: stored.clickhouse });
const statusOfService = async () => (await plane.call("GET", `/services/${plane.organization.serviceId}`)).body.status;
const told = async (id: string) => (await plane.database.select().from(events).where(eq(events.organizationId, plane.organization.organizationId)).orderBy(events.createdAt)).filter(({ data }) => (data as { id: string }).id === id).map(({ type }) => type);

describe("a monitor", () => {
  it("is created with its first check, read with its history, changed, checked and deleted with all of it", async () => {
    const { status, body } = await create("ten_days", { domain: "LOCALHOST." });
    expect(status).toBe(201);
    const id = body.id as string;
    const certificate = { issuer: "CN=Pharos Test Root, O=Pharos", subject: "CN=localhost, O=Faulty Shop", valid_from: expect.any(String) as string, valid_to: expect.any(String) as string, days_until_expiry: 10, is_valid: true, invalid_reason: null };
    expect(body).toEqual({
      id, domain: "localhost", port: farm.ports.ten_days, alert_days: 30, enabled: true, status: "warning", last_error: null, last_checked_at: expect.any(String) as string,
      certificate, service_id: null, notification_channels: [], created_at: expect.any(String) as string, updated_at: expect.any(String) as string,
    });
    expect(await told(id)).toEqual(["ssl.expiring"]);

    const checked = await plane.call("POST", `/ssl-monitors/${id}`);
    expect(checked).toMatchObject({ status: 200 });
    expect(checked.body).toEqual({ status: "warning", days_until_expiry: 10, valid_to: expect.any(String) as string, issuer: certificate.issuer, subject: certificate.subject, error: null, response_time_ms: expect.any(Number) as number });

    const changed = await plane.call("PATCH", `/ssl-monitors/${id}`, { alert_days: 5, enabled: false });
    expect(changed).toMatchObject({ status: 200, body: { alert_days: 5, enabled: false, status: "ok" } });

    // The one check that is in ClickHouse, and the one on its way there.
    await bring();
    farm.swap("ten_days", "expired");
    expect((await plane.call("POST", `/ssl-monitors/${id}`)).body).toMatchObject({ status: "critical", days_until_expiry: -1, error: expect.stringContaining("expired on") as string });
    farm.swap("ten_days", "ten_days");
    const read = await plane.call("GET", `/ssl-monitors/${id}`);
    expect(read.body.certificate).toMatchObject({ is_valid: false, serial_number: expect.any(String) as string, fingerprint: expect.stringMatching(/^(?:[0-9A-F]{2}:){31}/) as string, san: ["localhost", "127.0.0.1"] });
    const good = { checked_at: expect.any(String) as string, days_until_expiry: 10, is_valid: true, status: "warning", error: null };
    expect(read.body.check_history).toEqual([{ ...good, days_until_expiry: -1, is_valid: false, status: "critical", error: expect.any(String) as string }, good, good]);
    await bring();
    expect((await plane.call("GET", `/ssl-monitors/${id}`)).body.check_history).toEqual(read.body.check_history);
    expect(((await plane.call("GET", "/ssl-monitors?limit=1")).body.ssl_monitors as object[])[0]).toMatchObject({ id, status: "critical" });

    await plane.call("POST", `/ssl-monitors/${id}`);
    expect(await plane.call("DELETE", `/ssl-monitors/${id}`)).toMatchObject({ status: 200, body: { success: true, message: expect.any(String) as string } });
    expect((await plane.call("GET", `/ssl-monitors/${id}`)).status).toBe(404);
    expect(await plane.database.$count(checkResults, eq(checkResults.monitorId, id))).toBe(0);
    expect(await stored.clickhouse.query("SELECT id FROM check_results WHERE monitor_id = {id:UUID}", { id })).toEqual([]);
  });

  it("that is not valid takes its service down, tells so once, and up again once it is good, paused or deleted", async () => {
    const { serviceId } = plane.organization;
    const { body } = await create("expired", { service_id: serviceId });
    const id = body.id as string;
    expect(body).toMatchObject({ status: "critical", service_id: serviceId, certificate: { is_valid: false } });
    expect(await statusOfService()).toBe("major_outage");
    await plane.call("POST", `/ssl-monitors/${id}`);
    farm.swap("expired", "valid");
    await plane.call("POST", `/ssl-monitors/${id}`);
    expect(await statusOfService()).toBe("operational");
    farm.swap("expired", "expired");
    await plane.call("POST", `/ssl-monitors/${id}`);
    expect(await told(id)).toEqual(["monitor.down", "ssl.expiring", "monitor.up", "monitor.down"]);

    await plane.call("PATCH", `/ssl-monitors/${id}`, { service_id: null });
    expect(await statusOfService()).toBe("operational");
    await plane.call("PATCH", `/ssl-monitors/${id}`, { service_id: serviceId });
    expect(await statusOfService()).toBe("major_outage");
    await plane.call("PATCH", `/ssl-monitors/${id}`, { enabled: false });
    expect(await statusOfService()).toBe("operational");
    await plane.call("PATCH", `/ssl-monitors/${id}`, { enabled: true });
    expect(await statusOfService()).toBe("major_outage");
    const [row] = await plane.database.select().from(sslMonitors).where(eq(sslMonitors.id, id));
    expect(row!.dueAt.getTime()).toBeLessThanOrEqual(Date.now());
    await plane.call("DELETE", `/ssl-monitors/${id}`);
    expect(await statusOfService()).toBe("operational");
    expect(await plane.database.select({ status: services.status }).from(services).where(eq(services.id, serviceId))).toEqual([{ status: "operational" }]);
  });

  it("keeps what it knows while its server cannot be reached", async () => {
    const { body } = await create("valid");
    await plane.database.update(sslMonitors).set({ port: farm.ports.refusing }).where(eq(sslMonitors.id, body.id as string));
    const checked = await plane.call("POST", `/ssl-monitors/${body.id as string}`);
    expect(checked.body).toEqual({ status: "error", days_until_expiry: null, valid_to: null, issuer: null, subject: null, error: "Nothing listens at localhost: the connection was refused.", response_time_ms: expect.any(Number) as number });
    expect((await plane.call("GET", `/ssl-monitors/${body.id as string}`)).body).toMatchObject({
      status: "error", last_error: checked.body.error, certificate: { is_valid: true }, check_history: [{ status: "error", days_until_expiry: null, is_valid: null, error: checked.body.error }, { status: "ok", is_valid: true }],
    });
  });
});

describe("refused is", () => {
  it.each([
    ["a URL", { domain: "https://shop.example.com/x" }, 400, "INVALID_REQUEST", "/domain", /Write "shop\.example\.com"/],
    ["a name that does not exist", { domain: "no-such-host.invalid" }, 400, "UNREACHABLE_DOMAIN", "/domain", /./],
    ["an address that is not public", { domain: "10.0.0.1" }, 400, "UNREACHABLE_DOMAIN", "/domain", /OUTBOUND_ALLOW=10\.0\.0\.1\/32/],
    ["a number of days that is none", { domain: "localhost", alert_days: 0 }, 400, "INVALID_REQUEST", "/alert_days", null],
    ["a service of nobody", { domain: "localhost", service_id: UNKNOWN }, 404, "NOT_FOUND", "/service_id", /./],
    ["a channel of nobody", { domain: "localhost", notification_channels: [UNKNOWN] }, 404, "NOT_FOUND", "/notification_channels/0", /./],
    ["an unknown field", { domain: "localhost", name: "Shop" }, 400, "INVALID_REQUEST", "/name", /./],
  ])("%s", async (_, body, status, code, path, fix) => {
    expect(await plane.call("POST", "/ssl-monitors", body)).toMatchObject({ status, body: { code, path, ...(fix && { fix: expect.stringMatching(fix) as string }) } });
  });

  it.each([
    ["refusing", 400, "UNREACHABLE_DOMAIN"],
    ["plain_text", 422, "CERTIFICATE_UNAVAILABLE"],
    ["closing", 422, "CERTIFICATE_UNAVAILABLE"],
  ] as const)("a server that is %s, and nothing is left of it", async (server, status, code) => {
    const before = await plane.database.$count(sslMonitors);
    expect(await create(server)).toMatchObject({ status, body: { code, error: expect.any(String) as string, fix: expect.any(String) as string } });
    expect(await plane.database.$count(sslMonitors)).toBe(before);
  });

  it("deleting while ClickHouse is away, so that no history is left behind", async () => {
    const { body } = await create("valid");
    const away = await startTestControlPlane();
    try {
      const { organizationId } = away.organization;
      const [row] = await plane.database.select().from(sslMonitors).where(eq(sslMonitors.id, body.id as string));
      await away.database.insert(sslMonitors).values({ ...row!, organizationId });
      expect(await away.call("DELETE", `/ssl-monitors/${row!.id}`)).toMatchObject({ status: 503, body: { code: "UNAVAILABLE" } });
      expect(await away.database.$count(sslMonitors)).toBe(1);
    } finally {
      await away.stop();
    }
  });
});

it("lists pages of the caller's own monitors", async () => {
  const other = await plane.createOrganization("free");
  const key = { "x-api-key": other.apiKey };
  expect((await plane.call("GET", "/ssl-monitors", undefined, key)).body).toEqual({ ssl_monitors: [] });
  for (const domain of ["localhost", "127.0.0.1"]) expect((await plane.call("POST", "/ssl-monitors", { domain, port: farm.ports.valid }, key)).status).toBe(201);
  const page = async (query: string) => ((await plane.call("GET", `/ssl-monitors?${query}`, undefined, key)).body.ssl_monitors as { domain: string }[]).map(({ domain }) => domain);
  expect([await page("limit=1"), await page("limit=1&offset=1"), await page("limit=1000")]).toEqual([["127.0.0.1"], ["localhost"], ["127.0.0.1", "localhost"]]);
});

it("are as many as the plan allows, also when several are created at once", async () => {
  const { organizationId, apiKey } = await plane.createOrganization("free");
  const at = new Date();
  const row = { organizationId, domain: "localhost", port: farm.ports.valid, alertDays: 30, dueAt: at, createdAt: at, updatedAt: at };
  await plane.database.insert(sslMonitors).values(Array.from({ length: PLAN_LIMITS.monitors.free - 1 }, () => ({ id: newId(), ...row })));
  const answers = await Promise.all([1, 2, 3].map(() => plane.call("POST", "/ssl-monitors", { domain: "localhost", port: farm.ports.valid }, { "x-api-key": apiKey })));
  expect(answers.map(({ status, body }) => body.code ?? status).toSorted()).toEqual([201, "PLAN_LIMIT", "PLAN_LIMIT"]);
  expect(await plane.database.$count(sslMonitors, eq(sslMonitors.organizationId, organizationId))).toBe(PLAN_LIMITS.monitors.free);
});
