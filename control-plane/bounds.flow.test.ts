import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { CreatedOrganization } from "../domain/organizations/create.ts";
import { openIncidentIn } from "../domain/incidents/open.ts";
import { systemActor } from "../domain/actor.ts";
import { inTransaction } from "../platform/postgres/database.ts";
import { CHANGES_PER_DAY, DESIGN_VERSIONS_KEPT, INCIDENTS_PER_DAY, UPDATES_OF_ONE } from "../schemas/plans.ts";
import { designVersions, incidents } from "../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../testing/control-plane.ts";
import { route } from "./route.ts";
import { ALL_ROUTES } from "./routes/all.ts";

const change = route({
  method: "POST",
  path: "/change",
  scope: "services:write",
  tag: "Test",
  summary: "Change something",
  body: z.looseObject({}),
  response: z.object({ success: z.literal(true) }),
  handle: async () => ({ success: true as const }),
});

let plane: TestControlPlane;
let free: CreatedOrganization;
let as: { "x-api-key": string };
beforeAll(async () => {
  plane = await startTestControlPlane({ routes: [...ALL_ROUTES, change] });
  free = await plane.createOrganization("free");
  as = { "x-api-key": free.apiKey };
});
afterAll(() => plane.stop());

describe("incidents", () => {
  it("are opened so many within 24 hours, and by a monitor at any time", async () => {
    await plane.database.execute(sql`
      insert into incidents (id, organization_id, title, status, severity, started_at, created_at, updated_at)
      select gen_random_uuid(), ${free.organizationId}, 'n', 'resolved', 'minor', now(), now(), now() from generate_series(1, ${INCIDENTS_PER_DAY.free}::int)`);
    const open = () => plane.call("POST", "/incidents", { title: "One more", message: "m" }, as);
    expect(await open()).toMatchObject({ status: 429, headers: { "retry-after": "3600" }, body: { code: "RATE_LIMITED", error: "This organization opened 1,000 incidents within 24 hours, the most that the free plan allows." } });
    const opened = await inTransaction(plane.database, (tx) => openIncidentIn(tx, systemActor(free.organizationId, "monitor"), { title: "Down", serviceIds: [], openedBy: "monitor:1", at: new Date() }));
    expect(opened).toMatchObject({ title: "Down" });
    expect((await plane.call("POST", "/incidents", { title: "Another's", message: "m" })).status).toBe(201);
    await plane.database.update(incidents).set({ createdAt: sql`now() - interval '25 hours'` }).where(eq(incidents.organizationId, free.organizationId));
    expect((await open()).status).toBe(201);
  });

  it("are counted anew before the bound, however many were granted at once", async () => {
    const { organizationId, apiKey } = await plane.createOrganization("free");
    await plane.database.execute(sql`
      insert into incidents (id, organization_id, title, status, severity, started_at, created_at, updated_at)
      select gen_random_uuid(), ${organizationId}, 'n', 'resolved', 'minor', now(), now(), now() from generate_series(1, ${INCIDENTS_PER_DAY.free - 20}::int)`);
    const statuses: number[] = [];
    for (let n = 0; n < 22; n++) statuses.push((await plane.call("POST", "/incidents", { title: `${n}`, message: "m" }, { "x-api-key": apiKey })).status);
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 201), 429, 429]);
  });

  it.each([
    { path: "/incidents", what: "incident", body: { title: "Long", message: "m" }, table: "incident_updates", column: "incident_id", status: "monitoring", next: "resolved" },
    { path: "/maintenance-windows", what: "maintenance window", body: { title: "Long", starts_at: "2999-01-01T00:00:00Z", ends_at: "2999-01-01T01:00:00Z" }, table: "maintenance_updates", column: "maintenance_window_id", status: "scheduled", next: "cancelled" },
  ])("and maintenance have so many updates: $path", async ({ path, what, body, table, column, status, next }) => {
    const { id } = (await plane.call("POST", path, body)).body as { id: string };
    await plane.database.execute(sql`
      insert into ${sql.identifier(table)} (id, organization_id, ${sql.identifier(column)}, status, message, created_at)
      select gen_random_uuid(), ${plane.organization.organizationId}, ${id}, ${sql.raw(`'${status}'`)}, 'm', now() from generate_series(1, ${UPDATES_OF_ONE}::int)`);
    expect(await plane.call("POST", `${path}/${id}/updates`, { message: "More" })).toMatchObject({ status: 403, body: { code: "PLAN_LIMIT", error: `The ${what} has 1,000 updates, the most that one can have.` } });
    expect((await plane.call("PATCH", `${path}/${id}`, { status: next })).body).toMatchObject({ status: next });
  });
});

it("of a page's designs the newest are kept, and the published one", async () => {
  const { pageId, organizationId } = plane.organization;
  const save = async () => (await plane.call("PUT", `/status-pages/${pageId}/design/draft`, { summary: "Next" })).body.draft_version as { id: string };
  const publish = async () => plane.call("POST", `/status-pages/${pageId}/design/publish`, { expected_draft_version_id: (await save()).id });
  expect((await publish()).status).toBe(200);
  await plane.database.execute(sql`
    insert into design_versions (id, organization_id, status_page_id, version_number, state, theme_tokens, layout, template_mode, created_by, created_at)
    select gen_random_uuid(), ${organizationId}, ${pageId}, n, 'archived', '{}', '{}', 'default', 'test', now() from generate_series(2, ${DESIGN_VERSIONS_KEPT + 50}::int) as n`);
  await save();
  const numbers = (await plane.database.select({ number: designVersions.versionNumber }).from(designVersions).where(eq(designVersions.statusPageId, pageId))).map(({ number }) => number).toSorted((a, b) => a - b);
  expect([numbers[0], numbers[1], numbers.at(-1), numbers.length]).toEqual([1, 52, DESIGN_VERSIONS_KEPT + 51, DESIGN_VERSIONS_KEPT + 1]);
});

it("changes are taken so many on a day, large ones as several, and reading goes on", async () => {
  const large = { text: "x".repeat(1_000_000) };
  const cost = 1 + Math.floor(JSON.stringify(large).length / 16_384);
  for (let sent = 0; sent < CHANGES_PER_DAY.free; sent += cost) expect((await plane.call("POST", "/change", large, as)).status).toBe(200);
  const refused = await plane.call("POST", "/services", { name: "More" }, as);
  expect(refused).toMatchObject({ status: 429, body: { code: "RATE_LIMITED", error: "This organization sent the 10,000 changes that the free plan allows on a day." } });
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect((await plane.call("GET", "/services", undefined, as)).status).toBe(200);
  expect((await plane.call("POST", "/change", {})).status).toBe(200);
});

it.each([
  ["is not valid", JSON.stringify({ name: 1, description: "x".repeat(1_000_000) }), 400],
  ["is no JSON", "x".repeat(1_000_000), 400],
])("a body that %s counts like one that is taken", async (_, payload, status) => {
  const { apiKey } = await plane.createOrganization("free");
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  const send = () => plane.app.inject({ method: "POST", url: "/api/v1/services", headers, payload });
  const cost = 1 + Math.floor(payload.length / 16_384);
  for (let spent = 0; spent < CHANGES_PER_DAY.free; spent += cost) expect((await send()).statusCode).toBe(status);
  expect((await send()).statusCode).toBe(429);
});

it("what is kept for an Idempotency-Key counts by its bytes", async () => {
  const { apiKey, organizationId } = await plane.createOrganization("free");
  const headers = { "x-api-key": apiKey };
  const { id } = (await plane.call("POST", "/incidents", { title: "Long" }, headers)).body as { id: string };
  await plane.database.execute(sql`
    insert into incident_updates (id, organization_id, incident_id, status, message, created_at)
    select gen_random_uuid(), ${organizationId}, ${id}, 'monitoring', repeat('m', 9000), now() from generate_series(1, 20)`);
  const large = { text: "x".repeat(1_000_000) };
  // Leaves some 18 changes; each of these is kept with more than 80 KiB.
  for (let sent = 0; sent < 161; sent++) await plane.call("POST", "/change", large, headers);
  let taken = 0;
  while ((await plane.call("POST", `/incidents/${id}/updates`, { message: "More" }, { ...headers, "idempotency-key": String(taken) })).status === 201) taken += 1;
  expect(taken).toBe(3);
});
