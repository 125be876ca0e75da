// A condition's `then` is a list of steps, never a function.
/* oxlint-disable unicorn/no-thenable */
import { asc, eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CreatedOrganization } from "../../../domain/organizations/create.ts";
import { auditEntries, mails, organizations, workflows } from "../../../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";

const UNKNOWN_ID = "5c1f8f6e-1111-4222-8333-444455556666";
const WAIT = { type: "wait", seconds: 1 };

let plane: TestControlPlane;
let other: CreatedOrganization;
let channelId: string;
beforeAll(async () => {
  plane = await startTestControlPlane();
  other = await plane.createOrganization("team");
  channelId = (await plane.call("POST", "/notifications/channels", { name: "Ops", type: "sms", config: { phone_number: "+4915112345678" } })).body.id as string;
});
afterAll(() => plane.stop());

const create = (body: object = {}) => plane.call("POST", "/workflows", { name: "Deploy", steps: [WAIT], ...body });
const auditOf = (id: unknown) => plane.database.select().from(auditEntries).where(eq(auditEntries.resourceId, String(id))).orderBy(asc(auditEntries.createdAt));

const everyStep = () => [
  { type: "http_request", name: "ask", method: "POST", url: "https://ci.example.com/{{inputs.id}}", headers: { Authorization: "Bearer very-private", "X-Team": "shop" }, body: { id: "{{inputs.id}}", deep: [1, null] }, timeout_ms: 5000 },
  {
    type: "condition", left: "{{steps.ask.status}}", op: "eq", right: 200,
    then: [{ type: "set_service_status", service_id: plane.organization.serviceId, status: "maintenance" }, { type: "notify", channel_id: channelId, message: "Deploying {{inputs.id}}" }],
    else: [{ type: "condition", left: true, op: "ne", right: false, then: [{ type: "create_incident", name: "open", title: "Deploy failed", severity: "minor", services: ["Website"] }] }],
  },
  { type: "update_incident", incident_id: "{{steps.open.id}}", status: "resolved", message: "Done." },
  { type: "wait", seconds: 60 },
];

describe("a workflow (happy)", () => {
  it("is made with steps of every type, listed, changed and deleted; its secrets are masked", async () => {
    const steps = everyStep();
    const created = await create({ trigger: { type: "event", event: "incident.created" }, steps });
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect(created.body).toEqual({
      id: expect.any(String) as string, name: "Deploy", enabled: true, disabled_reason: null, saved_by: { type: "api_key", id: expect.any(String) as string, name: "First key" }, trigger: { type: "event", event: "incident.created" },
      steps: [{ ...steps[0], headers: { Authorization: "[masked]", "X-Team": "shop" } }, ...steps.slice(1)],
      created_at: expect.any(String) as string, updated_at: expect.any(String) as string,
    });
    expect((await plane.call("GET", `/workflows/${String(id)}`)).body).toEqual(created.body);
    expect((await plane.call("GET", "/workflows?limit=1")).body).toEqual({ workflows: [created.body] });

    const sentBack = await plane.call("PATCH", `/workflows/${String(id)}`, { name: "Release", enabled: false, trigger: { type: "schedule", cron: "0 3 * * *" }, steps: created.body.steps });
    expect(sentBack.body).toMatchObject({ name: "Release", enabled: false, trigger: { type: "schedule", cron: "0 3 * * *" }, steps: created.body.steps });
    const [stored] = await plane.database.select({ steps: workflows.steps }).from(workflows).where(eq(workflows.id, id as string));
    expect(stored!.steps).toEqual(steps);

    expect((await plane.call("DELETE", `/workflows/${String(id)}`)).body).toEqual({ success: true });
    expect((await plane.call("GET", `/workflows/${String(id)}`)).status).toBe(404);
    const entries = await auditOf(id);
    expect(entries.map(({ action }) => action)).toEqual(["workflow.created", "workflow.updated", "workflow.deleted"]);
    expect(entries[1]!.changedFields).toEqual(["enabled", "name", "trigger"]);
    expect(JSON.stringify(entries)).not.toContain("very-private");
  });

  it("is started by hand: its run is queued and can be asked for", async () => {
    const { body } = await create({ trigger: { type: "manual" } });
    const first = await plane.call("POST", `/workflows/${String(body.id)}/trigger`, { inputs: { version: "1.4.2", token: "very-private" } });
    expect(first.status).toBe(202);
    expect(first.body).toEqual({ run_id: expect.any(String) as string, status: "queued" });
    const second = await plane.call("POST", `/workflows/${String(body.id)}/trigger`, {});
    const run = await plane.call("GET", `/workflows/runs/${String(first.body.run_id)}`);
    expect(run.body).toEqual({ id: first.body.run_id, workflow_id: body.id, trigger: "manual", status: "queued", inputs: { version: "1.4.2", token: "[masked]" }, event: null, next_step: "/steps/0", next_at: null, trace: [], created_at: expect.any(String) as string, finished_at: null });
    const list = await plane.call("GET", `/workflows/${String(body.id)}/runs`);
    expect((list.body.runs as { id: string }[]).map(({ id }) => id).toSorted()).toEqual([first.body.run_id, second.body.run_id].toSorted());
    const entries = await auditOf(body.id);
    expect(entries.at(-1)).toMatchObject({ action: "workflow.triggered", after: { run_id: second.body.run_id } });
    expect(JSON.stringify(entries)).not.toContain("very-private");
  });
});

describe("a workflow (error)", () => {
  it.each([
    { name: "no step", body: { steps: [] }, path: "/steps" },
    { name: "a step of an unknown type", body: { steps: [{ type: "explode" }] }, path: "/steps/0/type" },
    { name: "an unknown field in a nested step", body: { steps: [{ type: "condition", left: 1, op: "eq", right: 1, then: [{ ...WAIT, minutes: 1 }] }] }, path: "/steps/0/then/0/minutes" },
    { name: "an unknown trigger", body: { trigger: { type: "cron" } }, path: "/trigger/type" },
    { name: "an event that does not exist", body: { trigger: { type: "event", event: "incident.exploded" } }, path: "/trigger/event" },
    { name: "a cron expression that is none", body: { trigger: { type: "schedule", cron: "nightly" } }, path: "/trigger/cron" },
    { name: "a schedule of every second", body: { trigger: { type: "schedule", cron: "* * * * * *" } }, path: "/trigger/cron" },
    { name: "a schedule of every half minute", body: { trigger: { type: "schedule", cron: "*/30 * * * * *" } }, path: "/trigger/cron" },
    { name: "an unknown placeholder", body: { steps: [{ type: "create_incident", title: "{{env.HOME}}" }] }, path: "/steps/0/title" },
    { name: "an unknown channel", body: { steps: [{ type: "notify", channel_id: UNKNOWN_ID, message: "x" }] }, path: "/steps/0/channel_id" },
    { name: "a service that is no id", body: { steps: [WAIT, { type: "set_service_status", service_id: "Website", status: "degraded" }] }, path: "/steps/1/service_id" },
    { name: "a masked header that nothing is stored for", body: { steps: [{ type: "http_request", method: "GET", url: "https://example.com/", headers: { Authorization: "[masked]" } }] }, path: "/steps/0/headers/Authorization" },
  ])("is refused with the place: $name", async ({ body, path }) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: "INVALID_REQUEST", path });
  });

  it("that is disabled is not started, nor one with inputs beyond measure", async () => {
    const { body } = await create({ enabled: false });
    const refused = await plane.call("POST", `/workflows/${String(body.id)}/trigger`, {});
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ code: "CONFLICT", fix: expect.any(String) as string });
    const { body: enabled } = await create();
    expect((await plane.call("POST", `/workflows/${String(enabled.id)}/trigger`, { inputs: { x: "a".repeat(65_536) } })).body).toMatchObject({ code: "INVALID_REQUEST", path: "/inputs" });
    expect((await plane.call("GET", `/workflows/${String(enabled.id)}/runs`)).body).toEqual({ runs: [] });
  });
});

describe("a workflow (security)", () => {
  it("of another organization is one that does not exist, and so are its runs, services and channels", async () => {
    const { body } = await create();
    const { body: run } = await plane.call("POST", `/workflows/${String(body.id)}/trigger`, {});
    const asks = [
      ["GET", (id: string) => `/workflows/${id}`, undefined, body.id],
      ["PATCH", (id: string) => `/workflows/${id}`, { name: "mine" }, body.id],
      ["DELETE", (id: string) => `/workflows/${id}`, undefined, body.id],
      ["POST", (id: string) => `/workflows/${id}/trigger`, {}, body.id],
      ["GET", (id: string) => `/workflows/${id}/runs`, undefined, body.id],
      ["GET", (id: string) => `/workflows/runs/${id}`, undefined, run.run_id],
    ] as const;
    for (const [method, path, given, own] of asks) {
      const ask = (id: string) => plane.call(method, path(id), given, { "x-api-key": other.apiKey, "x-request-id": "same" });
      const [foreign, unknown, malformed] = await Promise.all([ask(own as string), ask(UNKNOWN_ID), ask("nonsense")]);
      expect(foreign.status).toBe(404);
      expect(foreign.body).toEqual(unknown.body);
      expect(foreign.body).toEqual(malformed.body);
    }
    for (const [step, path] of [
      [{ type: "set_service_status", service_id: plane.organization.serviceId, status: "degraded" }, "/steps/0/service_id"],
      [{ type: "notify", channel_id: channelId, message: "x" }, "/steps/0/channel_id"],
    ] as const) {
      expect((await plane.call("POST", "/workflows", { name: "w", steps: [step] }, { "x-api-key": other.apiKey })).body).toMatchObject({ code: "INVALID_REQUEST", path });
    }
  });

  it("does not give a stored secret to another address", async () => {
    const { body } = await create({ steps: [{ type: "http_request", method: "GET", url: "https://ci.example.com/", headers: { "X-Api-Key": "very-private" } }] });
    const [step] = body.steps as object[];
    expect((await plane.call("PATCH", `/workflows/${String(body.id)}`, { steps: [{ ...step, url: "https://thief.example.com/" }] })).body).toMatchObject({ code: "INVALID_REQUEST", path: "/steps/0/headers/X-Api-Key" });
  });

  it("needs workflows:write for reading too", async () => {
    const { body } = await plane.call("POST", "/api-keys", { name: "reader", scopes: ["services:read"] });
    const answer = await plane.call("GET", "/workflows", undefined, { "x-api-key": body.key as string });
    expect(answer.status).toBe(403);
    expect(answer.body.error).toBe("Insufficient scope: workflows:write required");
  });
});

describe("a workflow (with what its key may do)", () => {
  const newKey = async (scopes: string[]) => {
    const { body } = await plane.call("POST", "/api-keys", { name: "Small", scopes });
    return { header: { "x-api-key": body.key as string }, id: (body.api_key as { id: string }).id };
  };
  const asks = { type: "http_request", method: "GET", url: "https://ci.example.com/" };

  it.each([
    { name: "a service's status", body: () => ({ steps: [asks, { type: "set_service_status", service_id: plane.organization.serviceId, status: "degraded" }] }), scope: "services:write", path: "/steps/1" },
    { name: "an incident, inside a condition", body: () => ({ steps: [{ type: "condition", left: 1, op: "eq", right: 1, then: [{ type: "create_incident", title: "x" }] }] }), scope: "incidents:write", path: "/steps/0/then/0" },
    { name: "an incident's update", body: () => ({ steps: [{ type: "update_incident", incident_id: "{{inputs.id}}", status: "resolved" }] }), scope: "incidents:write", path: "/steps/0" },
    { name: "a message", body: () => ({ steps: [{ type: "notify", channel_id: channelId, message: "x" }] }), scope: "notifications:write", path: "/steps/0" },
    { name: "incidents it hears of", body: () => ({ trigger: { type: "event", event: "incident.created" }, steps: [asks] }), scope: "incidents:read", path: "/trigger/event" },
    { name: "errors it hears of", body: () => ({ trigger: { type: "event", event: "error.new" }, steps: [asks] }), scope: "monitors:read", path: "/trigger/event" },
  ])("needs the scope for $name", async ({ body, scope, path }) => {
    const refusal = { code: "INSUFFICIENT_SCOPE", error: `Insufficient scope: ${scope} required`, path };
    const weak = await newKey(["workflows:write"]);
    expect((await plane.call("POST", "/workflows", { name: "x", ...body() }, weak.header)).body).toMatchObject(refusal);
    // Nor may it take over what another one saved, not even by its name.
    const strong = await create(body());
    expect(strong.status).toBe(201);
    expect((await plane.call("PATCH", `/workflows/${String(strong.body.id)}`, { name: "Mine" }, weak.header)).body).toMatchObject(refusal);
    const enough = await newKey(["workflows:write", scope]);
    expect((await plane.call("POST", "/workflows", { name: "x", ...body() }, enough.header)).status).toBe(201);
  });

  it("is disabled when its key is revoked, says why, tells the owner, and runs again as who enables it", async () => {
    await plane.database.update(organizations).set({ ownerEmail: "owner@example.com", ownerEmailConfirmedAt: new Date() }).where(eq(organizations.id, plane.organization.organizationId));
    const key = await newKey(["workflows:write"]);
    const { body: made } = await plane.call("POST", "/workflows", { name: "Nightly", trigger: { type: "schedule", cron: "0 3 * * *" }, steps: [asks] }, key.header);
    const { body: others } = await create();
    expect((await plane.call("DELETE", `/api-keys/${key.id}`)).status).toBe(200);

    const path = `/workflows/${String(made.id)}`;
    const reason = 'The API key "Small" was revoked.';
    expect((await plane.call("GET", path)).body).toMatchObject({ enabled: false, disabled_reason: reason, saved_by: { id: key.id } });
    expect((await plane.call("POST", `${path}/trigger`)).body).toMatchObject({ code: "CONFLICT", error: `The workflow is disabled. ${reason}` });
    expect((await plane.call("GET", `/workflows/${String(others.id)}`)).body).toMatchObject({ enabled: true });
    expect((await plane.database.select().from(mails).where(eq(mails.organizationId, plane.organization.organizationId))).at(-1)).toMatchObject({ to: "owner@example.com", subject: 'Workflow "Nightly" was disabled' });
    expect((await auditOf(made.id)).at(-1)).toMatchObject({ action: "workflow.disabled", actorType: "system", changedFields: ["disabled_reason", "enabled"] });

    expect((await plane.call("PATCH", path, { enabled: true })).body).toMatchObject({ enabled: true, disabled_reason: null, saved_by: { name: "First key" } });
  });
});
