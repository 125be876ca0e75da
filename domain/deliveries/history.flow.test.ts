import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../platform/ids.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { channels, events, notifications, organizations, webhookDeliveries, webhooks } from "../../schemas/tables/all.ts";
import type { DeliveryTrigger, EventType } from "../../schemas/vocabulary.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { systemActor, type Actor } from "../actor.ts";
import { createWebhook } from "../webhooks/create.ts";
import { deleteWebhook } from "../webhooks/delete.ts";
import { forgetOldDeliveries } from "./forget-old.ts";
import { listDeliveries } from "./read.ts";
import { redeliverFailed } from "./redeliver-failed.ts";
import { readSuccessRate } from "./success-rate.ts";

const DAY = 86_400_000;
const now = new Date("2026-03-31T12:00:00.000Z");
const ago = (ms: number) => new Date(now.getTime() - ms);
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;
let actor: Actor;
let webhookId: string;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = fresh.database;
});
afterAll(() => fresh.drop());
beforeEach(async () => {
  await database.delete(webhooks);
  await database.delete(events);
  actor = systemActor(newId(), "Test");
  await database.insert(organizations).values({ id: actor.organizationId, name: "Acme", plan: "team" });
  webhookId = await makeWebhook();
});

async function makeWebhook(): Promise<string> {
  return (await createWebhook({ database, config: { WEBHOOK_ALLOW_HTTP: false, OUTBOUND_PORTS: [], OUTBOUND_ALLOW: [] } }, actor, { name: "Hook", url: "https://hooks.example.com/", events: ["incident.created"], headers: {} }, now)).webhook.id;
}

async function makeEvent(createdAt: Date, type: EventType = "incident.created", fannedOutAt: Date | null = createdAt): Promise<string> {
  const id = newId();
  await database.insert(events).values({ id, organizationId: actor.organizationId, type, data: {}, createdAt, fannedOutAt });
  return id;
}

type Status = "pending" | "delivered" | "failed" | "abandoned";

async function deliver(eventId: string, status: Status, createdAt: Date, { trigger = "event", attempt = 1, to = webhookId }: { trigger?: DeliveryTrigger; attempt?: number; to?: string } = {}): Promise<void> {
  await database.insert(webhookDeliveries).values({ id: newId(), organizationId: actor.organizationId, webhookId: to, eventId, attempt, trigger, status, dueAt: createdAt, createdAt });
}

const plan = (since = ago(DAY), at = now) => redeliverFailed(database, actor.organizationId, webhookId, { since: since.toISOString() }, at);
const pending = () => database.select().from(webhookDeliveries).where(eq(webhookDeliveries.status, "pending")).orderBy(webhookDeliveries.dueAt);

describe("delivering again all that failed", () => {
  it("is for each event that failed or was given up since then, never arrived and is not under way; oldest first; and not twice", async () => {
    const [late, early, ...others] = await Promise.all(Array.from({ length: 8 }, () => makeEvent(ago(2 * DAY))));
    await deliver(late!, "failed", ago(3_000));
    await deliver(late!, "abandoned", ago(2_000), { attempt: 2 });
    await deliver(early!, "failed", ago(9_000));
    const [arrived, under, old, elsewhere, tried, again] = others as [string, string, string, string, string, string];
    await deliver(arrived, "failed", ago(5_000));
    await deliver(arrived, "delivered", ago(4_000), { attempt: 2 });
    await deliver(under, "failed", ago(5_000));
    await deliver(under, "pending", ago(4_000), { attempt: 2 });
    await deliver(old, "failed", ago(DAY + 1));
    await deliver(elsewhere, "failed", ago(5_000), { to: await makeWebhook() });
    await deliver(tried, "failed", ago(5_000), { trigger: "test" });
    await deliver(again, "failed", ago(2 * DAY));
    await deliver(again, "failed", ago(1_000), { trigger: "redeliver" });

    expect(await plan()).toEqual({ planned: 3, remaining: 0 });
    const made = (await pending()).filter(({ trigger }) => trigger === "redeliver");
    expect(made).toMatchObject([early, late, again].map((eventId, place) => ({ eventId, webhookId, attempt: 1, dueAt: new Date(now.getTime() + place), createdAt: now, organizationId: actor.organizationId })));
    expect(await plan()).toEqual({ planned: 0, remaining: 0 });
    // One of them failed again: it alone is planned once more.
    await database.update(webhookDeliveries).set({ status: "failed" }).where(eq(webhookDeliveries.id, made[0]!.id));
    expect(await plan(ago(1))).toEqual({ planned: 1, remaining: 0 });
  });

  it("tells what is beyond 10,000, and goes on there; two at once plan nothing twice", async () => {
    await database.execute(sql`
      with made as (
        insert into events (id, organization_id, type, data, created_at, fanned_out_at)
        select gen_random_uuid(), ${actor.organizationId}::uuid, 'incident.created', '{}', ${ago(1_000).toISOString()}::timestamptz, ${ago(1_000).toISOString()}::timestamptz from generate_series(1, 10500)
        returning id
      )
      insert into webhook_deliveries (id, organization_id, webhook_id, event_id, attempt, trigger, status, due_at, created_at)
      select gen_random_uuid(), ${actor.organizationId}::uuid, ${webhookId}::uuid, id, 1, 'event', 'failed', ${ago(1_000).toISOString()}::timestamptz, ${ago(1_000).toISOString()}::timestamptz from made`);
    const both = await Promise.all([plan(), plan()]);
    expect(both.toSorted((a, b) => b.planned - a.planned)).toEqual([{ planned: 10_000, remaining: 500 }, { planned: 500, remaining: 0 }]);
    expect(new Set((await pending()).map(({ eventId }) => eventId)).size).toBe(10_500);
  });

  it("is refused for a time of which nothing is kept, and for a webhook that does not exist", async () => {
    expect(await plan(ago(30 * DAY))).toEqual({ planned: 0, remaining: 0 });
    await expect(plan(ago(30 * DAY + 1))).rejects.toMatchObject({ code: "INVALID_REQUEST", details: { path: "/since" } });
    await deleteWebhook(database, actor, webhookId);
    await expect(plan()).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("the history", () => {
  it("is listed by status and by event, with the total of what was asked for", async () => {
    const [down, created] = [await makeEvent(now, "monitor.down"), await makeEvent(now)];
    await deliver(down, "failed", ago(3));
    await deliver(down, "delivered", ago(2), { attempt: 2 });
    await deliver(created, "failed", ago(1));
    const list = async (query: object) => {
      const { deliveries, total } = await listDeliveries(database, actor.organizationId, webhookId, { limit: 1, offset: 0, ...query });
      return [deliveries.map(({ event, status }) => `${event} ${status}`), total];
    };
    expect(await list({})).toEqual([["incident.created failed"], 3]);
    expect(await list({ status: "failed" })).toEqual([["incident.created failed"], 2]);
    expect(await list({ event: "monitor.down" })).toEqual([["monitor.down delivered"], 2]);
    expect(await list({ event: "monitor.down", status: "failed" })).toEqual([["monitor.down failed"], 1]);
    expect(await list({ status: "abandoned" })).toEqual([[], 0]);
  });

  it("gives the share of a week's events that arrived, at whichever attempt, tests and what is waiting aside", async () => {
    expect(await readSuccessRate(database, webhookId, now)).toBeNull();
    const [retried, lost, waiting, tried, old] = await Promise.all(Array.from({ length: 5 }, () => makeEvent(ago(9 * DAY))));
    await deliver(waiting!, "pending", ago(1));
    await deliver(tried!, "failed", ago(1), { trigger: "test" });
    await deliver(old!, "failed", ago(7 * DAY));
    expect(await readSuccessRate(database, webhookId, now)).toBeNull();
    await deliver(retried!, "failed", ago(5));
    await deliver(lost!, "failed", ago(5));
    expect(await readSuccessRate(database, webhookId, now)).toBe(0);
    await deliver(retried!, "delivered", ago(4), { attempt: 2 });
    expect(await readSuccessRate(database, webhookId, now)).toBe(50);
    await deliver(await makeEvent(now), "delivered", ago(2));
    expect(await readSuccessRate(database, webhookId, now)).toBe(66.67);
  });
});

describe("what is older than 30 days", () => {
  it("goes earlier for an organization that keeps less, but not before 2 days", async () => {
    const eventId = await makeEvent(ago(20 * DAY));
    const ages = [1, 2.5, 6, 8, 29, 31];
    for (const days of ages) await deliver(eventId, "delivered", ago(days * DAY));
    const kept: [number, number][] = [[90, 5], [7, 3], [1, 1]];
    for (const [retentionDays, count] of kept) {
      await database.update(organizations).set({ retentionDays }).where(eq(organizations.id, actor.organizationId));
      expect(await forgetOldDeliveries(database, now)).toBe(false);
      expect(await database.$count(webhookDeliveries)).toBe(count);
    }
  });

  const left = async () => ({ events: (await database.select({ id: events.id }).from(events)).map(({ id }) => id).toSorted(), deliveries: (await database.select().from(webhookDeliveries)).map(({ eventId, status }) => `${eventId} ${status}`).toSorted() });

  it("is forgotten, to the millisecond; not what is pending, nor an event that something kept is about, nor one that others read", async () => {
    const over = ago(30 * DAY + 1);
    const [gone, repeated, waiting, noticed] = [await makeEvent(over), await makeEvent(over), await makeEvent(over), await makeEvent(over)];
    const [young, regressed, late] = [await makeEvent(ago(30 * DAY)), await makeEvent(over, "error.regressed"), await makeEvent(over, "incident.created", null)];
    // One that nobody subscribed to.
    await makeEvent(over);
    for (const status of ["failed", "delivered", "abandoned"] as const) await deliver(gone, status, over);
    await deliver(repeated, "failed", over);
    await deliver(repeated, "delivered", ago(1), { trigger: "redeliver" });
    await deliver(waiting, "pending", over);
    await deliver(young, "delivered", ago(30 * DAY));
    await deliver(regressed, "delivered", over);
    const channel = newId();
    await database.insert(channels).values({ id: channel, organizationId: actor.organizationId, type: "slack", name: "Ops", config: {} });
    await database.insert(notifications).values({ id: newId(), organizationId: actor.organizationId, channelId: channel, eventId: noticed, trigger: "event", status: "delivered", dueAt: over, createdAt: over });

    expect(await forgetOldDeliveries(database, now)).toBe(false);
    expect(await left()).toEqual({
      events: [repeated, waiting, noticed, young, regressed, late].toSorted(),
      deliveries: [`${repeated} delivered`, `${waiting} pending`, `${young} delivered`].toSorted(),
    });
  });

  it("goes in batches, each saying whether there is more", async () => {
    await database.execute(sql`
      with made as (
        insert into events (id, organization_id, type, data, created_at, fanned_out_at)
        select gen_random_uuid(), ${actor.organizationId}::uuid, 'incident.created', '{}', ${ago(40 * DAY).toISOString()}::timestamptz, now() from generate_series(1, 1700)
        returning id
      )
      insert into webhook_deliveries (id, organization_id, webhook_id, event_id, attempt, trigger, status, due_at, created_at)
      select gen_random_uuid(), ${actor.organizationId}::uuid, ${webhookId}::uuid, id, 1, 'event', 'failed', now(), ${ago(40 * DAY).toISOString()}::timestamptz from made`);
    const counts = async () => ((at) => [at.events.length, at.deliveries.length])(await left());
    expect([await forgetOldDeliveries(database, now), await counts()]).toEqual([true, [1700, 700]]);
    expect([await forgetOldDeliveries(database, now), await counts()]).toEqual([true, [700, 0]]);
    expect([await forgetOldDeliveries(database, now), await counts()]).toEqual([false, [0, 0]]);
  });
});
