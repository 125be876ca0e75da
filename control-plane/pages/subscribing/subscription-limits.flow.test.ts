import { and, eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CreatedOrganization } from "../../../domain/organizations/create.ts";
import { forgetOldDayCounts } from "../../../domain/day-counts.ts";
import { dayCounts, subscriberPosts, subscribers } from "../../../schemas/tables/all.ts";
import { linkOf, startSubscriptionBench, type SubscriptionBench } from "../../../testing/subscriptions.ts";

const DAY = 86_400_000;

let bench: SubscriptionBench;
beforeAll(async () => {
  bench = await startSubscriptionBench();
});
afterAll(() => bench.stop());

const database = () => bench.plane.database;
const free = () => bench.plane.createOrganization("free");
const ask = (slug: string, json: unknown, client: string) => bench.visit("POST", `/pages/${slug}/subscribers`, { json }, { "x-forwarded-for": client });
const sentOf = async ({ organizationId }: CreatedOrganization) => (await database().select().from(dayCounts).where(and(eq(dayCounts.organizationId, organizationId), eq(dayCounts.subject, "confirmations"))))[0]?.count ?? 0;
const onPage = ({ pageId }: CreatedOrganization) => database().select().from(subscribers).where(eq(subscribers.statusPageId, pageId));

/** How often each status was answered to asks for new addresses, one after the other. */
async function answers(slug: string, name: string, clients: readonly string[]): Promise<Record<number, number>> {
  const found: Record<number, number> = {};
  for (const [n, client] of clients.entries()) {
    const { status } = await ask(slug, { email: `${name}${n}@${name}${n}.example` }, client);
    found[status] = (found[status] ?? 0) + 1;
  }
  return found;
}

const repeated = (client: string, times: number) => Array.from({ length: times }, () => client);

/** Subscribers that are there, newest last. */
async function fill({ organizationId, pageId }: CreatedOrganization, { name, state, count, askedBy = null, open = true }: { name: string; state: "active" | "pending" | "unsubscribed"; count: number; askedBy?: string | null; open?: boolean }): Promise<void> {
  const now = bench.clock.now();
  await database().execute(sql`
    insert into subscribers (id, organization_id, status_page_id, kind, address, address_key, target, state, secret, asks, asks_since, last_asked_at, confirm_expires_at, asked_by, created_at, updated_at)
    select gen_random_uuid(), ${organizationId}::uuid, ${pageId}::uuid, 'email', a, a, a, ${state}::subscriber_state, 'x', 1, at, at, at + ${open ? 24 : 0} * interval '1 hour', ${askedBy}, at, at
    from (select ${name} || n || '@old.example' as a, ${new Date(now - 3_600_000).toISOString()}::timestamptz + n * interval '1 second' as at from generate_series(1, ${count}) as n) as old`);
}

describe("a client", () => {
  it("may ask for its share of the organization's day, and the others go on", async () => {
    const organization = await free();
    const { pageSlug } = organization;
    expect(await answers(pageSlug, "one", repeated("203.0.113.1", 30))).toEqual({ 202: 25, 429: 5 });
    const refused = await ask(pageSlug, { email: "more@example.com" }, "203.0.113.1");
    expect(JSON.parse(refused.body)).toMatchObject({ code: "RATE_LIMITED", error: "From your network too many subscriptions were asked for today.", fix: "Try again tomorrow." });
    expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(86_400);
    expect(await answers(pageSlug, "two", ["203.0.113.2", "2001:db8::1"])).toEqual({ 202: 2 });
    expect(await sentOf(organization)).toBe(27);
  });

  it("of IPv6 is its /64, and a /48 is two clients", async () => {
    const { pageSlug } = await free();
    expect(await answers(pageSlug, "own", Array.from({ length: 30 }, (_, n) => `2001:db8:1:1::${n.toString(16)}`))).toEqual({ 202: 25, 429: 5 });
    expect(await answers(pageSlug, "wide", Array.from({ length: 60 }, (_, n) => `2001:db8:1:${(n + 16).toString(16)}::1`))).toEqual({ 202: 25, 429: 35 });
    expect(await answers(pageSlug, "other", ["2001:db8:2::1"])).toEqual({ 202: 1 });
  });

  it("is counted well when it asks many times at once", async () => {
    const { pageSlug } = await free();
    const all = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(pageSlug, { email: `race${n}@race${n}.example` }, "203.0.113.3")));
    expect(all.filter(({ status }) => status === 202)).toHaveLength(25);
  });

  it("uses up nothing of the organization's day with one address", async () => {
    const organization = await free();
    for (let n = 0; n < 10; n++) expect((await ask(organization.pageSlug, { email: "same@example.com" }, "203.0.113.4")).status).toBe(202);
    expect(await sentOf(organization)).toBe(1);
  });

  it("does not keep others from a webhook's host", async () => {
    const { pageSlug } = bench.plane.organization;
    for (let n = 0; n < 30; n++) expect((await ask(pageSlug, { webhook_url: `https://hooks.example.com/${n}` }, `2001:db8:3:${n.toString(16)}::1`)).status).toBe(202);
    expect(await database().$count(subscriberPosts)).toBe(20);
    expect((await ask(pageSlug, { webhook_url: "https://hooks.example.com/mine" }, "203.0.113.5")).status).toBe(202);
    expect(await database().$count(subscriberPosts)).toBe(21);
  });
});

it("an organization's pages send so many requests a day; then known and unknown addresses are answered alike, until the next", async () => {
  const organization = await free();
  const { organizationId, pageSlug } = organization;
  expect((await ask(pageSlug, { email: "known@known.example" }, "203.0.113.6")).status).toBe(202);
  await database().update(dayCounts).set({ count: 250 }).where(and(eq(dayCounts.organizationId, organizationId), eq(dayCounts.subject, "confirmations")));
  for (const email of ["known@known.example", "unknown@unknown.example"]) {
    const refused = await ask(pageSlug, { email }, "203.0.113.7");
    expect({ status: refused.status, body: JSON.parse(refused.body) as unknown }).toMatchObject({ status: 429, body: { code: "RATE_LIMITED", error: "This page takes no more subscriptions today." } });
  }
  expect(await answers((await free()).pageSlug, "elsewhere", ["203.0.113.7"])).toEqual({ 202: 1 });
  await bench.pass(DAY);
  expect((await ask(pageSlug, { email: "unknown@unknown.example" }, "203.0.113.7")).status).toBe(202);
  while (await forgetOldDayCounts(database(), new Date(bench.clock.now() + DAY)));
  expect(await database().$count(dayCounts)).toBe(2);
});

describe("a page that is full", () => {
  it("takes nobody more, neither who asks nor who confirms, and says so", async () => {
    const organization = await free();
    const { pageSlug, pageId } = organization;
    expect((await ask(pageSlug, { email: "early@early.example" }, "203.0.113.8")).status).toBe(202);
    await expect.poll(() => bench.mail.mailsTo("early@early.example")).toHaveLength(1);
    const link = linkOf(bench.mail.mailsTo("early@early.example")[0]!);
    await fill(organization, { name: "in", state: "active", count: 250 });
    const sentence = "This page has as many subscribers as it can have.";
    for (const email of ["late@late.example", "early@early.example", "in1@old.example"]) {
      const refused = await ask(pageSlug, { email }, "203.0.113.8");
      expect({ status: refused.status, body: JSON.parse(refused.body) as unknown }).toMatchObject({ status: 403, body: { code: "PLAN_LIMIT", error: sentence } });
    }
    const form = await bench.visit("POST", `/pages/${pageSlug}/subscribers`, { form: "email=late%40late.example" });
    expect(form).toMatchObject({ status: 403, headers: { "content-type": "text/html; charset=utf-8" } });
    expect(form.body).toContain(sentence);
    const confirmed = await bench.visit("POST", link);
    expect(confirmed.status).toBe(403);
    expect(confirmed.body).toContain(sentence);
    await database().update(subscribers).set({ state: "unsubscribed" }).where(and(eq(subscribers.statusPageId, pageId), eq(subscribers.address, "in1@old.example")));
    expect((await bench.visit("POST", link)).status).toBe(200);
  });

  it("of addresses that were asked takes the next in their place: the oldest of who asked for the most", async () => {
    const organization = await free();
    await fill(organization, { name: "in", state: "active", count: 200 });
    await fill(organization, { name: "left", state: "unsubscribed", count: 100 });
    await fill(organization, { name: "honest", state: "pending", count: 1, askedBy: "203.0.113.9" });
    await fill(organization, { name: "flood", state: "pending", count: 49, askedBy: "198.51.100.1" });
    expect(await answers(organization.pageSlug, "next", ["203.0.113.10", "203.0.113.11"])).toEqual({ 202: 2 });
    const addresses = (await onPage(organization)).filter(({ state }) => state !== "unsubscribed").map(({ address }) => address);
    expect(addresses).toHaveLength(250);
    expect(addresses).toEqual(expect.arrayContaining(["honest1@old.example", "flood3@old.example", "next0@next0.example", "next1@next1.example"]));
    expect(addresses).not.toContain("flood1@old.example");
    expect(addresses).not.toContain("flood2@old.example");
  });

  it("forgets those first whose link has ended", async () => {
    const organization = await free();
    await fill(organization, { name: "flood", state: "pending", count: 248, askedBy: "198.51.100.1" });
    await fill(organization, { name: "ended", state: "pending", count: 2, askedBy: "203.0.113.9", open: false });
    expect(await answers(organization.pageSlug, "next", ["203.0.113.10"])).toEqual({ 202: 1 });
    const addresses = (await onPage(organization)).map(({ address }) => address);
    expect(addresses).toHaveLength(250);
    expect(addresses).not.toContain("ended1@old.example");
  });
});

it.each(["", "/confirm", "/unsubscribe", "/services"])("takes bodies of 64 KiB at most: %j", async (path) => {
  const url = `/pages/${bench.plane.organization.pageSlug}/subscribers${path}`;
  const most = 65_536;
  const bodies = [{ json: { email: "x".repeat(most) } }, { form: `email=${"x".repeat(most)}` }];
  const answered = await Promise.all(bodies.map((body) => bench.visit("POST", url, body)));
  for (const { status, body } of answered) {
    expect([status, JSON.parse(body)]).toMatchObject([413, { code: "PAYLOAD_TOO_LARGE", error: "A subscription's body is at most 64 KiB." }]);
  }
  const room = "email=x&services=".padEnd(most, "x");
  expect((await bench.visit("POST", url, { form: room })).status).not.toBe(413);
});
