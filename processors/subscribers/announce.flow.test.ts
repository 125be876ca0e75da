import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { announceToNext } from "../../domain/subscribers/announce.ts";
import { newSecret } from "../../domain/subscribers/tokens.ts";
import { claimDue } from "../../platform/claim-due.ts";
import { newId } from "../../platform/ids.ts";
import { sql } from "drizzle-orm";
import { announcements, events, mails, statusPages, subscriberPosts, subscribers } from "../../schemas/tables/all.ts";
import { makeCertificate, type Certificate } from "../../testing/certificate.ts";
import { startReceiver, type Receiver } from "../../testing/receiver.ts";
import { headerOf, startSubscriptionBench, type SubscriptionBench } from "../../testing/subscriptions.ts";

const MINUTE = 60_000;

let bench: SubscriptionBench;
let certificate: Certificate;
/** Services of the organization, by name; its page shows all but Secret. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  certificate = makeCertificate();
  bench = await startSubscriptionBench({ caFile: certificate.file });
  ids.Website = bench.plane.organization.serviceId;
  for (const name of ["Checkout", "Search", "Secret"]) ids[name] = (await bench.plane.call("POST", "/services", { name })).body.id as string;
  await bench.plane.call("PUT", `/status-pages/${bench.plane.organization.pageId}/services`, { service_ids: [ids.Website, ids.Checkout, ids.Search] });
  await bench.plane.call("PATCH", "/config", { timezone: "Europe/Berlin" });
});
afterAll(async () => {
  await bench.stop();
  certificate.remove();
});

const slug = () => bench.plane.organization.pageSlug;
const subjectsTo = (address: string) => bench.mail.mailsTo(address).map(({ parsed }) => parsed.subject).filter((subject) => subject?.startsWith("["));
const open = async (body: Record<string, unknown>) => (await bench.plane.call("POST", "/incidents", body)).body.id as string;

/** Resolves when nothing is left to be told. */
async function allTold(): Promise<void> {
  const { database } = bench.plane;
  await expect.poll(async () => [await database.$count(events, sql`fanned_out_at is null`), await database.$count(announcements), await database.$count(mails, eq(mails.status, "pending")), await database.$count(subscriberPosts, eq(subscriberPosts.status, "pending"))]).toEqual([0, 0, 0, 0]);
}

describe("an incident", () => {
  it("is told to those who want to hear of its services, step by step", async () => {
    await bench.subscribe(slug(), "all@example.com");
    await bench.subscribe(slug(), "checkout@example.com", ["Checkout"]);
    await bench.subscribe(slug(), "search@example.com", [ids.Search!]);
    const id = await open({ title: "Checkout is slow", severity: "major", message: "We are looking into it.", services: ["Checkout", "Secret"] });
    await bench.plane.call("POST", `/incidents/${id}/updates`, { status: "identified", message: "A disk is full." });
    await bench.plane.call("POST", `/incidents/${id}/updates`, { message: "Nobody is told of this.", notify: false });
    await bench.plane.call("PATCH", `/incidents/${id}`, { title: "Checkout was slow" });
    await bench.plane.call("PATCH", `/incidents/${id}`, { status: "resolved" });
    await allTold();
    const told = ["[Test team] Checkout is slow: investigating", "[Test team] Checkout is slow: identified", "[Test team] Checkout was slow: resolved"];
    expect(subjectsTo("all@example.com").toSorted()).toEqual(told.toSorted());
    expect(subjectsTo("checkout@example.com").toSorted()).toEqual(told.toSorted());
    expect(subjectsTo("search@example.com")).toEqual([]);
    const mail = bench.mail.mailsTo("all@example.com").find(({ parsed }) => parsed.subject!.endsWith("investigating"))!;
    for (const text of [mail.parsed.text!, mail.parsed.html!]) {
      for (const part of ["Checkout is slow", "We are looking into it.", "Severity: major", "Affected: Checkout", `https://status.example.com/pages/${slug()}/incidents/`, "Unsubscribe or choose services"]) expect(text).toContain(part);
      expect(text).toMatch(/GMT\+[12]|CES?T/);
      expect(text).not.toContain("Secret");
    }
    expect(headerOf(mail, "list-id")).toBe(`<${slug()}.status.example.com>`);
    expect(headerOf(mail, "content-language")).toBe("en");
    expect(JSON.stringify(bench.mail.mails.map(({ raw }) => raw))).not.toContain("Nobody is told");
  });

  it("of a service that the page does not show is told to nobody, one of no service to all", async () => {
    await open({ title: "Hidden trouble", services: ["Secret"] });
    await open({ title: "General trouble" });
    await allTold();
    expect(subjectsTo("all@example.com").filter((subject) => /Hidden|General/.test(subject!))).toEqual(["[Test team] General trouble: investigating"]);
    expect(subjectsTo("search@example.com")).toEqual(["[Test team] General trouble: investigating"]);
  });

  it("is not told to those who wait, left, or came after it, nor in another organization", async () => {
    await bench.visit("POST", `/pages/${slug()}/subscribers`, { json: { email: "waiting@example.com" } });
    const other = await bench.plane.createOrganization("team");
    await bench.subscribe(other.pageSlug, "foreign@example.com");
    await bench.subscribe(slug(), "left@example.com");
    await bench.plane.database.update(subscribers).set({ state: "unsubscribed" }).where(eq(subscribers.address, "left@example.com"));
    await open({ title: "First", services: ["Website"] });
    await bench.pass(MINUTE);
    await bench.subscribe(slug(), "after@example.com");
    await allTold();
    for (const address of ["waiting", "foreign", "left", "after"]) expect(subjectsTo(`${address}@example.com`)).toEqual([]);
  });

  it("whatever it says is text in a mail", async () => {
    const nasty = `<script>alert(1)</script>" onload="x`;
    await open({ title: `${nasty}\r\nBcc: eve@example.com`, message: `${nasty}\nsecond line`, services: ["Checkout"] });
    await allTold();
    const { parsed } = bench.mail.mailsTo("checkout@example.com").at(-1)!;
    expect(parsed.subject).toBe(`[Test team] ${nasty} Bcc: eve@example.com: investigating`);
    expect(parsed.bcc ?? []).toEqual([]);
    expect(parsed.html).not.toMatch(/<script|" onload/);
    expect(parsed.html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&quot;x<br>second line");
    expect(parsed.text).toContain(nasty);
    expect(bench.mail.mailsTo("eve@example.com")).toEqual([]);
  });
});

it("maintenance is told when it is planned, starts and ends, in the page's language and the organization's time", async () => {
  const page = (await bench.plane.call("POST", "/status-pages", { name: "Läden", status_page_language: "de" })).body.page as { id: string; slug: string };
  await bench.plane.call("PUT", `/status-pages/${page.id}/services`, { service_ids: [ids.Search] });
  await bench.subscribe(page.slug, "de@example.com");
  const { body } = await bench.plane.call("POST", "/maintenance-windows", { title: "Umzug", description: "Neue Server.", starts_at: "2999-07-01T22:00:00Z", ends_at: "2999-07-01T23:30:00Z", services: ["Search"] });
  await bench.plane.call("PATCH", `/maintenance-windows/${body.id as string}`, { status: "in_progress" });
  await bench.plane.call("PATCH", `/maintenance-windows/${body.id as string}`, { status: "completed" });
  await allTold();
  expect(subjectsTo("de@example.com").toSorted()).toEqual(["[Läden] Umzug: abgeschlossen", "[Läden] Umzug: geplant", "[Läden] Umzug: läuft"]);
  const mail = bench.mail.mailsTo("de@example.com").find(({ parsed }) => parsed.subject!.endsWith("geplant"))!;
  expect(mail.parsed.text).toMatch(/Zeit: 2\. Juli 2999, 00:00\s*–\s*01:30 Uhr (?:MESZ|GMT\+2)/);
  expect(mail.parsed.html).toContain(`<html lang="de" dir="ltr">`);
  expect(mail.parsed.text).toContain("Neue Server.");
});

describe("a webhook", () => {
  let receiver: Receiver;
  let answer = 200;
  const received = () => receiver.received.map(({ body }) => JSON.parse(body) as { type: string; confirm_url: string; signing_secret: string; unsubscribe_url: string; id: string; data: Record<string, unknown> });
  const stateOf = async (url: string) => (await bench.plane.database.select().from(subscribers).where(eq(subscribers.address, url)))[0]!;

  beforeAll(async () => {
    receiver = await startReceiver(certificate, (response) => void response.writeHead(answer).end());
  });
  afterAll(() => receiver.stop());

  async function subscribeHook(path: string): Promise<string> {
    const url = `${receiver.url}/${path}`;
    const before = received().length;
    expect((await bench.visit("POST", `/pages/${slug()}/subscribers`, { json: { webhook_url: url, services: ["Search"] } })).status).toBe(202);
    await expect.poll(() => received().length).toBe(before + 1);
    const confirmation = received().at(-1)!;
    expect(confirmation).toMatchObject({ type: "subscription.confirm", page: { id: bench.plane.organization.pageId, name: "Test team" } });
    expect((await stateOf(url)).state).not.toBe("active");
    expect((await bench.visit("POST", confirmation.confirm_url)).status).toBe(200);
    return url;
  }

  it("confirms, is told by POST and leaves by the link in it", async () => {
    const url = await subscribeHook("one");
    await open({ title: "Search fails", severity: "minor", message: "Hm.", services: ["Search", "Secret"] });
    await allTold();
    const [told, ...more] = received().slice(1);
    expect(more).toEqual([]);
    expect(told).toMatchObject({ type: "incident.created", data: { title: "Search fails", status: "investigating", message: "Hm.", services: ["Search"] } });
    expect(receiver.received.at(-1)).toMatchObject({ method: "POST", path: "/one", headers: { "webhook-id": told!.id } });
    expect((await bench.visit("POST", told!.unsubscribe_url)).status).toBe(200);
    expect((await stateOf(url)).state).toBe("unsubscribed");
  });

  it("can tell by the secret of its confirmation who sent a request", async () => {
    const from = receiver.received.length;
    const url = await subscribeHook("signed");
    await open({ title: "Search is slow", services: ["Search"] });
    await allTold();
    const requests = receiver.received.slice(from);
    expect(requests).toHaveLength(2);
    const { signing_secret: secret } = JSON.parse(requests[0]!.body) as { signing_secret: string };
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    expect(key).toHaveLength(32);
    expect((await stateOf(url)).secret.equals(key)).toBe(false);
    for (const { headers, body } of requests) {
      const signed = `${headers["webhook-id"] as string}.${headers["webhook-timestamp"] as string}.${body}`;
      expect(headers["webhook-signature"]).toBe(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
    }
    expect((await bench.visit("POST", received().at(-1)!.unsubscribe_url)).status).toBe(200);
  });

  it("is tried again, and is quarantined after three events that it never took", async () => {
    const url = await subscribeHook("two");
    answer = 500;
    for (let event = 1; event <= 3; event++) {
      const before = received().length;
      await open({ title: `Search fails ${event}`, services: ["Search"] });
      for (const [tries, minutes] of [[1, 1], [2, 5], [3, 30], [4, 120], [5, 480], [6, 0]] as const) {
        await expect.poll(() => received().length).toBe(before + tries);
        await expect.poll(async () => (await bench.plane.database.select({ attempts: subscriberPosts.attempts }).from(subscriberPosts).where(and(eq(subscriberPosts.eventId, received().at(-1)!.id)))).map(({ attempts }) => attempts)).toEqual([tries]);
        await bench.pass(minutes * MINUTE);
      }
      expect(await stateOf(url)).toMatchObject({ bounces: event, state: event === 3 ? "quarantined" : "active" });
      expect(new Set(received().slice(before).map(({ id }) => id)).size).toBe(1);
    }
    answer = 200;
    await subscribeHook("two");
    expect(await stateOf(url)).toMatchObject({ bounces: 0, state: "active" });
  });

  it("that answers 410 is told no more", async () => {
    const url = await subscribeHook("three");
    answer = 410;
    await open({ title: "Search fails again", services: ["Search"] });
    await expect.poll(async () => (await stateOf(url)).state).toBe("unsubscribed");
    answer = 200;
  });
});

it("never connects to an address that is not public", async () => {
  const hits: string[] = [];
  const server = createServer((request, response) => void (hits.push(request.url ?? ""), response.end()));
  await new Promise<void>((resolve) => server.listen(0, "::1", resolve));
  const { port } = server.address() as { port: number };
  expect((await bench.visit("POST", `/pages/${slug()}/subscribers`, { json: { webhook_url: `https://[::1]:${port}/x` } })).status).toBe(400);
  await new Promise((resolve) => server.close(resolve));
  expect(hits).toEqual([]);
});

it("thousands are told once each, whoever dies between two batches", async () => {
  const { database, organization } = bench.plane;
  const page = newId();
  const { organizationId } = await bench.plane.createOrganization("team");
  expect(organizationId).not.toBe(organization.organizationId);
  const at = new Date(bench.clock.now());
  await database.insert(statusPages).values({ id: page, organizationId, name: "Many", slug: `many-${page.slice(0, 8)}` });
  await database.insert(subscribers).values(
    Array.from({ length: 1_200 }, (_, index) => ({ id: newId(), organizationId, statusPageId: page, kind: "email" as const, address: `m${index}@example.com`, addressKey: `m${index}@example.com`, target: `m${index}@example.com`, secret: newSecret(), state: "active" as const, confirmedAt: at, asksSince: at, lastAskedAt: at, createdAt: at, updatedAt: at })),
  );
  const event = newId();
  const incident = (await database.execute<{ id: string }>(sql`insert into incidents (id, organization_id, title, status, severity, started_at) values (gen_random_uuid(), ${organizationId}, 'Big', 'investigating', 'minor', now()) returning id`)).rows[0]!.id;
  // Not due for the bench's own runner: these two are the runners here.
  const later = new Date(at.getTime() + 10_000 * MINUTE);
  await database.insert(events).values({ id: event, organizationId, type: "incident.created", data: { id: incident, title: "Big", status: "investigating", severity: "minor", services: [], message: "" }, createdAt: at, fannedOutAt: at });
  await database.insert(announcements).values({ id: event, organizationId, dueAt: later, createdAt: at });
  const round = (token: string) => announceToNext(database, { id: event, organizationId }, { token, leaseUntil: new Date(later.getTime() + 2 * MINUTE), publicUrl: "https://status.example.com", at: later });
  const claim = async (now: Date) => (await claimDue(database, { table: announcements, condition: sql`${announcements.id} = ${event}`, now, leaseMs: MINUTE, limit: 1 })).token;
  const first = await claim(later);
  expect(await round(first)).toBe(true);
  const second = await claim(new Date(later.getTime() + 3 * MINUTE));
  // The first one was only slow: it does no more.
  expect(await round(first)).toBe(false);
  expect(await round(second)).toBe(true);
  expect(await round(second)).toBe(false);
  const told = await database.select({ to: mails.to }).from(mails).where(eq(mails.eventId, event));
  expect(told).toHaveLength(1_200);
  expect(new Set(told.map(({ to }) => to)).size).toBe(1_200);
  expect(await database.$count(announcements, eq(announcements.id, event))).toBe(0);
});
