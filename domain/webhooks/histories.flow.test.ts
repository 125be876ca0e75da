import { and, asc, count, eq, isNull, sql } from "drizzle-orm";
import { assert, property, sample } from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { claimDue } from "../../platform/claim-due.ts";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { channels, events, notifications, organizations, webhookDeliveries, webhooks } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { describeDelivery, histories, interruptedAt, playByTheRules, redelivered, type Outcome, type Step, type Trace } from "../../testing/webhook-histories.ts";
import { systemActor } from "../actor.ts";
import type { ClaimedDelivery } from "../deliveries/claim.ts";
import { recordAttempt } from "../deliveries/record.ts";
import { redeliver, testWebhook } from "../deliveries/send-now.ts";
import { createWebhook } from "./create.ts";
import { planRetry, settlePlan } from "./plan-retry.ts";
import { validPreviousSecret } from "./previous-secret.ts";
import { rotateSecret } from "./rotate-secret.ts";
import { updateWebhook } from "./update.ts";

const MINUTE = 60_000;
const DELAYS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 24 * 60 * MINUTE];
const START = Date.parse("2026-01-31T12:00:00.000Z");
const config = { WEBHOOK_ALLOW_HTTP: false, OUTBOUND_PORTS: [], OUTBOUND_ALLOW: [] };
const RUNS = { pure: 10_000, stored: 200, sideBySide: 8 };

/** One delivery as a system knows it; `step` is the step of the history that it comes from. */
interface Row { step: number; attempt: number; trigger: "event" | "test" | "redeliver"; status: string; code: number | null; started: number | null; due: number; running: boolean }

it("decides of 10,000 random histories what the rules say", () => {
  assert(property(histories, (steps) => {
      expect(playPure(steps)).toEqual(playByTheRules(steps));
    }), { numRuns: RUNS.pure });
});

it("tries what it means to: among these histories every reason occurs, and every number of attempts", () => {
  const traces = sample(histories, { numRuns: 500, seed: 1 }).map(playByTheRules);
  expect(new Set(traces.map(({ reason }) => reason))).toEqual(new Set([null, "manual", "gone", "retries_exhausted"]));
  const all = traces.flatMap(({ deliveries }) => deliveries.map((each) => each.replace(/^\d+\.(\d) (\w+) (\w+) .*/, "$1 $2 $3")));
  for (const attempt of [1, 2, 3, 4, 5, 6]) expect(all).toContain(`${attempt} event failed`);
  for (const each of ["1 event delivered", "3 event delivered", "2 event abandoned", "1 redeliver failed", "1 redeliver delivered", "1 test failed"]) expect(all).toContain(each);
});

/** The history with the pure decisions, and around them only what carries them out. */
function playPure(steps: readonly Step[]): Trace {
  const rows: Row[] = [];
  const hook = { active: true, reason: null as string | null, disabledAtMs: null as number | null, told: 0 };
  const ends: { at: number; row: Row; outcome: Outcome }[] = [];
  const insert = (step: number, attempt: number, trigger: Row["trigger"], due: number) => rows.push({ step, attempt, trigger, status: "pending", code: null, started: null, due, running: false });
  function disable(reason: string, at: number, told: number): void {
    Object.assign(hook, { active: false, reason, disabledAtMs: at, told: hook.told + told });
    for (const row of rows) if (row.status === "pending") row.status = "abandoned";
  }
  function end(row: Row, { status, retryAfterS }: Outcome, at: number): void {
    const retryAfter = retryAfterS === null ? null : new Date(at + retryAfterS * 1_000);
    const plan = planRetry({ attempt: row.attempt, retried: row.trigger === "event" }, { statusCode: status, at: new Date(at), retryAfter }, DELAYS);
    const settled = settlePlan(plan, { isActive: hook.active, abandoned: row.status === "abandoned" });
    Object.assign(row, { status: settled.kind === "delivered" ? "delivered" : "failed", code: status });
    if (settled.kind === "retry") insert(row.step, row.attempt + 1, row.trigger, settled.at.getTime());
    if (settled.kind === "disable") disable(settled.reason, at, 1);
  }
  for (let next = 0; ; ) {
    const due = rows.filter(({ status, running }) => status === "pending" && !running).toSorted((a, b) => a.due - b.due)[0];
    const ended = ends.toSorted((a, b) => a.at - b.at)[0];
    const step = steps[next];
    const at = Math.min(due?.due ?? Infinity, ended?.at ?? Infinity, step?.atMs ?? Infinity);
    if (at === Infinity) break;
    if (step?.atMs === at) {
      if (step.act === "event" && hook.active) insert(next, 1, "event", at);
      if (step.act === "test") insert(next, 1, "test", at);
      if (step.act === "redeliver" && redelivered(steps, next, (number) => rows.some((row) => row.step === number)) !== null) insert(next, 1, "redeliver", at);
      if (step.act === "disable" && hook.active) disable("manual", at, 0);
      if (step.act === "enable" && !hook.active) Object.assign(hook, { active: true, reason: null, disabledAtMs: null });
      next++;
    } else if (ended?.at === at) {
      ends.splice(ends.indexOf(ended), 1);
      end(ended.row, ended.outcome, at);
    } else if (due) {
      Object.assign(due, { running: true, started: at });
      const outcome = steps[due.step]!.outcomes[due.attempt - 1]!;
      ends.push({ at: at + outcome.durationMs, row: due, outcome });
    }
  }
  return { deliveries: rows.map(describeDelivery).toSorted(), ...hook };
}

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  database = fresh.database;
});
afterAll(() => fresh.drop());

it(`records ${RUNS.stored} random histories in Postgres as the rules say, each attempt signed with the secrets that are valid then`, { timeout: 240_000 }, async () => {
  const interrupted = [1, 6].flatMap((attempt) => [200, 410, 500].map((status) => interruptedAt(attempt, status)));
  const waiting = [...sample(histories, RUNS.stored), ...interrupted];
  await Promise.all(
    Array.from({ length: RUNS.sideBySide }, async () => {
      for (let steps = waiting.pop(); steps; steps = waiting.pop()) expect(await playStored(steps), JSON.stringify(steps)).toEqual(playByTheRules(steps));
    }),
  );
});

/** The history on a webhook of its own, with everything but the requests themselves. */
async function playStored(steps: readonly Step[]): Promise<Trace> {
  const actor = systemActor(newId(), "Test");
  const { organizationId } = actor;
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "free" });
  await database.insert(channels).values({ id: newId(), organizationId, type: "slack", name: "Ops", config: {} });
  const { webhook, signing_secret: first } = await createWebhook({ database, config }, actor, { name: "Hook", url: "https://hooks.example.com/x", events: ["incident.created"], headers: {} }, new Date(START));
  const secrets = [{ from: -Infinity, secret: first }];
  const stepOf = new Map<string, number>();
  const started = new Map<string, number>();
  const ends: { at: number; claimed: ClaimedDelivery; outcome: Outcome }[] = [];
  const rowsOf = () => database.select().from(webhookDeliveries).where(eq(webhookDeliveries.webhookId, webhook.id)).orderBy(asc(webhookDeliveries.attempt));
  const keyOf = (row: { trigger: string; eventId: string; id: string }) => (row.trigger === "event" ? row.eventId : row.id);

  async function perform(number: number, at: Date): Promise<void> {
    const { act } = steps[number]!;
    if (act === "enable" || act === "disable") await updateWebhook({ database, config }, actor, webhook.id, { is_active: act === "enable" }, at);
    if (act === "rotate") secrets.unshift({ from: at.getTime(), secret: (await rotateSecret(database, actor, webhook.id, { expire_previous: false }, at)).signing_secret });
    if (act === "test") stepOf.set((await testWebhook(database, organizationId, webhook.id, { at, waitMs: 0 })).id, number);
    if (act === "event") stepOf.set(await emit(at), number);
    if (act === "redeliver") {
      const event = redelivered(steps, number, (step) => planned.has(step));
      if (event !== null) stepOf.set((await redeliver(database, organizationId, webhook.id, planned.get(event)!, at)).id, number);
    }
  }

  /** As the fan-out does for all organizations at once, which others that play here would come into. */
  async function emit(at: Date): Promise<string> {
    const [eventId, id] = [newId(), newId()];
    await inTransaction(database, async (tx) => {
      await tx.insert(events).values({ id: eventId, organizationId, type: "incident.created", data: {}, createdAt: at, fannedOutAt: at });
      const [row] = await tx.select({ active: webhooks.isActive }).from(webhooks).where(eq(webhooks.id, webhook.id)).for("share");
      if (!row!.active) return;
      await tx.insert(webhookDeliveries).values({ id, organizationId, webhookId: webhook.id, eventId, attempt: 1, trigger: "event", dueAt: at, createdAt: at });
      planned.set(steps.findIndex(({ atMs }) => START + atMs === at.getTime()), id);
    });
    return eventId;
  }
  /** The first delivery of each event that has one, by its step. */
  const planned = new Map<number, string>();

  async function claim(at: Date): Promise<void> {
    const { token, ids } = await claimDue(database, { table: webhookDeliveries, condition: sql`status = 'pending' and webhook_id = ${webhook.id}`, now: at, leaseMs: 45_000, limit: 10 });
    expect(ids).toHaveLength(1);
    const [[row], [hook]] = await Promise.all([database.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, ids[0]!)), database.select().from(webhooks).where(eq(webhooks.id, webhook.id))]);
    const [current, before] = secrets;
    const valid = before && at.getTime() < current!.from + 24 * 60 * MINUTE ? before.secret : null;
    expect([hook!.signingSecret, validPreviousSecret(hook!, at)]).toEqual([current!.secret, valid]);
    const outcome = steps[stepOf.get(keyOf(row!))!]!.outcomes[row!.attempt - 1]!;
    started.set(row!.id, at.getTime() - START);
    const { id, eventId, attempt, trigger } = row!;
    ends.push({ at: at.getTime() + outcome.durationMs, outcome, claimed: { id, leaseToken: token, webhookId: webhook.id, organizationId, eventId, attempt, trigger, url: hook!.url, signingSecret: current!.secret, previousSecret: null, previousSecretExpiresAt: null, headers: {}, body: "{}" } });
  }

  async function end({ claimed, outcome: { status: statusCode, retryAfterS, durationMs }, at: endMs }: (typeof ends)[number]): Promise<void> {
    const retryAfter = retryAfterS === null ? null : new Date(endMs + retryAfterS * 1_000);
    await recordAttempt(database, claimed, { statusCode, responseBody: null, durationMs, error: null, at: new Date(endMs), retryAfter, url: claimed.url, requestHeaders: {} }, DELAYS);
  }

  for (let next = 0; ; ) {
    const unclaimed = and(eq(webhookDeliveries.webhookId, webhook.id), eq(webhookDeliveries.status, "pending"), isNull(webhookDeliveries.leaseToken));
    const [due] = await database.select({ at: webhookDeliveries.dueAt }).from(webhookDeliveries).where(unclaimed).orderBy(asc(webhookDeliveries.dueAt)).limit(1);
    const ended = ends.toSorted((a, b) => a.at - b.at)[0];
    const step = steps[next] ? START + steps[next]!.atMs : Infinity;
    const at = Math.min(due?.at.getTime() ?? Infinity, ended?.at ?? Infinity, step);
    if (at === Infinity) break;
    if (step === at) await perform(next++, new Date(at));
    else if (ended?.at === at) await end(ends.splice(ends.indexOf(ended), 1)[0]!);
    else await claim(new Date(at));
  }
  const rows = (await rowsOf()).map((row) => describeDelivery({ step: stepOf.get(keyOf(row))!, attempt: row.attempt, trigger: row.trigger, status: row.status, code: row.responseStatusCode, started: started.get(row.id) ?? null }));
  const [hook] = await database.select().from(webhooks).where(eq(webhooks.id, webhook.id));
  const [told] = await database.select({ total: count() }).from(notifications).where(and(eq(notifications.organizationId, organizationId), eq(notifications.trigger, "notice")));
  return { deliveries: rows.toSorted(), active: hook!.isActive, reason: hook!.disabledReason, disabledAtMs: hook!.disabledAt === null ? null : hook!.disabledAt.getTime() - START, told: told!.total };
}
