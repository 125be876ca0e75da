import { and, asc, eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { systemActor, type Actor } from "../../domain/actor.ts";
import { createChannel } from "../../domain/channels/create.ts";
import { emitEvents } from "../../domain/events/emit.ts";
import { fanOut } from "../../domain/events/fan-out.ts";
import { createWorkflow } from "../../domain/workflows/create.ts";
import { deleteWorkflow } from "../../domain/workflows/delete.ts";
import { getWorkflowRun, listWorkflowRuns } from "../../domain/workflows/read-runs.ts";
import { claimRuns } from "../../domain/workflows/runs/read-claimed.ts";
import { forgetSurplusRuns, RunLost } from "../../domain/workflows/runs/record.ts";
import { takeStep } from "../../domain/workflows/runs/take-step.ts";
import { triggerWorkflow } from "../../domain/workflows/trigger.ts";
import type { Clock } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import { makeOutbound, type Outbound } from "../../platform/outbound/outbound.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { Repeating } from "../../platform/repeat.ts";
import type { CreateWorkflow, WorkflowRun, WorkflowStep } from "../../schemas/api/workflows.ts";
import { startScheduled } from "../../domain/workflows/runs/start.ts";
import { WORKFLOW_RUNS_KEPT, WORKFLOW_STEPS_PER_DAY } from "../../schemas/plans.ts";
import { apiKeys, auditEntries, dayCounts, events, incidents, incidentUpdates, notifications, organizations, services, workflowRuns, workflows } from "../../schemas/tables/all.ts";
import { makeCertificate, type Certificate } from "../../testing/certificate.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { startReceiver, type Receiver } from "../../testing/receiver.ts";
import { runDueWorkflows } from "./run-due.ts";

const config = { SCHEDULER_TICK_MS: 20, WEBHOOK_ALLOW_HTTP: false, OUTBOUND_ALLOW: ["127.0.0.0/8"], OUTBOUND_PORTS: [], SMS_PER_DAY: { free: 0, pro: 0, team: 0 } };
const log = makeLog("silent");
const LEASE_MS = 45_000;

let certificate: Certificate;
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;
let outbound: Outbound;
let receiver: Receiver;
/** What the receiver answers to the next requests; 200 with `{"ok":true}` when there is nothing left. */
let answers: [status: number, body: string][];
let now: number;
/** By how much the wall clock was set. */
let set = 0;
let actor: Actor;
const clock: Clock = { now: () => now, monotonic: () => now - set };
const runners: Repeating[] = [];

beforeAll(async () => {
  certificate = makeCertificate();
  fresh = await freshDatabase();
  database = fresh.database;
  outbound = makeOutbound({ config: { ...config, OUTBOUND_CA_FILE: certificate.file } });
  receiver = await startReceiver(certificate, (response) => {
    const [status, body] = answers.shift() ?? [200, '{"ok":true,"id":7}'];
    response.writeHead(status).end(body);
  });
});
afterAll(async () => {
  await outbound.close();
  await receiver.stop();
  await fresh.drop();
  certificate.remove();
});
beforeEach(async () => {
  now = Date.parse("2026-03-01T12:00:00.000Z");
  set = 0;
  answers = [];
  receiver.received.length = 0;
  actor = systemActor(await makeOrganization(), "Test");
});
afterEach(async () => {
  await Promise.all(runners.splice(0).map((runner) => runner.stop()));
  for (const table of [workflowRuns, workflows, events]) await database.delete(table);
});

async function makeOrganization(): Promise<string> {
  const id = newId();
  await database.insert(organizations).values({ id, name: "Acme", plan: "team" });
  return id;
}

async function makeService(organizationId = actor.organizationId): Promise<string> {
  const id = newId();
  await database.insert(services).values({ id, organizationId, name: `Checkout ${id}` });
  return id;
}

const make = (steps: WorkflowStep[], more: Partial<CreateWorkflow> = {}, by = actor) => createWorkflow({ database, config }, by, { name: "Announce", enabled: true, trigger: { type: "manual" }, steps, ...more }, new Date(now));
const start = async (id: string, inputs: Record<string, unknown> = {}) => (await triggerWorkflow(database, actor, id, { inputs }, new Date(now))).run_id;
const read = (id: string) => getWorkflowRun(database, actor.organizationId, id);
const ended = async (id: string, status: WorkflowRun["status"]) => {
  await vi.waitFor(async () => expect((await read(id)).status).toBe(status), 10_000);
  return read(id);
};
const emit = (data: Record<string, unknown>) => inTransaction(database, (tx) => emitEvents(tx, [{ organizationId: actor.organizationId, type: "incident.created", data, at: new Date(now) }]));

function startRunner(): Repeating {
  const runner = runDueWorkflows({ database, outbound, clock, config, log });
  runners.push(runner);
  runner.start();
  return runner;
}

describe("a workflow", () => {
  it("that waits for an event asks, decides, opens an incident, tells a channel, waits, and updates the incident", async () => {
    const serviceId = await makeService();
    const channel = await createChannel({ database, config }, actor, { type: "slack", name: "On call", config: { webhook_url: "https://hooks.slack.com/services/T/B/X" }, enabled: true, notify_on_incident: false, notify_on_maintenance: false }, new Date(now));
    const { id } = await make(
      [
        { type: "http_request", name: "ask", method: "POST", url: `${receiver.url}/deploys/{{event.data.id}}`, headers: { Authorization: "Bearer topsecret-1" }, body: { title: "{{event.data.title}}", count: "{{event.data.count}}" } },
        {
          type: "condition",
          left: "{{steps.ask.json.ok}}",
          op: "eq",
          right: true,
          // oxlint-disable-next-line unicorn/no-thenable -- a list, never a function
          then: [
            { type: "create_incident", name: "opened", title: "Deploy {{steps.ask.json.id}} failed", severity: "major", message: "We look into {{event.data.title}}.", services: [serviceId] },
            { type: "notify", channel_id: channel.id, message: "Opened {{steps.opened.id}}" },
            { type: "wait", seconds: 3_600 },
            { type: "update_incident", incident_id: "{{steps.opened.id}}", status: "resolved", message: "Over." },
          ],
          else: [{ type: "set_service_status", service_id: serviceId, status: "degraded" }],
        },
      ],
      { trigger: { type: "event", event: "incident.created" } },
    );
    await emit({ id: "a/b", title: "Checkout", count: 3 });
    await fanOut(database, new Date(now));
    startRunner();
    const [{ id: runId }] = (await listWorkflowRuns(database, actor.organizationId, id, { limit: 10, offset: 0 })) as [WorkflowRun];
    const waiting = await ended(runId, "waiting");
    expect(waiting).toMatchObject({ trigger: "event", event: { type: "incident.created" }, next_step: "/steps/1/then/3", next_at: new Date(now + 3_600_000).toISOString(), finished_at: null });
    expect(receiver.received).toMatchObject([{ method: "POST", path: "/deploys/a%2Fb", headers: { authorization: "Bearer topsecret-1", "idempotency-key": `${runId}:/0` } }]);
    expect(JSON.parse(receiver.received[0]!.body)).toEqual({ title: "Checkout", count: 3 });
    const [incident] = await database.select().from(incidents).where(eq(incidents.organizationId, actor.organizationId));
    expect(incident).toMatchObject({ title: "Deploy 7 failed", severity: "major", status: "investigating" });
    expect(await database.select().from(notifications).where(eq(notifications.channelId, channel.id))).toMatchObject([{ message: `Opened ${incident!.id}`, trigger: "workflow", status: "pending" }]);

    // Another process goes on when the time has come.
    await runners.splice(0)[0]!.stop();
    startRunner();
    now += 3_600_000;
    const done = await ended(runId, "succeeded");
    expect(done.trace.map(({ path, outcome }) => `${path} ${outcome}`)).toEqual(["/steps/0 succeeded", "/steps/1 succeeded", "/steps/1/then/0 succeeded", "/steps/1/then/1 succeeded", "/steps/1/then/2 succeeded", "/steps/1/then/3 succeeded"]);
    expect((await database.select().from(incidents).where(eq(incidents.id, incident!.id)))[0]).toMatchObject({ status: "resolved" });
    expect(await database.$count(incidentUpdates, eq(incidentUpdates.incidentId, incident!.id))).toBe(2);
    expect(JSON.stringify(done)).not.toContain("topsecret");
    const audited = await database.select().from(auditEntries).where(and(eq(auditEntries.organizationId, actor.organizationId), eq(auditEntries.action, "incident.created")));
    expect(audited).toMatchObject([{ actorName: "Test, by workflow Announce" }]);
  });

  it("runs the steps that it had when the run was started", async () => {
    const { id } = await make([{ type: "wait", seconds: 60 }, { type: "create_incident", title: "Old" }]);
    const runId = await start(id);
    await database.update(workflows).set({ steps: [{ type: "create_incident", title: "New" }] }).where(eq(workflows.id, id));
    startRunner();
    await ended(runId, "waiting");
    now += 60_000;
    await ended(runId, "succeeded");
    expect(await database.select({ title: incidents.title }).from(incidents).where(eq(incidents.organizationId, actor.organizationId))).toEqual([{ title: "Old" }]);
  });

  it("that is deleted ends its runs, also one that is being carried out", async () => {
    const { id } = await make([{ type: "wait", seconds: 60 }, { type: "create_incident", title: "Never" }]);
    const runId = await start(id);
    const [run] = await claimRuns(database, new Date(now), { leaseMs: LEASE_MS, room: 10 });
    await deleteWorkflow(database, actor, id);
    await expect(takeStep(run!, { database, outbound, clock, config, log, signal: new AbortController().signal, leaseMs: LEASE_MS })).rejects.toBeInstanceOf(RunLost);
    await expect(read(runId)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("a step", () => {
  it("that was recorded is taken by nobody again: a scheduler that lost the run writes nothing", async () => {
    const { id } = await make([{ type: "create_incident", title: "Once" }, { type: "wait", seconds: 60 }]);
    const runId = await start(id);
    const needs = { database, outbound, clock, config, log, signal: new AbortController().signal, leaseMs: LEASE_MS };
    const claim = async () => (await claimRuns(database, new Date(now), { leaseMs: LEASE_MS, room: 10 }))[0];
    const first = await claim();
    expect(await claim()).toBeUndefined();
    // It froze for longer than its lease; another went on.
    now += LEASE_MS + 1;
    const second = await claim();
    expect((await takeStep(second!, needs)).kind).toBe("on");
    await expect(takeStep(first!, needs)).rejects.toBeInstanceOf(RunLost);
    expect(await database.$count(incidents, eq(incidents.organizationId, actor.organizationId))).toBe(1);
    expect((await read(runId)).trace).toHaveLength(1);
  });

  it("of which the request fails is tried again after 5 and 30 seconds, then the run fails", async () => {
    answers = [[500, "oops"], [429, "later"], [503, "no"]];
    const { id } = await make([{ type: "http_request", method: "GET", url: receiver.url }, { type: "create_incident", title: "Never" }]);
    const runId = await start(id);
    startRunner();
    expect(await ended(runId, "waiting")).toMatchObject({ next_at: new Date(now + 5_000).toISOString(), next_step: "/steps/0" });
    now += 5_000;
    await vi.waitFor(async () => expect((await read(runId)).next_at).toBe(new Date(now + 30_000).toISOString()), 5_000);
    now += 30_000;
    const failed = await ended(runId, "failed");
    expect(failed.trace).toMatchObject([
      { outcome: "retried", attempt: 1, error: "The receiver answered 500.", result: { status: 500, body: "oops" } },
      { outcome: "retried", attempt: 2, error: "The receiver answered 429." },
      { outcome: "failed", attempt: 3, error: "The receiver answered 503." },
    ]);
    expect(await database.$count(incidents, eq(incidents.organizationId, actor.organizationId))).toBe(0);
    // All tries are one for a receiver that looks at the key.
    expect(new Set(receiver.received.map(({ headers }) => headers["idempotency-key"]))).toEqual(new Set([`${runId}:/0`]));
  });

  it.each<[string, WorkflowStep, RegExp]>([
    ["a placeholder without a value", { type: "create_incident", title: "{{inputs.nothing}}" }, /^\{\{inputs\.nothing\}\} stands for nothing in this run\.$/],
    ["an address that is not public", { type: "http_request", method: "GET", url: "{{inputs.internal}}" }, /not public/],
    ["plain http", { type: "http_request", method: "GET", url: "{{inputs.plain}}" }, /must use https/],
    ["a header that breaks the line", { type: "http_request", method: "GET", url: "https://localhost:1/", headers: { "X-Team": "{{inputs.lines}}" } }, /header X-Team/],
    ["another organization's service", { type: "set_service_status", service_id: "{{inputs.foreign}}", status: "degraded" }, /No such service/],
    ["another organization's service in an incident", { type: "create_incident", title: "x", services: ["{{inputs.foreign}}"] }, /There is no service/],
    ["another organization's channel", { type: "notify", channel_id: "{{inputs.foreign}}", message: "x" }, /No such notification channel/],
    ["an incident that does not exist", { type: "update_incident", incident_id: "{{inputs.foreign}}", status: "resolved" }, /No such incident/],
    ["a body that grows past 256 KiB", { type: "http_request", method: "POST", url: "https://localhost:1/", body: Array.from({ length: 7_000 }, () => "{{inputs.large}}") }, /^The step grew to more than 262,144 bytes/],
    ["services that grow past 100,000 bytes", { type: "create_incident", title: "x", services: Array.from({ length: 2_000 }, () => "{{inputs.large}}") }, /^The step grew to more than 100,000 bytes/],
    // oxlint-disable-next-line unicorn/no-thenable -- a list, never a function
    ["a comparison of what are no numbers", { type: "condition", left: "{{inputs.lines}}", op: "gt", right: 5, then: [] }, /compares numbers/],
  ])("with %s fails the run with a sentence, and changes nothing", async (_, step, sentence) => {
    const foreign = await makeService(await makeOrganization());
    const { id } = await make([step, { type: "create_incident", title: "Never" }]);
    const runId = await start(id, { internal: "https://169.254.169.254/latest/meta-data", plain: "http://example.com/", lines: "a\r\nb", foreign, large: "x".repeat(60_000) });
    startRunner();
    const { trace, finished_at } = await ended(runId, "failed");
    expect(trace).toMatchObject([{ path: "/steps/0", outcome: "failed", error: expect.stringMatching(sentence) }]);
    expect(finished_at).not.toBeNull();
    expect(await database.$count(incidents, eq(incidents.organizationId, actor.organizationId))).toBe(0);
    expect(receiver.received).toHaveLength(0);
  });

  it("shows no secret of its inputs or headers, even when a receiver sends them back", async () => {
    answers = [[400, "you sent Bearer deploy-key-123 and hunter2hunter2"]];
    const { id } = await make([{ type: "http_request", name: "ask", method: "POST", url: `${receiver.url}/{{inputs.password}}`, headers: { "X-Api-Key": "Bearer deploy-key-123" }, body: "{{inputs.password}}" }, { type: "create_incident", title: "{{steps.ask.body}}" }]);
    const runId = await start(id, { password: "hunter2hunter2", user: "ann" });
    startRunner();
    const run = await ended(runId, "succeeded");
    expect(run.inputs).toEqual({ password: "[masked]", user: "ann" });
    expect(run.trace[0]).toMatchObject({ result: { status: 400, url: `${receiver.url}/[masked]`, body: "you sent [masked] and [masked]" } });
    expect(JSON.stringify(run)).not.toMatch(/hunter2hunter2/);
  });
});

describe("a step of a workflow that a key saved", () => {
  const makeKey = async (scopes: string[], more: Partial<typeof apiKeys.$inferInsert> = {}): Promise<Actor> => {
    const id = newId();
    await database.insert(apiKeys).values({ id, organizationId: actor.organizationId, name: "Deploy key", prefix: "psk_", hash: Buffer.from(id), scopes, ...more });
    return { ...actor, type: "api_key", id, name: "Deploy key" };
  };
  const asks = () => ({ type: "http_request", method: "GET", url: `${receiver.url}/` }) satisfies WorkflowStep;

  it("acts as that key", async () => {
    const by = await makeKey(["workflows:write", "incidents:write"]);
    const { id } = await make([{ type: "create_incident", title: "Ours" }], {}, by);
    const runId = await start(id);
    startRunner();
    await ended(runId, "succeeded");
    const [entry] = await database.select().from(auditEntries).where(and(eq(auditEntries.organizationId, actor.organizationId), eq(auditEntries.action, "incident.created")));
    expect(entry).toMatchObject({ actorType: "api_key", actorId: by.id, actorName: "Deploy key, by workflow Announce" });
  });

  it.each([
    ["was revoked", (by: Actor) => database.update(apiKeys).set({ revokedAt: new Date(now) }).where(eq(apiKeys.id, by.id!))],
    ["has expired", () => Promise.resolve(void (now += 86_400_000))],
    ["is gone", (by: Actor) => database.delete(apiKeys).where(eq(apiKeys.id, by.id!))],
  ])("is not taken when the key %s: the run fails and the workflow is disabled", async (_, happens) => {
    const by = await makeKey(["*:*"], { expiresAt: new Date(now + 3_600_000) });
    const trigger = { type: "event" as const, event: "incident.created" as const };
    const { id } = await make([asks()], { trigger }, by);
    const runId = await start(id);
    await happens(by);
    startRunner();
    const { trace } = await ended(runId, "failed");
    const reason = 'The API key "Deploy key" that saved this workflow was revoked or has expired.';
    expect(trace).toMatchObject([{ outcome: "failed", error: `${reason} The workflow is disabled.` }]);
    expect(await database.select({ enabled: workflows.enabled, reason: workflows.disabledReason }).from(workflows).where(eq(workflows.id, id))).toEqual([{ enabled: false, reason }]);
    expect(receiver.received).toHaveLength(0);
  });

  it.each<[string, string[], () => WorkflowStep, string]>([
    ["what it does", ["workflows:write"], () => ({ type: "create_incident", title: "Never" }), "incidents:write"],
    ["the event that it would send", ["workflows:write"], asks, "incidents:read"],
  ])("is not taken when the key lacks the scope for %s by now", async (_, left, step, scope) => {
    const by = await makeKey(["*:*"]);
    await make([step()], { trigger: { type: "event", event: "incident.created" } }, by);
    await emit({ id: newId(), title: "Secret" });
    await fanOut(database, new Date(now));
    await database.update(apiKeys).set({ scopes: [...left, ...(scope === "incidents:write" ? ["incidents:read"] : [])] }).where(eq(apiKeys.id, by.id!));
    startRunner();
    const [{ id: runId } = { id: "" }] = await database.select({ id: workflowRuns.id }).from(workflowRuns).where(eq(workflowRuns.organizationId, actor.organizationId));
    const { trace } = await ended(runId, "failed");
    expect(trace).toMatchObject([{ outcome: "failed", error: `The API key "Deploy key" that saved this workflow has no scope ${scope}.` }]);
    expect(receiver.received).toHaveLength(0);
  });

  it("is given up when its process ended each of five times", async () => {
    const { id } = await make([asks()]);
    const runId = await start(id);
    for (let n = 0; n < 5; n++) {
      expect(await claimRuns(database, new Date(now), { leaseMs: LEASE_MS, room: 1 })).toMatchObject([{ begun: n + 1 }]);
      now += LEASE_MS;
    }
    startRunner();
    expect((await ended(runId, "failed")).trace).toMatchObject([{ error: "This step was begun 5 times, and the process that took it ended each time." }]);
    expect(receiver.received).toHaveLength(0);
  });
});

describe("runs", () => {
  it("that their own events would start again end: alone, and in a circle of two", async () => {
    const opens = (title: string): WorkflowStep[] => [{ type: "create_incident", title }];
    const trigger = { type: "event" as const, event: "incident.created" as const };
    await make(opens("First"), { trigger });
    await make(opens("Second"), { trigger });
    await emit({ id: newId(), title: "By hand" });
    startRunner();
    // Until nothing is left to fan out and no run is under way.
    await vi.waitFor(async () => {
      await fanOut(database, new Date(now));
      const open = await database.$count(workflowRuns, and(eq(workflowRuns.organizationId, actor.organizationId), eq(workflowRuns.status, "succeeded")));
      // Each starts by the event by hand, and once more by what the other opened.
      expect(open).toBe(4);
    }, 10_000);
    await fanOut(database, new Date(now));
    const rows = await database.select({ causes: workflowRuns.causes, status: workflowRuns.status }).from(workflowRuns).where(eq(workflowRuns.organizationId, actor.organizationId));
    expect(rows.map(({ causes, status }) => `${causes.length} ${status}`).toSorted()).toEqual(["0 succeeded", "0 succeeded", "1 succeeded", "1 succeeded"]);
  });

  it("of a schedule are started once, by however many schedulers, and not made up for", async () => {
    const { id } = await make([{ type: "create_incident", title: "Tick" }], { trigger: { type: "schedule", cron: "0 * * * *" } });
    startRunner();
    startRunner();
    now += 3_600_000;
    const count = () => database.$count(workflowRuns, and(eq(workflowRuns.workflowId, id), eq(workflowRuns.status, "succeeded")));
    await vi.waitFor(async () => expect(await count()).toBe(1), 5_000);
    // Away for a day.
    now += 24 * 3_600_000;
    await vi.waitFor(async () => expect(await count()).toBe(2), 5_000);
    const [workflow] = await database.select().from(workflows).where(eq(workflows.id, id));
    expect(workflow!.nextRunAt).toEqual(new Date(now + 3_600_000));
    expect(await database.select({ trigger: workflowRuns.trigger }).from(workflowRuns).where(eq(workflowRuns.workflowId, id)).orderBy(asc(workflowRuns.createdAt))).toEqual([{ trigger: "schedule" }, { trigger: "schedule" }]);
  });

  it("of a schedule with seconds, which an older version took, are started once a minute", async () => {
    const { id } = await make([{ type: "create_incident", title: "Tick" }], { trigger: { type: "schedule", cron: "0 * * * *" } });
    await database.update(workflows).set({ trigger: { type: "schedule", cron: "* * * * * *" }, nextRunAt: new Date(now) }).where(eq(workflows.id, id));
    for (let second = 0; second < 180; second++) await startScheduled(database, new Date(now + second * 1_000));
    expect(await database.$count(workflowRuns)).toBe(3);
  });

  it("take no more steps a day than the plan says, and go on the next day", async () => {
    const { organizationId } = actor;
    await database.update(organizations).set({ plan: "free" }).where(eq(organizations.id, organizationId));
    const { id } = await make([{ type: "create_incident", title: "One" }, { type: "create_incident", title: "Two" }]);
    await database.insert(dayCounts).values({ organizationId, day: new Date(now).toISOString().slice(0, 10), subject: "workflow steps", count: WORKFLOW_STEPS_PER_DAY.free - 1 });
    startRunner();
    const failed = await ended(await start(id), "failed");
    expect(failed.trace.map(({ outcome, error }) => [outcome, error ?? null])).toEqual([["succeeded", null], ["failed", "The free plan carries out 10,000 steps of workflows a day (UTC), and today's are used up."]]);
    now += 86_400_000;
    await ended(await start(id), "succeeded");
  });

  it("of one organization are carried out by all processes together only as many as its plan allows at a time, and leave places for another's", async () => {
    const sent: string[] = [];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const slow: Outbound = { ...outbound, send: async (request) => (sent.push(new URL(request.url).pathname), await held, outbound.send(request)) };
    const other = systemActor(await makeOrganization(), "Other");
    await database.update(organizations).set({ plan: "free" });
    const ask = (path: string): WorkflowStep => ({ type: "http_request", method: "GET", url: `${receiver.url}${path}` });
    const [mine, theirs] = [await make([ask("/mine")]), await make([ask("/theirs")], {}, other)];
    const runs = await Promise.all(Array.from({ length: 12 }, () => start(mine.id)));
    for (let count = 0; count < 2; count++) {
      const runner = runDueWorkflows({ database, outbound: slow, clock, config, log });
      runners.push(runner);
      runner.start();
    }
    await vi.waitFor(() => expect(sent.filter((path) => path === "/mine")).toHaveLength(5), 10_000);
    const { run_id: their } = await triggerWorkflow(database, other, theirs.id, { inputs: {} }, new Date(now));
    await vi.waitFor(() => expect(sent).toContain("/theirs"), 10_000);
    // Both have looked again since, and took none of those that wait.
    expect(sent.filter((path) => path === "/mine")).toHaveLength(5);
    expect(await database.$count(workflowRuns, and(eq(workflowRuns.workflowId, mine.id), eq(workflowRuns.status, "queued")))).toBe(7);
    release();
    for (const id of runs) await ended(id, "succeeded");
    await vi.waitFor(async () => expect((await getWorkflowRun(database, other.organizationId, their)).status).toBe("succeeded"), 10_000);
  });

  it("of a process that died take no place once their claim has ended", async () => {
    await database.update(organizations).set({ plan: "free" });
    const { id } = await make([{ type: "wait", seconds: 1 }]);
    for (let n = 0; n < 7; n++) await start(id);
    const claim = async () => (await claimRuns(database, new Date(now), { leaseMs: LEASE_MS, room: 50 })).length;
    expect([await claim(), await claim()]).toEqual([5, 0]);
    now += LEASE_MS;
    expect([await claim(), await claim()]).toEqual([5, 0]);
  });
});

describe("runs that ended", () => {
  it("are kept as many of each workflow as the plan says, the newest, and none that has not ended goes", async () => {
    await database.update(organizations).set({ plan: "free" });
    const [full, other] = [await make([{ type: "wait", seconds: 1 }]), await make([{ type: "wait", seconds: 1 }])];
    const add = (workflowId: string, count: number, values: Partial<typeof workflowRuns.$inferInsert>) =>
      database.insert(workflowRuns).values(Array.from({ length: count }, (_, age) => ({ id: newId(), organizationId: actor.organizationId, workflowId, inputs: {}, dueAt: new Date(now), createdAt: new Date(now - age), ...values })));
    const over = { status: "succeeded" as const, finishedAt: new Date(now) };
    await add(full.id, WORKFLOW_RUNS_KEPT.free + 10, over);
    await add(full.id, 1, { createdAt: new Date(now - 1_000_000) });
    await add(other.id, 5, over);
    expect(await forgetSurplusRuns(database)).toBe(false);
    const left = (workflowId: string) => database.select({ createdAt: workflowRuns.createdAt, status: workflowRuns.status }).from(workflowRuns).where(eq(workflowRuns.workflowId, workflowId)).orderBy(asc(workflowRuns.createdAt));
    const rows = await left(full.id);
    expect([rows.length, rows[0]!.status, rows[1]!.createdAt.getTime()]).toEqual([WORKFLOW_RUNS_KEPT.free + 1, "queued", now - WORKFLOW_RUNS_KEPT.free + 1]);
    expect(await left(other.id)).toHaveLength(5);
  });
});

describe("what a receiver answers", () => {
  it("is to the next step what is stored of it: a NUL or half a character neither fails a step nor means something else after a restart", async () => {
    answers = [[200, '{"title":"a\\u0000b \\ud800"}']];
    const { id } = await make([{ type: "http_request", name: "ask", method: "GET", url: `${receiver.url}/` }, { type: "create_incident", name: "opened", title: "Ours" }, { type: "update_incident", incident_id: "{{steps.opened.id}}", message: "{{steps.ask.json.title}}" }]);
    const runId = await start(id);
    startRunner();
    await vi.waitFor(async () => expect((await read(runId)).finished_at).not.toBeNull(), 10_000);
    expect((await read(runId)).trace.at(-1)).toMatchObject({ outcome: "succeeded" });
    expect(await database.select({ message: incidentUpdates.message }).from(incidentUpdates).where(eq(incidentUpdates.organizationId, actor.organizationId))).toEqual([{ message: "a\ufffdb \ufffd" }]);
  });
});

describe("a clock that is set forward", () => {
  const HOUR_MS = 3_600_000;
  let sent: string[];
  let release: () => void;
  let slow: Outbound;
  beforeEach(() => {
    sent = [];
    const held = new Promise<void>((resolve) => (release = resolve));
    slow = { ...outbound, send: async (request) => (sent.push(request.url), await held, outbound.send(request)) };
  });
  afterEach(() => release());

  function startSlow(): void {
    for (let count = 0; count < 2; count++) {
      const runner = runDueWorkflows({ database, outbound: slow, clock, config, log });
      runners.push(runner);
      runner.start();
    }
  }
  /** Each has looked several times since. */
  async function looked(): Promise<void> {
    const looks = vi.spyOn(clock, "now");
    await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThan(30), 10_000);
    looks.mockRestore();
  }
  async function isSetForward(): Promise<void> {
    now += HOUR_MS;
    set += HOUR_MS;
    await looked();
  }
  const makeSlow = () => make([{ type: "http_request", method: "POST", url: `${receiver.url}/deploy` }]);

  it("ends no claim: a request that is being made is not made twice", async () => {
    const runId = await start((await makeSlow()).id);
    startSlow();
    await vi.waitFor(() => expect(sent).toHaveLength(1), 10_000);
    await isSetForward();
    expect(sent).toHaveLength(1);
    release();
    await ended(runId, "succeeded");
    expect(receiver.received).toHaveLength(1);
  });

  it("does not shorten a claim that is made soon after", async () => {
    startSlow();
    await looked();
    const { id } = await makeSlow();
    await isSetForward();
    now += LEASE_MS - 20_000;
    const runId = await start(id);
    // It was due before.
    await database.update(workflowRuns).set({ dueAt: new Date(now - 2 * HOUR_MS) }).where(eq(workflowRuns.id, runId));
    await vi.waitFor(() => expect(sent).toHaveLength(1), 10_000);
    now += LEASE_MS - 1;
    await looked();
    expect(sent).toHaveLength(1);
    release();
    await ended(runId, "succeeded");
  });
});
