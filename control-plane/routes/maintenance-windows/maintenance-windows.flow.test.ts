import { asc, eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CreatedOrganization } from "../../../domain/organizations/create.ts";
import { auditEntries, events } from "../../../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";

const PATH = "/maintenance-windows";
const UNKNOWN_ID = "5c1f8f6e-1111-4222-8333-444455556666";
const TIMES = { starts_at: "2026-05-04T22:00:00+02:00", ends_at: "2026-05-04T21:30:00Z" };

let plane: TestControlPlane;
let other: CreatedOrganization;
beforeAll(async () => {
  plane = await startTestControlPlane();
  other = await plane.createOrganization("team");
});
afterAll(() => plane.stop());

const create = (body: object = {}) => plane.call("POST", PATH, { title: "Upgrade", ...TIMES, ...body });
const patch = (id: unknown, body: object) => plane.call("PATCH", `${PATH}/${String(id)}`, body);
const makeService = async (name: string) => (await plane.call("POST", "/services", { name })).body.id as string;
const statusOf = async (id: string) => (await plane.call("GET", `/services/${id}`)).body;
const auditOf = (id: unknown) => plane.database.select().from(auditEntries).where(eq(auditEntries.resourceId, String(id))).orderBy(asc(auditEntries.createdAt));

async function toldOf(id: unknown) {
  const rows = await plane.database.select().from(events).where(eq(events.organizationId, plane.organization.organizationId)).orderBy(asc(events.createdAt));
  return rows.filter(({ data }) => data.id === id).map(({ type, data }) => ({ type, data }));
}

describe("a maintenance window (happy)", () => {
  it("holds its services in maintenance while it is in progress, and tells of each step once", async () => {
    const [checkout, search] = [await makeService("Checkout"), await makeService("Search")];
    const created = await create({ description: "New disks.", services: ["Checkout", search.toUpperCase()], rrule: "rrule:freq=weekly", notify_before_minutes: 60 });
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect(created.body).toEqual({
      id: expect.any(String) as string, title: "Upgrade", description: "New disks.", status: "scheduled", starts_at: "2026-05-04T20:00:00.000Z", ends_at: "2026-05-04T21:30:00.000Z", rrule: "FREQ=WEEKLY",
      services: [{ id: checkout, name: "Checkout" }, { id: search, name: "Search" }], auto_start: true, auto_complete: true, notify_before_minutes: 60,
      created_at: expect.any(String) as string, updated_at: expect.any(String) as string, updates: [], updates_total: 0,
    });
    expect(await statusOf(checkout)).toMatchObject({ status: "operational" });

    const started = await plane.call("POST", `${PATH}/${String(id)}/updates`, { message: "It begins.", status: "in_progress" });
    expect(started.status).toBe(201);
    expect(started.body).toMatchObject({ status: "in_progress", updates: [{ status: "in_progress", message: "It begins." }] });
    expect(await statusOf(checkout)).toMatchObject({ status: "maintenance", status_source: "maintenance" });

    expect((await patch(id, { services: ["Search"], status: "in_progress" })).body.services).toEqual([{ id: search, name: "Search" }]);
    expect(await statusOf(checkout)).toMatchObject({ status: "operational" });
    expect((await patch(id, { status: "completed" })).body).toMatchObject({ status: "completed" });
    expect(await statusOf(search)).toMatchObject({ status: "operational", status_source: "manual" });

    const data = { id, title: "Upgrade", description: "New disks.", starts_at: "2026-05-04T20:00:00.000Z", ends_at: "2026-05-04T21:30:00.000Z" };
    const told = await toldOf(id);
    expect(told.map(({ type }) => type)).toEqual(["maintenance.scheduled", "maintenance.started", "maintenance.completed"]);
    expect(told[1]!.data).toEqual({ ...data, status: "in_progress", services: ["Checkout", "Search"], message: "It begins." });
    expect((await auditOf(id)).map(({ action, changedFields }) => [action, changedFields.length > 3 ? "all" : changedFields])).toEqual([
      ["maintenance_window.created", "all"],
      ["maintenance_window.update_added", ["message", "status"]],
      ["maintenance_window.updated", ["services"]],
      ["maintenance_window.updated", ["status"]],
    ]);
  });

  it("that ends leaves a service in maintenance that another one still holds", async () => {
    const service = await makeService("Shared");
    const [{ body: first }, { body: second }] = [await create({ services: [service] }), await create({ services: [service] })];
    for (const { id } of [first, second]) await patch(id, { status: "in_progress" });
    await patch(first.id, { status: "cancelled" });
    expect(await statusOf(service)).toMatchObject({ status: "maintenance" });
    expect((await plane.call("DELETE", `${PATH}/${String(second.id)}`)).body).toEqual({ success: true });
    expect(await statusOf(service)).toMatchObject({ status: "operational" });
    expect((await toldOf(first.id)).map(({ type }) => type)).toEqual(["maintenance.scheduled", "maintenance.started"]);
  });

  it("is listed by when it starts, filtered and paged", async () => {
    const starts = ["2031-01-01T00:00:00.000Z", "2033-01-01T00:00:00.000Z", "2032-01-01T00:00:00.000Z"];
    const ids: unknown[] = [];
    for (const starts_at of starts) ids.push((await create({ starts_at, ends_at: "2040-01-01T00:00:00Z" })).body.id);
    await patch(ids[2], { status: "cancelled" });
    const list = async (query: string) => ((await plane.call("GET", `${PATH}?${query}`)).body.maintenance_windows as { id: string }[]).map(({ id }) => id);
    expect(await list("limit=3")).toEqual([ids[1], ids[2], ids[0]]);
    expect(await list("limit=1&offset=1")).toEqual([ids[2]]);
    expect(await list("status=scheduled&limit=2")).toEqual([ids[1], ids[0]]);
    expect((await plane.call("GET", `${PATH}?status=planned`)).body).toMatchObject({ code: "INVALID_REQUEST", path: "/status" });
  });

  it("keeps what a change leaves out, and can lose its rule", async () => {
    const { body } = await create({ rrule: "FREQ=DAILY", notify_before_minutes: 5 });
    const { body: changed } = await patch(body.id, { rrule: null, title: "Later", ends_at: "2026-05-05T00:00:00Z", auto_start: false });
    expect(changed).toEqual({ ...body, rrule: null, title: "Later", ends_at: "2026-05-05T00:00:00.000Z", auto_start: false, updated_at: expect.any(String) as string });
    expect((await plane.call("GET", `${PATH}/${String(body.id)}`)).body).toEqual(changed);
  });
});

describe("a maintenance window (error)", () => {
  it.each([
    { name: "an end before its start", body: { ends_at: "2026-05-04T19:00:00Z" }, path: "/ends_at" },
    { name: "an end at its start", body: { ends_at: "2026-05-04T20:00:00Z" }, path: "/ends_at" },
    { name: "a start that is no time", body: { starts_at: "tonight" }, path: "/starts_at" },
    { name: "a year that no store can hold", body: { ends_at: "9999-12-31T23:59:59-12:00" }, path: "/ends_at" },
    { name: "a rule that is none", body: { rrule: "every day" }, path: "/rrule" },
    { name: "an unknown service", body: { services: ["Website", "Nowhere"] }, path: "/services/1" },
    { name: "a status", body: { status: "in_progress" }, path: "/status" },
    { name: "a notice in the past", body: { notify_before_minutes: -5 }, path: "/notify_before_minutes" },
  ])("is refused with the place: $name", async ({ body, path }) => {
    expect((await create(body)).body).toMatchObject({ code: "INVALID_REQUEST", path });
  });

  it("cannot be changed to end before it starts", async () => {
    const { body } = await create();
    expect((await patch(body.id, { starts_at: "2026-05-06T00:00:00Z" })).body).toMatchObject({ code: "INVALID_REQUEST", path: "/starts_at" });
  });

  it.each([
    { to: ["completed"], from: "scheduled" },
    { to: ["in_progress", "scheduled"], from: "in_progress" },
    { to: ["in_progress", "completed", "in_progress"], from: "completed" },
    { to: ["cancelled", "in_progress"], from: "cancelled" },
  ])("cannot leave $from for a status that does not follow", async ({ to }) => {
    const { body } = await create();
    for (const status of to.slice(0, -1)) expect((await patch(body.id, { status })).status).toBe(200);
    const refused = await plane.call("POST", `${PATH}/${String(body.id)}/updates`, { message: "x", status: to.at(-1) });
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ code: "CONFLICT", path: "/status" });
    expect((await plane.call("GET", `${PATH}/${String(body.id)}`)).body.updates).toEqual([]);
  });
});

describe("a maintenance window (security)", () => {
  it("that is started many times at once starts once, and keeps every update", async () => {
    const { body } = await create({ services: [await makeService("Raced")] });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => plane.call("POST", `${PATH}/${String(body.id)}/updates`, { message: `update ${n}`, status: "in_progress" })));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect((await plane.call("GET", `${PATH}/${String(body.id)}`)).body.updates).toHaveLength(8);
    expect((await toldOf(body.id)).map(({ type }) => type)).toEqual(["maintenance.scheduled", "maintenance.started"]);
  });

  it("of another organization is one that does not exist, and so are its services", async () => {
    const { body } = await create();
    const asks = [["GET", "", undefined], ["PATCH", "", { title: "mine" }], ["DELETE", "", undefined], ["POST", "/updates", { message: "mine" }]] as const;
    for (const [method, path, given] of asks) {
      const ask = (id: string) => plane.call(method, `${PATH}/${id}${path}`, given, { "x-api-key": other.apiKey, "x-request-id": "same" });
      const [foreign, unknown, malformed] = await Promise.all([ask(body.id as string), ask(UNKNOWN_ID), ask("nonsense")]);
      expect(foreign.status).toBe(404);
      expect(foreign.body).toEqual(unknown.body);
      expect(foreign.body).toEqual(malformed.body);
    }
    expect((await create({ services: [other.serviceId] })).body).toMatchObject({ code: "INVALID_REQUEST", path: "/services/0" });
    expect((await patch(body.id, { services: [other.serviceId] })).body).toMatchObject({ code: "INVALID_REQUEST", path: "/services/0" });
  });
});
