import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { storeResults } from "../../../domain/monitors/store-results.ts";
import { recordUptimeCheck } from "../../../domain/monitors/uptime/record.ts";
import { newId } from "../../../platform/ids.ts";
import { auditEntries, checkResults, events, incidents, services, uptimeMonitors } from "../../../schemas/tables/all.ts";
import { makeCertificate, type Certificate } from "../../../testing/certificate.ts";
import { freshClickHouse } from "../../../testing/clickhouse.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";
import { startFaultyHttp, type FaultyHttp } from "../../../testing/faulty-http.ts";

const HOUR_MS = 3_600_000;

let certificate: Certificate;
let farm: FaultyHttp;
let stored: Awaited<ReturnType<typeof freshClickHouse>>;
let plane: TestControlPlane;
let organization: TestControlPlane["organization"];

beforeAll(async () => {
  certificate = makeCertificate();
  [farm, stored] = await Promise.all([startFaultyHttp(certificate), freshClickHouse()]);
  plane = await startTestControlPlane({ clickhouse: stored.clickhouse, settings: { OUTBOUND_ALLOW: "127.0.0.1" } });
});
afterAll(async () => {
  await plane.stop();
  await Promise.all([farm.stop(), stored.drop()]);
  certificate.remove();
});
beforeEach(async () => {
  organization = await plane.createOrganization("pro");
});

const call = (method: Parameters<TestControlPlane["call"]>[0], path: string, body?: unknown) => plane.call(method, `/uptime-monitors${path}`, body, { "x-api-key": organization.apiKey });

async function create(body: Record<string, unknown> = {}): Promise<string> {
  const answer = await call("POST", "", { name: "Shop", url: `${farm.http}/ok`, ...body });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body.id as string;
}

const rowOf = async (id: string) => (await plane.database.select().from(uptimeMonitors).where(eq(uptimeMonitors.id, id)))[0]!;
const serviceStatus = async () => (await plane.database.select().from(services).where(eq(services.id, organization.serviceId)))[0]!.status;
const eventsOf = async () => (await plane.database.select().from(events).where(eq(events.organizationId, organization.organizationId)).orderBy(events.createdAt)).map(({ type }) => type);

/** A check, as a scheduler records it. */
async function record(id: string, at: Date, result: { error?: string; responseTimeMs?: number } = {}): Promise<void> {
  const token = newId();
  await plane.database.update(uptimeMonitors).set({ leaseToken: token }).where(eq(uptimeMonitors.id, id));
  const found = { error: null, statusCode: 200, responseTimeMs: 10, dnsMs: 1, connectMs: 2, tlsMs: null, firstByteMs: 5, ...result };
  expect(await recordUptimeCheck(plane.database, id, { token, result: found, at })).not.toBeNull();
}

describe("a monitor", () => {
  it("has defaults, and is shown alike wherever it is", async () => {
    const { status, body } = await call("POST", "", { name: "Shop", url: `${farm.http}/ok` });
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        id: expect.any(String) as string, name: "Shop", url: `${farm.http}/ok`, interval_seconds: 60, enabled: true, status: "pending", last_checked_at: null, service_id: null,
        method: "GET", headers: {}, body: null, timeout_ms: 10_000, expected_status_codes: [], required_keyword: null, follow_redirects: true, verify_ssl: true,
        failures_to_down: 2, successes_to_up: 1, degraded_after_ms: null, create_incident: false, notification_channels: [],
        last_response_time_ms: null, last_status_code: null, last_error: null, created_at: expect.any(String) as string, updated_at: expect.any(String) as string,
      },
    });
    expect((await call("GET", `/${body.id as string}`)).body).toEqual(body);
    expect((await call("GET", "")).body).toEqual({ monitors: [body] });
    expect(await plane.database.select().from(auditEntries).where(eq(auditEntries.resourceId, body.id as string))).toMatchObject([{ action: "uptime_monitor.created" }]);
  });

  it("shows neither its headers' values nor its body, keeps what is sent back masked, and sends it to no other origin", async () => {
    const id = await create({ method: "POST", headers: { Authorization: "Bearer very-private", "X-Empty": "" }, body: "password=very-private" });
    const hidden = { headers: { Authorization: "[masked]", "X-Empty": "" }, body: "[masked]" };
    const answers = [await call("GET", `/${id}`), await call("GET", ""), await call("PATCH", `/${id}`, { name: "Till", ...hidden })];
    expect(answers[0]!.body).toMatchObject(hidden);
    expect(await rowOf(id)).toMatchObject({ headers: { Authorization: "Bearer very-private" }, body: "password=very-private" });
    const elsewhere = { url: "https://collector.example.com/" };
    expect((await call("PATCH", `/${id}`, elsewhere)).body).toMatchObject({ code: "INVALID_REQUEST", path: "/headers/Authorization" });
    expect((await call("PATCH", `/${id}`, { ...elsewhere, headers: {} })).body).toMatchObject({ code: "INVALID_REQUEST", path: "/body" });
    expect((await call("PATCH", `/${id}`, { ...elsewhere, headers: {}, body: null })).body).toMatchObject({ headers: {}, body: null });
    await call("DELETE", `/${id}`);
    const audited = await plane.database.select().from(auditEntries).where(eq(auditEntries.resourceId, id));
    expect(audited.find(({ changedFields, action }) => action === "uptime_monitor.updated" && changedFields.includes("url"))!.changedFields).toEqual(["body", "headers", "url"]);
    expect(JSON.stringify([answers, audited])).not.toContain("very-private");
    expect((await call("POST", "", { name: "x", url: "https://example.com/", headers: { Authorization: "[masked]" } })).body).toMatchObject({ path: "/headers/Authorization" });
  });

  it("is changed, keeping what is not named, and looked at anew when it looks elsewhere", async () => {
    const id = await create({ headers: { "X-A": "1" } });
    const due = new Date("2030-01-01T00:00:00Z");
    await plane.database.update(uptimeMonitors).set({ dueAt: due, leaseToken: newId() }).where(eq(uptimeMonitors.id, id));
    expect((await call("PATCH", `/${id}`, { name: "Till", degraded_after_ms: 500, service_id: organization.serviceId })).body).toMatchObject({ name: "Till", degraded_after_ms: 500, headers: { "X-A": "[masked]" } });
    expect((await rowOf(id)).headers).toEqual({ "X-A": "1" });
    await call("PATCH", `/${id}`, { interval_seconds: 30 });
    expect(await rowOf(id)).toMatchObject({ dueAt: due, leaseToken: expect.any(String) as string });
    await plane.database.update(uptimeMonitors).set({ leaseToken: null }).where(eq(uptimeMonitors.id, id));
    await call("PATCH", `/${id}`, { interval_seconds: 40 });
    expect((await rowOf(id)).dueAt.getTime()).toBeLessThanOrEqual(Date.now() + 40_000);
    await plane.database.update(uptimeMonitors).set({ leaseToken: newId() }).where(eq(uptimeMonitors.id, id));
    expect((await call("PATCH", `/${id}`, { url: `${farm.http}/keyword`, degraded_after_ms: null, service_id: null })).body).toMatchObject({ url: `${farm.http}/keyword`, degraded_after_ms: null, service_id: null });
    const row = await rowOf(id);
    expect(row.leaseToken).toBeNull();
    expect(row.dueAt.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it("takes channels of the organization alone", async () => {
    const channel = (await plane.call("POST", "/notifications/channels", { type: "webhook", name: "Hook", config: { url: "https://hooks.example.com/x" } }, { "x-api-key": organization.apiKey })).body.id as string;
    expect((await rowOf(await create({ notification_channels: [channel, channel] }))).notificationChannels).toEqual([channel]);
    const foreign = await plane.call("POST", "/uptime-monitors", { name: "Shop", url: `${farm.http}/ok`, notification_channels: [channel] });
    expect(foreign).toMatchObject({ status: 404, body: { path: "/notification_channels/0" } });
  });

  it("is deleted with its results, and takes its opinion back", async () => {
    const [id, other] = [await create({ service_id: organization.serviceId, failures_to_down: 1 }), await create()];
    const at = new Date(Date.now() - 1_000);
    await record(id, at, { error: "Gone." });
    await storeResults({ database: plane.database, clickhouse: stored.clickhouse });
    await record(id, at, { error: "Gone." });
    await record(other, at);
    expect(await serviceStatus()).toBe("major_outage");
    expect((await call("DELETE", `/${id}`)).body).toEqual({ success: true, message: "The uptime monitor was deleted." });
    expect(await serviceStatus()).toBe("operational");
    expect(await call("GET", `/${id}`)).toMatchObject({ status: 404 });
    expect(await stored.clickhouse.query(`SELECT id FROM check_results WHERE monitor_id = {id:UUID}`, { id })).toEqual([]);
    expect((await plane.database.select().from(checkResults)).map(({ monitorId }) => monitorId)).toEqual([other]);
  });

  test.each<[Record<string, unknown>, string, string]>([
    [{ url: "ftp://example.com/" }, "INVALID_REQUEST", "/url"],
    [{ url: "https://user:secret@example.com/" }, "INVALID_REQUEST", "/url"],
    [{ url: "http://169.254.169.254/latest/meta-data" }, "INVALID_REQUEST", "/url"],
    [{ method: "CONNECT" }, "INVALID_REQUEST", "/method"],
    [{ headers: { Host: "other.example.com" } }, "INVALID_REQUEST", "/headers/Host"],
    [{ headers: { "X-A": "1", "x-a": "2" } }, "INVALID_REQUEST", "/headers"],
    [{ interval_seconds: 29 }, "INVALID_REQUEST", "/interval_seconds"],
    [{ interval_seconds: 86_401 }, "INVALID_REQUEST", "/interval_seconds"],
    [{ timeout_ms: 30_001 }, "INVALID_REQUEST", "/timeout_ms"],
    [{ expected_status_codes: [600] }, "INVALID_REQUEST", "/expected_status_codes/0"],
    [{ failures_to_down: 0 }, "INVALID_REQUEST", "/failures_to_down"],
    [{ nonsense: 1 }, "INVALID_REQUEST", "/nonsense"],
    [{ service_id: "5c1f8f6e-1111-4222-8333-444455556666" }, "NOT_FOUND", "/service_id"],
    [{ notification_channels: ["nonsense"] }, "NOT_FOUND", "/notification_channels/0"],
  ])("is refused with %j as %s", async (body, code, path) => {
    expect((await call("POST", "", { name: "Shop", url: "https://www.example.com/", ...body })).body).toMatchObject({ code, path });
  });
});

describe("check now", () => {
  it("answers with what it found, and counts", async () => {
    const id = await create();
    const { status, body } = await call("POST", `/${id}`);
    expect({ status, body }).toEqual({ status: 200, body: { status: "up", response_time_ms: expect.any(Number) as number, status_code: 200, error: null, checked_at: expect.any(String) as string } });
    expect((await call("GET", `/${id}`)).body).toMatchObject({ status: "up", last_checked_at: body.checked_at, last_status_code: 200, last_error: null });
    expect(await rowOf(id)).toMatchObject({ leaseToken: null });
    expect((await rowOf(id)).dueAt.getTime()).toBeGreaterThan(Date.now());
  });

  it("tells why it failed, and takes two failures to call a monitor down", async () => {
    const id = await create({ url: `${farm.http}/status/500` });
    const error = "127.0.0.1 answered 500, not 200 to 299.";
    expect((await call("POST", `/${id}`)).body).toMatchObject({ status: "down", status_code: 500, error });
    expect((await call("GET", `/${id}`)).body).toMatchObject({ status: "pending", last_error: error });
    await call("POST", `/${id}`);
    expect((await call("GET", `/${id}`)).body).toMatchObject({ status: "down" });
    expect(await eventsOf()).toEqual(["monitor.down"]);
  });

  it("checks a paused monitor, which stays so", async () => {
    const id = await create({ enabled: false });
    expect((await call("POST", `/${id}`)).body).toMatchObject({ status: "up" });
    expect((await call("GET", `/${id}`)).body).toMatchObject({ status: "paused", last_status_code: 200 });
  });

  it("never runs beside another check of the monitor", async () => {
    const id = await create({ url: `${farm.http}/slow/500?${newId()}` });
    const answers = await Promise.all([call("POST", `/${id}`), call("POST", `/${id}`), call("POST", `/${id}`)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    expect(farm.asked((await rowOf(id)).url.slice(farm.http.length))).toBe(1);
  });

  it("does not count when the monitor is changed meanwhile", async () => {
    const id = await create({ url: `${farm.http}/slow/500` });
    const checking = call("POST", `/${id}`);
    await expect.poll(async () => (await rowOf(id)).leaseToken).not.toBeNull();
    await call("PATCH", `/${id}`, { url: `${farm.http}/ok` });
    expect(await checking).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
    expect(await rowOf(id)).toMatchObject({ status: "pending", lastCheckedAt: null });
  });
});

describe("what checks find", () => {
  it("moves the service, and tells of down and up once each", async () => {
    const id = await create({ service_id: organization.serviceId, degraded_after_ms: 100, successes_to_up: 2 });
    let at = Date.now();
    const next = async (result: Parameters<typeof record>[2]) => record(id, new Date((at += 1_000)), result);
    const seen: string[] = [];
    for (const result of [{}, { error: "A" }, { error: "B" }, { error: "C" }, {}, {}, { responseTimeMs: 200 }, { responseTimeMs: 200 }, {}, {}]) {
      await next(result);
      seen.push(`${(await rowOf(id)).status} ${await serviceStatus()}`);
    }
    expect(seen).toEqual(["up operational", "up operational", "down major_outage", "down major_outage", "down major_outage", "up operational", "up operational", "degraded degraded", "degraded degraded", "up operational"]);
    const told = await eventsOf();
    expect(told.filter((type) => type.startsWith("monitor."))).toEqual(["monitor.down", "monitor.up"]);
    const [down] = await plane.database.select().from(events).where(eq(events.type, "monitor.down")).orderBy(events.id).then((all) => all.filter(({ organizationId }) => organizationId === organization.organizationId));
    expect(down!.data).toEqual({ id, name: "Shop", url: `${farm.http}/ok`, error: "B" });
  });

  it("opens an incident and resolves it, if that is asked for", async () => {
    const id = await create({ service_id: organization.serviceId, create_incident: true, failures_to_down: 1 });
    const incidentsOf = () => plane.database.select().from(incidents).where(eq(incidents.organizationId, organization.organizationId)).orderBy(incidents.createdAt);
    await record(id, new Date(), { error: "Gone." });
    expect(await incidentsOf()).toMatchObject([{ title: "Shop is down", status: "investigating", severity: "critical" }]);
    await record(id, new Date(), { error: "Gone." });
    expect(await incidentsOf()).toHaveLength(1);
    await record(id, new Date());
    expect(await incidentsOf()).toMatchObject([{ status: "resolved" }]);
    expect((await rowOf(id)).incidentId).toBeNull();
    expect(await serviceStatus()).toBe("operational");
    // One that people resolved or deleted meanwhile is theirs.
    await record(id, new Date(), { error: "Gone again." });
    const [, second] = await incidentsOf();
    await plane.call("DELETE", `/incidents/${second!.id}`, undefined, { "x-api-key": organization.apiKey });
    await record(id, new Date());
    expect((await rowOf(id)).status).toBe("up");
  });

  it("is forgotten by pausing", async () => {
    const id = await create({ service_id: organization.serviceId, failures_to_down: 1 });
    await record(id, new Date(), { error: "Gone." });
    expect((await call("PATCH", `/${id}`, { enabled: false })).body).toMatchObject({ status: "paused", enabled: false });
    expect(await serviceStatus()).toBe("operational");
    expect((await call("PATCH", `/${id}`, { enabled: true })).body).toMatchObject({ status: "pending", enabled: true });
  });

  it("can be read by check and by hour, from ClickHouse, once each", async () => {
    const id = await create({ degraded_after_ms: 100 });
    // Within the 30 days that results are kept.
    const hour = Math.floor(Date.now() / HOUR_MS - 5) * HOUR_MS;
    const at = (hours: number) => new Date(hour + hours * HOUR_MS).toISOString();
    const times = Array.from({ length: 100 }, (_, n) => n + 1);
    for (const n of times) await record(id, new Date(hour + n * 1_000), { responseTimeMs: n, ...(n > 98 && { error: "Gone." }) });
    await record(id, new Date(hour + HOUR_MS), { responseTimeMs: 150 });
    while (await storeResults({ database: plane.database, clickhouse: stored.clickhouse }));
    expect(await plane.database.$count(checkResults, eq(checkResults.monitorId, id))).toBe(0);
    const { body } = await call("GET", `/${id}/results?from=${at(-1)}&to=${at(3)}`);
    const results = body.results as Record<string, unknown>[];
    expect(results).toHaveLength(101);
    expect(results[0]).toEqual({ checked_at: at(1), status: "degraded", status_code: 200, error: null, response_time_ms: 150, dns_ms: 1, connect_ms: 2, tls_ms: null, first_byte_ms: 5 });
    expect(results[1]).toMatchObject({ status: "down", error: "Gone." });
    expect(body.hours).toEqual([
      { hour: at(0), checks: 100, uptime_percent: 98, p50_ms: 50, p95_ms: 94, p99_ms: 98 },
      { hour: at(1), checks: 1, uptime_percent: 100, p50_ms: 150, p95_ms: 150, p99_ms: 150 },
    ]);
    expect(body.uptime_percent).toBe(98.02);
    expect((await call("GET", `/${id}/results?from=${at(1)}&to=${at(3)}`)).body).toMatchObject({ hours: [{ checks: 1 }] });
    expect((await call("GET", `/${id}/results`)).body).toMatchObject({ hours: [{ checks: 100 }, { checks: 1 }] });
    expect((await call("GET", `/${id}/results?to=${at(0)}`)).body).toEqual({ results: [], hours: [], uptime_percent: null });
    expect(await call("GET", `/${id}/results?from=${at(1)}&to=${at(0)}`)).toMatchObject({ status: 400, body: { path: "/from" } });
  });
});
