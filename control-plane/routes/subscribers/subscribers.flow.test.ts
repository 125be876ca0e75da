import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { forgetFinished } from "../../../domain/mail/forget-finished.ts";
import { statusPages, subscribers } from "../../../schemas/tables/all.ts";
import { startSubscriptionBench, type SubscriptionBench } from "../../../testing/subscriptions.ts";

const DAY = 86_400_000;

let bench: SubscriptionBench;
beforeAll(async () => {
  bench = await startSubscriptionBench();
});
afterAll(() => bench.stop());

it("the API lists a page's subscribers and deletes one with what waits for it", async () => {
  const { organization } = bench.plane;
  const page = (await bench.plane.call("POST", "/status-pages", { name: "Another page" })).body.page as { id: string; slug: string };
  await bench.subscribe(page.slug, "listed@example.com");
  await bench.visit("POST", `/pages/${page.slug}/subscribers`, { json: { webhook_url: "https://hooks.example.com/x" } });
  const { body } = await bench.plane.call("GET", `/status-pages/${page.id}/subscribers?limit=1`);
  expect(body).toMatchObject({ total: 2, subscribers: [{ kind: "webhook", address: "https://hooks.example.com/x", state: "pending", confirmed_at: null }] });
  const active = (await bench.plane.call("GET", `/status-pages/${page.id}/subscribers?state=active`)).body.subscribers as { id: string }[];
  expect(active).toEqual([{ id: expect.any(String) as string, kind: "email", address: "listed@example.com", services: [], state: "active", bounces: 0, created_at: expect.any(String) as string, confirmed_at: expect.any(String) as string }]);
  expect(JSON.stringify(body)).not.toMatch(/secret|hash/);
  expect((await bench.plane.call("DELETE", `/status-pages/${organization.pageId}/subscribers/${active[0]!.id}`)).status).toBe(404);
  expect((await bench.plane.call("DELETE", `/status-pages/${page.id}/subscribers/${active[0]!.id}`)).body).toEqual({ success: true });
  expect(await bench.plane.database.$count(subscribers, and(eq(subscribers.statusPageId, page.id), eq(subscribers.kind, "email")))).toBe(0);
  const entries = (await bench.plane.call("GET", "/audit-log?action=subscriber.deleted")).body.entries as unknown[];
  expect(entries).toHaveLength(1);
  expect(JSON.stringify(entries)).not.toContain("listed@example.com");
  await bench.plane.database.delete(statusPages).where(eq(statusPages.id, page.id));
  expect(await bench.plane.database.$count(subscribers, eq(subscribers.statusPageId, page.id))).toBe(0);
});

it("addresses that never confirmed, and those that left, are forgotten in time", async () => {
  const { database, organization } = bench.plane;
  for (const name of ["active", "left"]) await bench.subscribe(organization.pageSlug, `${name}@example.com`);
  await bench.visit("POST", `/pages/${organization.pageSlug}/subscribers`, { json: { email: "never@example.com" } });
  await database.update(subscribers).set({ state: "unsubscribed" }).where(eq(subscribers.address, "left@example.com"));
  const now = bench.clock.now();
  const leftAfter = async (days: number) => {
    await forgetFinished(database, new Date(now + days * DAY));
    return (await database.select({ address: subscribers.address }).from(subscribers)).map(({ address }) => address.split("@")[0]).sort();
  };
  expect(await leftAfter(6.9)).toEqual(["active", "left", "never"]);
  expect(await leftAfter(7.1)).toEqual(["active", "left"]);
  expect(await leftAfter(30.1)).toEqual(["active"]);
});
