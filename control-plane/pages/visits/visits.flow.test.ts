import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fanOut } from "../../../domain/events/fan-out.ts";
import { openIncident } from "../../../domain/incidents/open.ts";
import { systemActor } from "../../../domain/actor.ts";
import type { StatusPage } from "../../../schemas/api/status-pages.ts";
import { PageSummary } from "../../../schemas/api/public-pages.ts";
import { auditEntries, statusPages } from "../../../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";

const PUBLIC_URL = "https://status.pharos.example";
const VIEWS = ["", "/history", "/history?month=2026-01", "/incidents/00000000-0000-4000-8000-000000000000", "/feed.rss", "/feed.atom", "/feed.json", "/maintenance.ics", "/badge.svg", "/summary.json"];

let plane: TestControlPlane;
let serviceId: string;
beforeAll(async () => {
  plane = await startTestControlPlane({ settings: { PUBLIC_URL, CUSTOM_DOMAIN_PROOF: "none" } });
  serviceId = plane.organization.serviceId;
});
afterAll(() => plane.stop());

const visit = (url: string, headers: Record<string, string> = {}) => plane.app.inject({ method: "GET", url, headers: { host: "status.pharos.example", ...headers } });
const bodyOf = async (url: string, headers?: Record<string, string>) => (await visit(url, headers)).body;

async function makePage(fields: Record<string, unknown> = {}): Promise<StatusPage> {
  const { status, body } = await plane.call("POST", "/status-pages", { name: "Acme", ...fields });
  expect(status, JSON.stringify(body)).toBe(201);
  const page = body.page as StatusPage;
  await plane.call("PUT", `/status-pages/${page.id}/services`, { service_ids: [serviceId] });
  return page;
}

const patch = (page: StatusPage, fields: Record<string, unknown>) => plane.call("PATCH", `/status-pages/${page.id}`, fields);

async function open(fields: Record<string, unknown>): Promise<string> {
  const { status, body } = await plane.call("POST", "/incidents", { message: "We look into it.", services: [serviceId], ...fields });
  expect(status).toBe(200 + 1);
  return body.id as string;
}

/** As another process would. */
async function openElsewhere(title: string): Promise<void> {
  await openIncident(plane.database, systemActor(plane.organization.organizationId, "Test"), { title, status: "investigating", severity: "minor", message: "", services: [serviceId], at: new Date() });
  await fanOut(plane.database, new Date());
}

/** What tells one answer from another. */
const told = ({ statusCode, headers, body }: Awaited<ReturnType<typeof visit>>) => ({ statusCode, body, headers: { ...headers, "x-request-id": "", date: "" } });

describe("a page that changes", () => {
  it("is shown anew at once where the change was asked for", async () => {
    const page = await makePage({ name: "Before" });
    expect(await bodyOf(`/pages/${page.slug}`)).toContain("<h1><bdi>Before</bdi></h1>");
    await patch(page, { name: "After" });
    expect(await bodyOf(`/pages/${page.slug}`)).toContain("<h1><bdi>After</bdi></h1>");
    const id = await open({ title: "Now and here" });
    for (const view of ["", "/history", "/feed.rss", "/feed.atom", "/feed.json", "/summary.json", `/incidents/${id}`]) expect(await bodyOf(`/pages/${page.slug}${view}`), view).toContain("Now and here");
    await plane.call("DELETE", `/incidents/${id}`);
    expect((await visit(`/pages/${page.slug}/incidents/${id}`)).statusCode).toBe(404);
    expect(await bodyOf(`/pages/${page.slug}`)).not.toContain("Now and here");
  });

  it("is shown anew within a second when another process changed it, and is not read again for nothing", async () => {
    const page = await makePage({ name: "Shared" });
    const address = `/pages/${page.slug}`;
    const first = await visit(address);
    const sent = new Set([first.headers.etag]);
    for (const change of [
      () => plane.database.update(statusPages).set({ name: "Renamed" }).where(eq(statusPages.id, page.id)),
      () => openElsewhere("Elsewhere"),
    ]) {
      expect(sent).toContain((await visit(address)).headers.etag);
      await change();
      const begun = performance.now();
      await expect.poll(async () => sent.has((await visit(address)).headers.etag), { interval: 5 }).toBe(false);
      expect(performance.now() - begun).toBeLessThan(1_000);
      sent.add((await visit(address)).headers.etag);
    }
  });

  it("is told by its tag and its date, and sent compressed", async () => {
    const page = await makePage();
    const first = await visit(`/pages/${page.slug}`, { "accept-encoding": "gzip, br" });
    expect(first.headers).toMatchObject({ "content-encoding": "br", "cache-control": "public, max-age=1, stale-while-revalidate=10, stale-if-error=86400", vary: "Accept-Encoding" });
    expect(first.rawPayload.length).toBeLessThan(14_336);
    expect((await visit(`/pages/${page.slug}`, { "if-none-match": first.headers.etag! })).statusCode).toBe(304);
    expect((await visit(`/pages/${page.slug}`, { "if-modified-since": first.headers["last-modified"]! })).statusCode).toBe(304);
    await patch(page, { tagline: "New" });
    expect((await visit(`/pages/${page.slug}`, { "if-none-match": first.headers.etag! })).statusCode).toBe(200);
  });
});

describe("what was about a service that was deleted", () => {
  it("is not shown to everybody as if it were about everything", async () => {
    const { body: secret } = await plane.call("POST", "/services", { name: "Project Condor" });
    const id = await open({ title: "Condor leaks", services: [secret.id] });
    await plane.call("POST", "/maintenance-windows", { title: "Condor rebuilt", starts_at: "2030-01-01T00:00:00Z", ends_at: "2030-01-01T01:00:00Z", services: [secret.id] });
    await plane.call("DELETE", `/services/${secret.id as string}`);
    const page = await makePage();
    for (const view of ["", "/history", "/feed.json", "/summary.json", "/maintenance.ics"]) expect(await bodyOf(`/pages/${page.slug}${view}`), view).not.toContain("Condor");
    expect((await visit(`/pages/${page.slug}/incidents/${id}`)).statusCode).toBe(404);
    await plane.call("PATCH", `/incidents/${id}`, { services: [] });
    expect(await bodyOf(`/pages/${page.slug}`)).toContain("Condor leaks");
  });
});

describe("a page whose database is away", () => {
  it("is shown as it last was, with the time, and one that nobody has read is not", async () => {
    let later = 0;
    const away = await startTestControlPlane({ clock: { now: () => Date.now() + later, monotonic: () => performance.now() + later } });
    const address = `/pages/${away.organization.pageSlug}`;
    const see = (url: string) => away.app.inject({ method: "GET", url });
    await see(address);
    await see(`${address}/feed.rss`);
    await away.cutPostgres();
    // What is fresh is not read again.
    later = 10_000;
    await expect.poll(async () => (await see(address)).body, { interval: 20 }).toMatch(/role="alert">The live data cannot be reached\. What you see is from <time/);
    expect(await see(address)).toMatchObject({ statusCode: 200 });
    expect((await see(`${address}/feed.rss`)).statusCode).toBe(200);
    expect((await see(`${address}/history`)).statusCode).toBe(503);
    expect((await see("/pages/never-read")).statusCode).toBe(503);
    await away.stop();
  });
});

describe("a custom domain", () => {
  const host = { host: "status.acme.example" };

  it("leads to its page, whose parts stand at its root", async () => {
    const page = await makePage({ name: "Acme of its own", custom_domain: "status.acme.example" });
    const id = await open({ title: "Of its own" });
    const root = await visit("/", host);
    expect(root.statusCode).toBe(200);
    for (const part of ["<h1><bdi>Acme of its own</bdi></h1>", 'href="/history"', `href="/incidents/${id}"`, 'href="/feed.rss"', 'href="/maintenance.ics"']) expect(root.body).toContain(part);
    for (const view of VIEWS.filter((each) => each !== "" && !each.startsWith("/incidents"))) expect((await visit(view, host)).statusCode, view).toBe(200);
    expect(await bodyOf("/feed.json", host)).toContain(`https://status.acme.example/incidents/${id}`);
    expect(await bodyOf(`/pages/${page.slug}/feed.json`)).toContain(`${PUBLIC_URL}/pages/${page.slug}/incidents/${id}`);
    expect((await visit("/", { host: "STATUS.acme.example:443" })).body).toContain("Acme of its own");
  });

  it("is drawn once, and named by its own address, whatever port or capitals are asked for", async () => {
    await makePage({ custom_domain: "ports.acme.example" });
    const first = await visit("/feed.atom", { host: "ports.acme.example" });
    expect(first.body).toContain("https://ports.acme.example/");
    for (const host of ["ports.acme.example:1", "ports.acme.example:8443", "Ports.ACME.example.:65535"]) {
      const again = await visit("/feed.atom", { host });
      expect(again.body).toBe(first.body);
      // What is drawn anew has another moment of change.
      expect(again.headers["last-modified"]).toBe(first.headers["last-modified"]);
    }
  });

  it("shows no page of others, by whose name they could speak", async () => {
    const { slug } = await makePage({ name: "Somebody else" });
    expect((await visit(`/pages/${slug}`)).statusCode).toBe(200);
    for (const view of VIEWS) expect(told(await visit(`/pages/${slug}${view}`, host)), view).toEqual(told(await visit(`/pages/there-is-none${view}`, host)));
  });

  it("of a page that the visitor may not see is one that belongs to no page", async () => {
    await makePage({ status_page_visibility: "private", custom_domain: "hidden.acme.example" });
    for (const path of ["/", ...VIEWS.slice(1)]) expect(told(await visit(path, { host: "hidden.acme.example" })), path).toEqual(told(await visit(path, { host: "none.acme.example" })));
  });

  it("that belongs to no page shows the start page, and none of a page's parts", async () => {
    for (const host of ["other.example", "127.0.0.1:8080", "localhost", "", "a b", "status.acme.example.evil.example"]) {
      expect(await bodyOf("/", { host }), host).toContain("For programs");
      expect((await visit("/history", { host })).statusCode, host).toBe(404);
    }
  });
});

describe("views are limited by client", () => {
  const MOST = 5;
  let limited: TestControlPlane;
  beforeAll(async () => {
    limited = await startTestControlPlane({ settings: { RATE_LIMIT_PAGE_VIEWS: String(MOST) }, clock: { now: () => 1_769_860_800_000, monotonic: () => 0 } });
  });
  afterAll(() => limited.stop());

  const see = (path: string, client: string, headers: Record<string, string> = {}) => limited.app.inject({ method: "GET", url: path, headers: { "x-forwarded-for": client, ...headers } });

  it("and refused before anything is looked for, also while the database is away", async () => {
    const path = `/pages/${limited.organization.pageSlug}`;
    for (let n = 0; n < MOST; n++) expect((await see(path, `2001:db8::${n + 1}`)).statusCode).toBe(200);
    await limited.cutPostgres();
    for (const url of [path, "/", "/pages/none", `${path}/subscribers/confirm?token=x`, `${path}/unlock`]) {
      const refused = await see(url, "2001:db8::ffff");
      expect(refused, url).toMatchObject({ statusCode: 429, headers: { "retry-after": "60", "cache-control": "no-store" } });
      expect(refused.json(), url).toMatchObject({ code: "RATE_LIMITED", fix: "Wait 60 s." });
    }
    await limited.mendPostgres();
    expect((await see(path, "2001:db8::1", { accept: "text/html" })).body).toBe("Too many requests from your network in this minute. Wait 60 s.\n");
    expect((await see("/assets/page.js", "2001:db8::1")).statusCode).toBe(200);
    await expect.poll(async () => (await see(path, "2001:db8:0:1::1")).statusCode).toBe(200);
  });
});

describe("a page's language", () => {
  it("is its own, whatever the visitor's, unless it follows them", async () => {
    const page = await makePage({ status_page_language: "de" });
    const address = `/pages/${page.slug}`;
    expect(await bodyOf(address, { "accept-language": "fr" })).toContain('<html lang="de"');
    expect(await bodyOf(`${address}?lang=fr`)).toContain('<html lang="de"');
    await patch(page, { match_visitor_language: true });
    const french = await visit(address, { "accept-language": "fr-CH, en;q=0.5" });
    expect(french.body).toContain('<html lang="fr"');
    expect(french.headers.vary).toBe("Accept-Encoding, Accept-Language");
    expect(await bodyOf(address, { "accept-language": "xx" })).toContain('<html lang="de"');
    expect(await bodyOf(`${address}?lang=he`)).toMatch(/<html lang="he" dir="rtl"/);
    expect(await bodyOf(`${address}/feed.rss?lang=ja`)).toContain("ja");
  });
});

const ACCESS = { status_page_password: "open sesame", allowed_ips: ["203.0.113.0/24"] };

describe("who may not see a page", () => {
  it.each(["ip_restricted", "private"])("gets what a page gets that does not exist: %s", async (visibility) => {
    const page = await makePage({ name: "Very secret", status_page_visibility: visibility, ...ACCESS });
    for (const view of VIEWS) {
      for (const query of ["", "access=1.2.3", "preview=1798675200.R2xhZCB0byBzZWUgeW91IGhlcmUR2xhZCB0byBzZWUge"]) {
        const ask = (slug: string) => visit(`/pages/${slug}${view}${query && `${view.includes("?") ? "&" : "?"}${query}`}`);
        expect(told(await ask(page.slug)), view).toEqual(told(await ask("there-is-none")));
      }
    }
    expect(told(await plane.app.inject({ method: "POST", url: `/pages/${page.slug}/unlock` }))).toEqual(told(await plane.app.inject({ method: "POST", url: "/pages/there-is-none/unlock" })));
  });

  it("is asked for the password, and hears nothing but its hint", async () => {
    const page = await makePage({ name: "Very secret", slug: "locked", tagline: "Of gold", primary_color: "#abcdef", status_page_visibility: "password", status_page_password_hint: "Ali Baba", ...ACCESS });
    await open({ title: "Secret trouble" });
    const first = await visit(`/pages/${page.slug}`);
    expect(first).toMatchObject({ statusCode: 401, headers: { "cache-control": "no-store", "x-robots-tag": "noindex" } });
    expect(first.body).toContain("Hint: Ali Baba");
    for (const view of VIEWS) {
      const { statusCode, body, headers } = await visit(`/pages/${page.slug}${view}`);
      expect(statusCode, view).toBe(401);
      for (const secret of ["secret", "gold", "abcdef", "Website"]) expect(`${body}${JSON.stringify(headers)}`, view).not.toContain(secret);
    }
    // What was not seen is the same, whether or not there is such an incident.
    const [, id] = /incidents\/([0-9a-f-]{36})/.exec(await bodyOf(`/pages/${plane.organization.pageSlug}`))!;
    expect(told(await visit(`/pages/${page.slug}/incidents/${id}`))).toEqual(told(await visit(`/pages/${page.slug}/incidents/00000000-0000-4000-8000-000000000000`)));

    const unlock = (password: string) => plane.app.inject({ method: "POST", url: `/pages/${page.slug}/unlock`, headers: { "content-type": "application/x-www-form-urlencoded" }, payload: `password=${encodeURIComponent(password)}` });
    expect((await unlock("wrong")).statusCode).toBe(401);
    const opened = await unlock("open sesame");
    expect([opened.statusCode, opened.headers.location]).toEqual([303, `/pages/${page.slug}`]);
    const cookie = String(opened.headers["set-cookie"]).split(";")[0]!;
    for (const view of VIEWS.filter((each) => !each.startsWith("/incidents"))) expect((await visit(`/pages/${page.slug}${view}`, { cookie })).statusCode, view).toBe(200);
    expect((await visit(`/pages/${page.slug}`, { cookie })).headers).toMatchObject({ "cache-control": "private, no-cache", vary: "Accept-Encoding, Cookie", "x-robots-tag": "noindex" });
    await patch(page, { status_page_password: "changed it" });
    expect((await visit(`/pages/${page.slug}`, { cookie })).statusCode).toBe(401);
  });
});

it("a page that others may see is 503 like any other name while the database is away", async () => {
  const away = await startTestControlPlane();
  await away.call("POST", "/status-pages", { name: "Secret", slug: "project-zeta", status_page_visibility: "private" });
  const see = async (slug: string) => (await away.app.inject({ method: "GET", url: `/pages/${slug}` })).statusCode;
  expect([await see("project-zeta"), await see("project-theta")]).toEqual([404, 404]);
  await away.cutPostgres();
  expect([await see("project-zeta"), await see("project-theta"), await see("project-eta")]).toEqual([503, 503, 503]);
  expect([await see("project-zeta/unlock"), await see("project-theta/unlock")]).toEqual([503, 503]);
  await away.stop();
});

it("a page stays small, however much was written", async () => {
  const { organizationId, pageSlug } = plane.organization;
  const made = await plane.call("POST", "/maintenance-windows", { title: "W", description: "d".repeat(10_000), starts_at: "2030-01-01T00:00:00Z", ends_at: "2030-01-01T01:00:00Z", rrule: "FREQ=WEEKLY", services: [serviceId] });
  expect(made.status).toBe(201);
  await plane.database.execute(sql`insert into maintenance_windows select (jsonb_populate_record(w, jsonb_build_object('id', gen_random_uuid()))).* from maintenance_windows w, generate_series(1, 199) where organization_id = ${organizationId} and title = 'W'`);
  await plane.database.execute(sql`
    with made as (insert into incidents (id, organization_id, title, status, severity, started_at, created_at, updated_at)
      select gen_random_uuid(), ${organizationId}, 'Heavy', 'investigating', 'minor', now(), now(), now() from generate_series(1, 20) returning id)
    insert into incident_updates (id, organization_id, incident_id, status, message, created_at)
      select gen_random_uuid(), ${organizationId}, made.id, 'investigating', repeat(md5(random()::text), 312), now() from made, generate_series(1, 200)`);
  for (const view of VIEWS.filter((each) => !each.startsWith("/incidents"))) expect((await visit(`/pages/${pageSlug}${view}`)).rawPayload.length, view).toBeLessThan(3_000_000);
  await plane.database.execute(sql`delete from incidents where title = 'Heavy'`);
  await plane.database.execute(sql`delete from maintenance_windows where title = 'W'`);
});

describe("who may see a page that others may not", () => {
  it("sees it from an allowed address", async () => {
    const page = await makePage({ status_page_visibility: "ip_restricted", ...ACCESS });
    const from = { "x-forwarded-for": "203.0.113.7" };
    for (const view of VIEWS.filter((each) => !each.startsWith("/incidents"))) {
      const { statusCode, headers } = await visit(`/pages/${page.slug}${view}`, from);
      expect(statusCode, view).toBe(200);
      expect(headers).toMatchObject({ "cache-control": "private, no-cache" });
      expect(headers).not.toHaveProperty("access-control-allow-origin");
    }
    expect((await visit(`/pages/${page.slug}`, { "x-forwarded-for": "203.0.114.7" })).statusCode).toBe(404);
  });

  it("sees all of it by a link, which its inner links carry on", async () => {
    const page = await makePage({ status_page_visibility: "private" });
    const { body } = await plane.call("POST", `/status-pages/${page.id}/access-links`, {});
    const { pathname, search } = new URL(body.url as string);
    const seen = await visit(pathname + search);
    expect(seen.statusCode).toBe(200);
    const links = [...seen.body.matchAll(/(?:href|action)="(\/pages\/[^"]+)"/g)].map(([, link]) => link!.replaceAll("&amp;", "&"));
    expect(links.length).toBeGreaterThan(4);
    for (const link of links) expect((await visit(link)).statusCode, link).toBe(200);
    expect(await bodyOf(`${pathname}/feed.json${search}`)).toContain("access=");
    expect(seen.body).toContain('<meta name="robots" content="noindex"');
  });

  it("sees the draft by a preview's link, and nobody else does", async () => {
    const page = await makePage({ status_page_visibility: "private" });
    const sections = [{ type: "overall_status", enabled: true }, { type: "header", enabled: true }, { type: "metrics", enabled: true }];
    await plane.call("PUT", `/status-pages/${page.id}/design/draft`, { layout: { sections }, theme_tokens: { brand: { primary: "#b00b1e", secondary: "#123456" }, font: { family: "lato" } } });
    const { body } = await plane.call("POST", `/status-pages/${page.id}/design/preview-links`, {});
    const { pathname, search } = new URL(body.url as string);
    const seen = await visit(pathname + search);
    expect(seen).toMatchObject({ statusCode: 200, headers: { "cache-control": "no-store", "x-robots-tag": "noindex" } });
    for (const part of ["This is a preview of a draft.", "--brand:#b00b1e", '"Lato"', "The measurements cannot be shown right now."]) expect(seen.body).toContain(part);
    expect(seen.body.indexOf('id="overall"')).toBeLessThan(seen.body.indexOf("<h1>"));
    expect(seen.body).not.toContain('id="services"');
    expect((await visit(pathname)).statusCode).toBe(404);
  });
});

describe("what a visitor was given", () => {
  const status = async (url: string, headers?: Record<string, string>) => (await visit(url, headers)).statusCode;
  const linkTo = async (page: StatusPage, links: "access-links" | "design/preview-links") => {
    const { body } = await plane.call("POST", `/status-pages/${page.id}/${links}`, {});
    const { pathname, search } = new URL(body.url as string);
    return pathname + search;
  };
  const unlock = async (page: StatusPage) => {
    const opened = await plane.app.inject({ method: "POST", url: `/pages/${page.slug}/unlock`, headers: { "content-type": "application/x-www-form-urlencoded" }, payload: "password=open+sesame" });
    return { cookie: String(opened.headers["set-cookie"]).split(";")[0]! };
  };
  const makeDraft = (page: StatusPage) => plane.call("PUT", `/status-pages/${page.id}/design/draft`, { layout: { sections: [{ type: "header", enabled: true }] } });

  it("ends when it is revoked, each kind by itself, and what is given later works", async () => {
    const page = await makePage({ status_page_visibility: "private" });
    await makeDraft(page);
    const [access, preview] = [await linkTo(page, "access-links"), await linkTo(page, "design/preview-links")];
    expect([await status(access), await status(preview)]).toEqual([200, 200]);
    expect(await plane.call("POST", `/status-pages/${page.id}/access-links/revoke`)).toMatchObject({ status: 200, body: { success: true } });
    expect([await status(access), await status(preview)]).toEqual([404, 200]);
    expect(await plane.call("POST", `/status-pages/${page.id}/preview-links/revoke`)).toMatchObject({ status: 200, body: { success: true } });
    expect([await status(access), await status(preview)]).toEqual([404, 404]);
    expect([await status(await linkTo(page, "access-links")), await status(await linkTo(page, "design/preview-links"))]).toEqual([200, 200]);
    const entries = await plane.database.select().from(auditEntries).where(eq(auditEntries.resourceId, page.id));
    expect(entries.map(({ action }) => action)).toEqual(expect.arrayContaining(["status_page.access_links_revoked", "status_page.preview_links_revoked"]));
  });

  it("is revoked by who may write status pages, of their own pages", async () => {
    const page = await makePage();
    const { body: key } = await plane.call("POST", "/api-keys", { name: "Reader", scopes: ["status_pages:read"] });
    for (const links of ["access-links", "preview-links"]) {
      expect(await plane.call("POST", `/status-pages/${page.id}/${links}/revoke`, undefined, { "x-api-key": key.key as string })).toMatchObject({ status: 403, body: { code: "INSUFFICIENT_SCOPE" } });
      expect(await plane.call("POST", `/status-pages/00000000-0000-4000-8000-000000000000/${links}/revoke`)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    }
  });

  it("ends when the page becomes private, also once more, and by no other change", async () => {
    const page = await makePage();
    await makeDraft(page);
    const early = await linkTo(page, "design/preview-links");
    await patch(page, { status_page_visibility: "private" });
    expect(await status(early)).toBe(404);
    const [access, preview] = [await linkTo(page, "access-links"), await linkTo(page, "design/preview-links")];
    await patch(page, { status_page_visibility: "private", tagline: "The same" });
    expect([await status(access), await status(preview)]).toEqual([200, 200]);
    await patch(page, { status_page_visibility: "public" });
    await patch(page, { status_page_visibility: "private" });
    expect([await status(access), await status(preview)]).toEqual([404, 404]);
  });

  it("ends when the page gets another password, and the sessions when access is revoked", async () => {
    const page = await makePage({ status_page_visibility: "password", ...ACCESS });
    await makeDraft(page);
    const [pass, preview] = [await unlock(page), await linkTo(page, "design/preview-links")];
    expect([await status(`/pages/${page.slug}`, pass), await status(preview)]).toEqual([200, 200]);
    await patch(page, { status_page_password: ACCESS.status_page_password });
    expect([await status(`/pages/${page.slug}`, pass), await status(preview)]).toEqual([401, 401]);
    const again = await unlock(page);
    expect(await status(`/pages/${page.slug}`, again)).toBe(200);
    await plane.call("POST", `/status-pages/${page.id}/access-links/revoke`);
    expect(await status(`/pages/${page.slug}`, again)).toBe(401);
  });
});

describe("a published design", () => {
  const publish = async (page: StatusPage, draft: Record<string, unknown>) => {
    const { body } = await plane.call("PUT", `/status-pages/${page.id}/design/draft`, draft);
    const version = (body.draft_version as { id: string }).id;
    expect((await plane.call("POST", `/status-pages/${page.id}/design/publish`, { expected_draft_version_id: version })).status).toBe(200);
  };

  it("says which sections are shown and in which order; the page's switches turn theirs off", async () => {
    const page = await makePage({ announcement_text: "Sale!", announcement_type: "success", announcement_enabled: true });
    const order = (body: string) => [...body.matchAll(/id="(overall|open-incidents|services|uptime|past-incidents|metrics|maintenance)"|class="notice (success)"/g)].map(([, id, notice]) => id ?? notice);
    expect(order(await bodyOf(`/pages/${page.slug}`))).toEqual(["success", "overall", "open-incidents", "maintenance", "services", "past-incidents"]);
    const types = ["services_list", "header", "uptime_history", "incident_history", "overall_status"];
    await publish(page, { layout: { sections: types.map((type) => ({ type, enabled: type !== "overall_status" })) } });
    expect(order(await bodyOf(`/pages/${page.slug}`))).toEqual(["services", "uptime", "past-incidents"]);
    await patch(page, { show_uptime_graph: false, show_incident_history: false });
    expect(order(await bodyOf(`/pages/${page.slug}`))).toEqual(["services"]);
  });

  it("brings a template of its own, filled with sections", async () => {
    const page = await makePage({ custom_css: ".brand{color:#102030}", custom_header_html: "<p>Above <b>all</b></p>", custom_footer_html: "<p>Below all</p>", hide_branding: true });
    await publish(page, { template_mode: "custom", template: { html: "<article>Own words{{ overall_status }}{{services_list}}{{overall_status}}</article>", css: "article{max-width:60rem}" } });
    const { body, headers } = await visit(`/pages/${page.slug}`);
    expect(body).toMatch(/<p>Above <b>all<\/b><\/p>.*<article>Own words<section id="overall".*<section id="services".*<\/article>.*<p>Below all<\/p>/s);
    expect(body.split('id="overall"')).toHaveLength(2);
    for (const part of ["article{max-width:60rem}", ".brand{color:#102030}"]) expect(body).toContain(part);
    expect(body).not.toContain("Made with");
    expect(headers["content-security-policy"]).toContain("img-src 'self' data: https:");
    expect(await bodyOf(`/pages/${page.slug}/history`)).toContain("Below all");
  });
});

describe("what programs read", () => {
  it("is Statuspage's summary, word for word", async () => {
    const page = await makePage();
    await open({ title: "For programs" });
    const { headers, body } = await visit(`/pages/${page.slug}/summary.json`);
    expect(headers).toMatchObject({ "content-type": "application/json; charset=utf-8", "access-control-allow-origin": "*" });
    expect(PageSummary.parse(JSON.parse(body))).toMatchObject({ page: { id: page.id, url: `${PUBLIC_URL}/pages/${page.slug}` }, components: [{ id: serviceId, name: "Website" }] });
  });

  it("is a badge of the page's status", async () => {
    const page = await makePage({ status_page_language: "es" });
    const { headers, body } = await visit(`/pages/${page.slug}/badge.svg`);
    expect(headers["content-type"]).toBe("image/svg+xml; charset=utf-8");
    expect(body).toMatch(/^<svg[^>]+role="img"/);
  });
});

it("an address with a slash at its end leads to the page", async () => {
  expect(await visit("/pages/acme/?access=1")).toMatchObject({ statusCode: 301, headers: { location: "/pages/acme?access=1" } });
  expect((await visit("/pages/%2F%2Fevil.example/")).headers.location).toBe("/pages/%2F%2Fevil.example");
});

describe("the history", () => {
  it("shows three months and leads to older and newer ones", async () => {
    const page = await makePage();
    const latest = await bodyOf(`/pages/${page.slug}/history`);
    expect([...latest.matchAll(/id="month-(\d{4}-\d\d)"/g)]).toHaveLength(3);
    expect(latest).not.toMatch(/rel="(?:next|prev)"/);
    const past = await bodyOf(`/pages/${page.slug}/history?month=2026-01`);
    expect([...past.matchAll(/id="month-(\d{4}-\d\d)"/g)].map(([, month]) => month)).toEqual(["2026-01", "2025-12", "2025-11"]);
    expect(past).toContain(`rel="next" href="/pages/${page.slug}/history?month=2026-04"`);
    for (const month of ["2026-13", "1999-01", "x", "2026-1", "2026-01&month=2026-02"]) expect((await visit(`/pages/${page.slug}/history?month=${month}`)).statusCode, month).toBe(404);
  });
});
