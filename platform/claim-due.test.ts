import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { events, organizations, webhookDeliveries, webhooks } from "../schemas/tables/all.ts";
import { freshDatabase } from "../testing/postgres.ts";
import { claimDue } from "./claim-due.ts";
import { newId } from "./ids.ts";

const now = new Date("2026-01-31T12:00:00.000Z");
const later = (milliseconds: number) => new Date(now.getTime() + milliseconds);
const organizationId = newId();
const [webhookId, eventId] = [newId(), newId()];
let fresh: Awaited<ReturnType<typeof freshDatabase>>;

beforeAll(async () => {
  fresh = await freshDatabase();
  await fresh.database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "free" });
  await fresh.database.insert(webhooks).values({ id: webhookId, organizationId, name: "Hook", url: "https://example.com", signingSecret: "x", events: [] });
  await fresh.database.insert(events).values({ id: eventId, organizationId, type: "webhook.test", data: {}, createdAt: now });
});
afterAll(() => fresh.drop());
beforeEach(() => fresh.database.delete(webhookDeliveries));

async function due(...dueInMs: number[]): Promise<string[]> {
  const rows = dueInMs.map((milliseconds) => ({ id: newId(), organizationId, webhookId, eventId, attempt: 1, trigger: "event" as const, dueAt: later(milliseconds) }));
  await fresh.database.insert(webhookDeliveries).values(rows);
  return rows.map(({ id }) => id);
}

const claim = (limit = 100, at = now) => claimDue(fresh.database, { table: webhookDeliveries, condition: sql`status = 'pending'`, now: at, leaseMs: 1_000, limit });

describe("claiming due work", () => {
  it("takes what is due, the oldest first, and leaves the rest", async () => {
    const [second, , first] = await due(-10, 1, -20, 5_000);
    expect((await claim()).ids).toEqual([first, second]);
    expect((await claim()).ids).toEqual([]);
  });

  it("takes no more than its limit", async () => {
    await due(...Array.from({ length: 30 }, (_, n) => -n));
    const counts = [];
    for (let found = -1; found !== 0; counts.push(found)) found = (await claim(12)).ids.length;
    expect(counts).toEqual([12, 12, 6, 0]);
  });

  it("gives each row to one of many workers", async () => {
    const ids = await due(...Array.from({ length: 200 }, () => 0));
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim(15)));
    const claimed = claims.flatMap((each) => each.ids);
    expect(new Set(claimed).size).toBe(claimed.length);
    const rest = (await claim(1_000)).ids;
    expect([...claimed, ...rest].sort()).toEqual(ids.sort());
  });

  it("gives a row again when its lease has ended, under another token", async () => {
    const [id] = await due(0);
    const first = await claim();
    expect((await claim(100, later(999))).ids).toEqual([]);
    const second = await claim(100, later(1_000));
    expect(second.ids).toEqual([id]);
    expect(second.token).not.toBe(first.token);
    const [row] = await fresh.database.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, id!));
    expect(row).toMatchObject({ leaseToken: second.token, dueAt: later(2_000) });
  });

  it("does not wait for rows that another transaction holds", async () => {
    const [held, free] = await due(-2, -1);
    await fresh.database.transaction(async (tx) => {
      await tx.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, held!)).for("update");
      expect((await claim()).ids).toEqual([free]);
    });
    expect((await claim()).ids).toEqual([held]);
  });
});
