import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { CreatedOrganization } from "../../../domain/organizations/create.ts";
import { recheckDomains } from "../../../domain/status-pages/recheck-domains.ts";
import { makeLog } from "../../../platform/log.ts";
import { makeTxtResolver, type ResolveTxt } from "../../../platform/resolve-txt.ts";
import { keepDomains } from "../../../processors/due-work/keep-domains.ts";
import { auditEntries, mails, organizations, statusPages } from "../../../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";
import { startDnsServer, type DnsServer } from "../../../testing/dns-server.ts";

const HOUR = 3_600_000;

let dns: DnsServer;
let plane: TestControlPlane;
let resolveTxt: ResolveTxt;
let other: CreatedOrganization;
/** By how much the plane's clock is ahead. */
let elapsed = 0;
const now = () => new Date(Date.now() + elapsed);
beforeAll(async () => {
  dns = await startDnsServer();
  plane = await startTestControlPlane({ settings: { DNS_SERVERS: dns.address, PUBLIC_URL: "https://pharos.example" }, clock: { now: () => now().getTime(), monotonic: () => performance.now() + elapsed } });
  resolveTxt = makeTxtResolver({ DNS_SERVERS: [dns.address] });
  other = await plane.createOrganization("pro");
});
afterAll(async () => {
  await plane.stop();
  await dns.stop();
});
beforeEach(async () => {
  dns.records.clear();
  dns.fails = false;
  await plane.database.update(statusPages).set({ customDomain: null, customDomainStatus: null });
});

interface Page {
  id: string;
  slug: string;
  custom_domain_status: string | null;
  custom_domain_record: { type: string; name: string; value: string };
}

const as = ({ apiKey }: CreatedOrganization) => ({ "x-api-key": apiKey });
const claim = async (domain: string | null, owner = plane.organization) => (await plane.call("PATCH", `/status-pages/${owner.pageId}`, { custom_domain: domain }, as(owner))).body.page as Page;
const verify = async (owner = plane.organization) => {
  const { status, body } = await plane.call("POST", `/status-pages/${owner.pageId}/verify-domain`, undefined, as(owner));
  return { status, page: body.page as Page, body };
};
const prove = ({ custom_domain_record: { name, value } }: Page) => dns.records.set(name, ["v=spf1 -all", value]);
const visit = (host: string, path = "/") => plane.app.inject({ url: path, headers: { host } });
const isShown = async (host: string) => (await visit(host)).body.includes(`<h1><bdi>Test`);
const recheck = () => recheckDomains({ database: plane.database, resolveTxt }, now(), new AbortController().signal);
const later = (ms: number) => {
  elapsed += ms;
  return recheck();
};

describe("a page's own domain", () => {
  it("works when its record is found, and not before", async () => {
    const page = await claim("Status.Acme.Example");
    expect(page).toMatchObject({ custom_domain: "status.acme.example", custom_domain_status: "pending", custom_domain_record: { type: "TXT", name: "_pharos.status.acme.example", value: `pharos-page=${page.id}` } });
    expect(await isShown("status.acme.example")).toBe(false);
    expect((await visit("status.acme.example", `/pages/${page.slug}`)).statusCode).toBe(404);

    const missing = await verify();
    expect(missing).toMatchObject({ status: 200, page: { custom_domain_status: "failed" }, body: { warning: expect.stringContaining(page.custom_domain_record.value) as string } });
    expect(await isShown("status.acme.example")).toBe(false);

    prove(page);
    expect(await verify()).toMatchObject({ status: 200, page: { custom_domain_status: "verified" } });
    await vi.waitFor(async () => expect(await isShown("status.acme.example")).toBe(true), 10_000);
    const entries = await plane.database.select().from(auditEntries).where(eq(auditEntries.resourceId, page.id));
    expect(entries.findLast(({ changedFields }) => changedFields.includes("custom_domain_status"))).toMatchObject({ action: "status_page.updated", actorName: "First key" });

    expect(await claim(null)).toMatchObject({ custom_domain_status: null, custom_domain_record: null });
    await vi.waitFor(async () => expect(await isShown("status.acme.example")).toBe(false), 10_000);
  });

  it("is blocked by nobody who only claims it, and is one page's once it is proven", async () => {
    await claim("wanted.example", other);
    const mine = await claim("wanted.example");
    prove(mine);
    expect((await verify()).page.custom_domain_status).toBe("verified");
    expect((await verify(other)).page.custom_domain_status).toBe("failed");
    // Both records stand: the first to prove keeps it.
    const theirs = await claim("wanted.example", other);
    dns.records.set(mine.custom_domain_record.name, [mine.custom_domain_record.value, theirs.custom_domain_record.value]);
    expect((await verify(other)).body).toMatchObject({ code: "CONFLICT", path: "/custom_domain" });
    expect(await later(2 * HOUR)).toBeGreaterThan(0);
    expect((await plane.database.select({ status: statusPages.customDomainStatus }).from(statusPages).where(eq(statusPages.id, other.pageId)))[0]!.status).toBe("failed");
    // Another's id is one that does not exist.
    expect((await plane.call("POST", `/status-pages/${other.pageId}/verify-domain`)).status).toBe(404);
  });

  it("is found by itself when its record comes later", async () => {
    const page = await claim("patient.example");
    expect(await recheck()).toBe(1);
    expect(await recheck()).toBe(0);
    prove(page);
    expect(await later(HOUR + 1_000)).toBe(1);
    expect((await plane.call("GET", `/status-pages/${page.id}`)).body.page).toMatchObject({ custom_domain_status: "verified" });
    expect(await later(HOUR)).toBe(0);
    await claim("forgotten.example");
    expect(await later(8 * 24 * HOUR)).toBe(0);
  });

  it("ends when its record has been gone for 72 hours, not when the name service is away; its owner is told", async () => {
    await plane.database.update(organizations).set({ ownerEmail: "owner@example.com", ownerEmailConfirmedAt: new Date() }).where(eq(organizations.id, plane.organization.organizationId));
    const page = await claim("lost.example");
    prove(page);
    await verify();
    dns.fails = true;
    for (let day = 0; day < 5; day++) expect(await later(25 * HOUR)).toBe(1);
    dns.fails = false;
    const status = async () => ((await plane.call("GET", `/status-pages/${page.id}`)).body.page as Page).custom_domain_status;
    dns.records.clear();
    await later(25 * HOUR);
    expect(await status()).toBe("verified");
    for (let hour = 0; hour < 71; hour += 10) await later(10 * HOUR);
    expect(await status()).toBe("failed");
    expect(await isShown("lost.example")).toBe(false);
    const told = await plane.database.select().from(mails).where(eq(mails.subject, "lost.example does not lead to your status page any more"));
    expect(told).toMatchObject([{ to: "owner@example.com", text: expect.stringContaining(page.custom_domain_record.value) as string }]);
  });

  it("says that the name service is away", async () => {
    await claim("away.example");
    dns.fails = true;
    expect(await verify()).toMatchObject({ status: 503, body: { code: "UNAVAILABLE" } });
  });

  it("is needed to be verified", async () => {
    await claim(null);
    expect((await verify()).body).toMatchObject({ code: "INVALID_REQUEST", path: "/custom_domain" });
  });

  it("is looked at by schedulers", async () => {
    const page = await claim("looked.example");
    prove(page);
    await plane.database.execute(sql`delete from periodic_work where name = 'domains'`);
    const keepers = [1, 2].map(() => keepDomains({ database: plane.database, resolveTxt, clock: { now: () => now().getTime(), monotonic: () => performance.now() }, log: makeLog("silent"), pauseMs: 20 }));
    for (const keeper of keepers) keeper.start();
    await vi.waitFor(async () => expect((await plane.database.select({ status: statusPages.customDomainStatus }).from(statusPages).where(eq(statusPages.id, page.id)))[0]!.status).toBe("verified"), 10_000);
    await Promise.all(keepers.map((keeper) => keeper.stop()));
  });
});

describe("a page's own domain without proof", () => {
  it("is whose names it first, where the operator wants it so", async () => {
    const open = await startTestControlPlane({ settings: { CUSTOM_DOMAIN_PROOF: "none" } });
    const first = await open.call("PATCH", `/status-pages/${open.organization.pageId}`, { custom_domain: "status.house.example" });
    expect(first.body.page).toMatchObject({ custom_domain_status: "verified" });
    const second = await open.createOrganization("pro");
    expect(await open.call("PATCH", `/status-pages/${second.pageId}`, { custom_domain: "status.house.example" }, as(second))).toMatchObject({ status: 409, body: { code: "CONFLICT", path: "/custom_domain" } });
    await open.stop();
  });
});
