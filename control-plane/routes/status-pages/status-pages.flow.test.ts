import { asc, eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CreatedOrganization } from "../../../domain/organizations/create.ts";
import { listPublicPages } from "../../../domain/status-pages/read-public-page.ts";
import { newId } from "../../../platform/ids.ts";
import { verifyPassword } from "../../../platform/password.ts";
import type { StatusPage } from "../../../schemas/api/status-pages.ts";
import { auditEntries, designVersions, organizations, statusPages } from "../../../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

const UNKNOWN_ID = "5c1f8f6e-1111-4222-8333-444455556666";

const as = ({ apiKey }: CreatedOrganization) => ({ "x-api-key": apiKey });
const auditOf = (resourceId: string) => plane.database.select().from(auditEntries).where(eq(auditEntries.resourceId, resourceId)).orderBy(asc(auditEntries.createdAt));

async function make(fields: object = {}, by = plane.organization): Promise<StatusPage> {
  const answer = await plane.call("POST", "/status-pages", { name: "Page", ...fields }, as(by));
  expect(answer.body).not.toHaveProperty("error");
  expect(answer.status).toBe(201);
  return answer.body.page as StatusPage;
}

async function pagesOf(by: CreatedOrganization): Promise<StatusPage[]> {
  return (await plane.call("GET", "/status-pages", undefined, as(by))).body.pages as StatusPage[];
}

describe("a status page", () => {
  it("is made of a name alone, with every field of the specification", async () => {
    const page = await make({ name: " Grüne & Co " });
    expect(page).toEqual({
      id: expect.any(String), organization_id: plane.organization.organizationId, name: "Grüne & Co", slug: "grune-co", custom_domain: null, custom_domain_status: null, custom_domain_record: null, logo_url: null, primary_color: "#2563eb", secondary_color: "#1e293b",
      favicon_url: null, tagline: null, theme_mode: "system", status_page_theme: "classic", custom_css: null, custom_header_html: null, custom_footer_html: null, hide_branding: false,
      status_page_visibility: "public", status_page_password_hint: null, announcement_text: null, announcement_type: "info", announcement_enabled: false, status_page_language: "en", match_visitor_language: false, font_family: "system",
      show_subscribe_form: true, show_incident_history: true, show_uptime_graph: true, header_style: "left", border_radius: "md", custom_template: null, is_default: false,
      created_at: expect.any(String), updated_at: expect.any(String),
    });
    const { id, slug, custom_domain, status_page_visibility, is_default, created_at, updated_at } = page;
    expect(await pagesOf(plane.organization)).toContainEqual({ id, name: page.name, slug, custom_domain, status_page_visibility, is_default, created_at, updated_at });
    expect((await plane.call("GET", `/status-pages/${id}`)).body).toEqual({ page });
    expect((await make({ name: "Grüne & Co" })).slug).toMatch(/^grune-co-[a-z0-9]{6}$/);
  });

  it("keeps CSS as a browser reads it", async () => {
    const page = await make({ name: "Windows", custom_css: "a{}\r\nb{}\rc{}", custom_template: { html: "", css: "d{}\r\n" } });
    expect(page).toMatchObject({ custom_css: "a{}\nb{}\nc{}", custom_template: { html: "", css: "d{}\n" } });
    const { body } = await plane.call("PUT", `/status-pages/${page.id}/design/draft`, { template: { html: "", css: "e{}\r" } });
    expect(body).toMatchObject({ draft_version: { template: { css: "e{}\n" } } });
  });

  it("takes every field, normalised, at creation and at a change, each audited without the password", async () => {
    const fields = {
      name: "Full", slug: "full-page", custom_domain: "Status.Bücher.Example.", logo_url: "https://example.com/logo.svg", favicon_url: "http://example.com/f.ico", primary_color: "#AbC", secondary_color: "#A1B2C3",
      tagline: "Hello", theme_mode: "dark", status_page_theme: "compact", custom_css: "a{}", custom_header_html: "<b>", custom_footer_html: "<i>", hide_branding: true, status_page_visibility: "password",
      status_page_password: "correct horse", status_page_password_hint: "a horse", announcement_text: "Moving", announcement_type: "warning", announcement_enabled: true, status_page_language: "pt-BR", match_visitor_language: true,
      font_family: "inter", show_subscribe_form: false, show_incident_history: false, show_uptime_graph: false, header_style: "banner", border_radius: "full", custom_template: { html: "{{header}}" },
    };
    const { status_page_password: _, ...shown } = { ...fields, custom_domain: "status.xn--bcher-kva.example", primary_color: "#aabbcc", secondary_color: "#a1b2c3" };
    const page = await make(fields);
    expect(page).toMatchObject(shown);
    const [row] = await plane.database.select().from(statusPages).where(eq(statusPages.id, page.id));
    expect(await verifyPassword(row!.passwordHash!, "correct horse")).toBe(true);

    const changed = await plane.call("PATCH", `/status-pages/${page.id}`, { status_page_password: "battery staple", allowed_ips: ["10.1.2.3/8", "10.0.0.0/8", "2001:DB8::1"], custom_css: null, slug: "full-page-2" });
    expect(changed.body).toEqual({ page: { ...page, custom_css: null, slug: "full-page-2", updated_at: expect.any(String) } });
    const [after] = await plane.database.select().from(statusPages).where(eq(statusPages.id, page.id));
    expect(after!.allowedIps).toEqual(["10.0.0.0/8", "2001:db8::1/128"]);
    expect(await verifyPassword(after!.passwordHash!, "battery staple")).toBe(true);

    expect((await plane.call("DELETE", `/status-pages/${page.id}`)).body).toEqual({ success: true });
    expect((await plane.call("GET", `/status-pages/${page.id}`)).status).toBe(404);
    const entries = await auditOf(page.id);
    expect(entries.map(({ action }) => action)).toEqual(["status_page.created", "status_page.updated", "status_page.deleted"]);
    expect(entries[1]!.changedFields).toEqual(["allowed_ips", "custom_css", "slug", "status_page_password"]);
    for (const secret of ["correct horse", "battery staple", "argon2"]) expect(JSON.stringify([entries, changed.body])).not.toContain(secret);
  });

  it.each([
    ["a slug that is too short", { slug: "ab" }, "/slug"], ["a slug with capitals", { slug: "Acme" }, "/slug"], ["a slug that ends in a dash", { slug: "acme-" }, "/slug"], ["a slug of 64", { slug: "a".repeat(64) }, "/slug"],
    ["a slug that is an id", { slug: "5c1f8f6e-1111-4222-8333-444455556666" }, "/slug"],
    ["a color by name", { primary_color: "red" }, "/primary_color"], ["a color of four digits", { secondary_color: "#abcd" }, "/secondary_color"], ["no color", { primary_color: null }, "/primary_color"],
    ["a script as logo", { logo_url: "javascript:alert(1)" }, "/logo_url"], ["a data URL", { favicon_url: "data:image/png;base64,AAAA" }, "/favicon_url"], ["a URL without host", { logo_url: "https://:" }, "/logo_url"],
    ["a domain with scheme", { custom_domain: "https://status.example.com" }, "/custom_domain"], ["a domain of one label", { custom_domain: "localhost" }, "/custom_domain"], ["an address as domain", { custom_domain: "10.0.0.1" }, "/custom_domain"],
    ["an unknown theme", { theme_mode: "drak" }, "/theme_mode"], ["an unknown visibility", { status_page_visibility: "secret" }, "/status_page_visibility"], ["an unknown language", { status_page_language: "xx" }, "/status_page_language"],
    ["a range that is none", { allowed_ips: ["10.0.0.0/8", "10.0.0.0/33"] }, "/allowed_ips/1"], ["CSS that is too large", { custom_css: "ü".repeat(40_000) }, "/custom_css"],
    ["a template with another field", { custom_template: { html: "", js: "" } }, "/custom_template/js"], ["an unknown field", { colour: "#fff" }, "/colour"], ["an empty password", { status_page_password: "" }, "/status_page_password"], ["a short password", { status_page_password: "1234567" }, "/status_page_password"],
    ["password visibility without password", { status_page_visibility: "password" }, "/status_page_password"], ["restriction to no address", { status_page_visibility: "ip_restricted", allowed_ips: [] }, "/allowed_ips"],
    ["an empty name", { name: " " }, "/name"],
  ])("is refused with the place: %s", async (_, fields, path) => {
    expect((await plane.call("POST", "/status-pages", { name: "x", ...fields })).body).toMatchObject({ code: "INVALID_REQUEST", path });
    expect((await plane.call("PATCH", `/status-pages/${plane.organization.pageId}`, fields)).body).toMatchObject({ code: "INVALID_REQUEST", path });
  });

  it.each<[string, object, string, RegExp]>([
    ["an address without https", { custom_css: "a{color:red}\nb{background:url(http://cdn.example/x.png)}" }, "/custom_css", /^Line 2: The address/],
    ["imported CSS", { custom_css: "@import 'https://evil.example/x.css';" }, "/custom_css", /@import is not allowed/],
    ["CSS that is not closed", { custom_css: "a{color:red" }, "/custom_css", /A } is missing/],
    ["CSS that ends its element", { custom_css: "a{}</style><script>alert(1)</script>" }, "/custom_css", /<\/ or <!.*There are \d+ more/],
    ["a script in the header", { custom_header_html: "<h1>Acme</h1><script>alert(1)</script>" }, "/custom_header_html", /^The tag <script> is not allowed/],
    ["a handler in the footer", { custom_footer_html: '<img src="/a.png" alt="" onerror="alert(1)">' }, "/custom_footer_html", /attribute onerror/],
    ["a script as link", { custom_footer_html: '<a href="java&#10;script:alert(1)">x</a>' }, "/custom_footer_html", /must be https/],
    ["a form in the template", { custom_template: { html: "<form></form>" } }, "/custom_template/html", /<form>/],
    ["unsafe CSS in the template", { custom_template: { html: "", css: "a{behavior:url(#x)}" } }, "/custom_template/css", /behavior/],
    ["an unknown section in the template", { custom_template: { html: "{{weather}}" } }, "/custom_template/html", /no section for \{\{weather\}\}/],
  ])("is refused, as in a design: %s", async (_, fields, path, message) => {
    const refused = { status: 400, body: { code: "INVALID_REQUEST", path, error: expect.stringMatching(message), fix: expect.any(String) } };
    expect(await plane.call("POST", "/status-pages", { name: "x", ...fields })).toMatchObject(refused);
    expect(await plane.call("PATCH", `/status-pages/${plane.organization.pageId}`, fields)).toMatchObject(refused);
  });

  it("keeps its password while it stands behind it", async () => {
    const { id } = await make({ status_page_visibility: "password", status_page_password: "open sesame" });
    expect((await plane.call("PATCH", `/status-pages/${id}`, { status_page_password: null })).body).toMatchObject({ code: "INVALID_REQUEST", path: "/status_page_password" });
    expect((await plane.call("PATCH", `/status-pages/${id}`, { status_page_password: null, status_page_visibility: "public" })).status).toBe(200);
    expect((await plane.call("PATCH", `/status-pages/${id}`, { status_page_visibility: "password" })).status).toBe(400);
  });

  it("has a slug that no other page has, of any organization", async () => {
    const other = await plane.createOrganization("pro");
    await make({ slug: "taken-slug" }, other);
    const mine = await make();
    for (const [method, path] of [["POST", "/status-pages"], ["PATCH", `/status-pages/${mine.id}`]] as const) {
      expect(await plane.call(method, path, { name: "x", slug: "taken-slug" })).toMatchObject({ status: 409, body: { code: "SLUG_TAKEN", path: "/slug" } });
    }
    const racing = await Promise.all(Array.from({ length: 8 }, () => plane.call("POST", "/status-pages", { name: "x", slug: "raced-slug" })));
    expect(racing.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
  });

  it("warns when a field is changed that its design holds too", async () => {
    const { id } = await make();
    expect((await plane.call("PATCH", `/status-pages/${id}`, { primary_color: "#000" })).body).not.toHaveProperty("warning");
    const draftVersionId = newId();
    const themeTokens = { brand: { primary: "#000000", secondary: "#000000" }, font: { family: "inter" } };
    const version = { organizationId: plane.organization.organizationId, statusPageId: id, versionNumber: 1, themeTokens, layout: { sections: [] }, createdBy: "test", createdAt: new Date() };
    await plane.database.insert(designVersions).values({ ...version, id: draftVersionId, state: "draft", templateMode: "default" });
    await plane.database.update(statusPages).set({ draftVersionId }).where(eq(statusPages.id, id));
    expect((await plane.call("PATCH", `/status-pages/${id}`, { primary_color: "#fff" })).body.warning).toMatch(/draft design.*primary_color/);
    expect((await plane.call("PATCH", `/status-pages/${id}`, { name: "Other" })).body).not.toHaveProperty("warning");
  });
});

describe("the list of pages", () => {
  it("is newest first, wherever the default page comes, and goes page by page", async () => {
    const team = await plane.createOrganization("team");
    const made = [await make({}, team), await make({ is_default: true }, team), await make({}, team)].map(({ id }) => id).toReversed();
    const ids = (await pagesOf(team)).map(({ id }) => id);
    expect(ids.slice(0, 3)).toEqual(made);
    const { pages } = (await plane.call("GET", "/status-pages?limit=2&offset=1", undefined, as(team))).body;
    expect((pages as StatusPage[]).map(({ id }) => id)).toEqual(ids.slice(1, 3));
  });
});

describe("the default page", () => {
  it("is moved and never taken away, whoever moves it at once", async () => {
    const team = await plane.createOrganization("team");
    const pages = await Promise.all(Array.from({ length: 6 }, () => make({}, team)));
    expect(pages.map((page) => page.is_default)).not.toContain(true);
    const moves = await Promise.all(pages.map(({ id }) => plane.call("PATCH", `/status-pages/${id}`, { is_default: true }, as(team))));
    expect(moves.map(({ status }) => status)).toEqual(pages.map(() => 200));
    const [first, ...rest] = (await pagesOf(team)).filter((page) => page.is_default);
    expect(rest).toEqual([]);
    expect((await plane.call("PATCH", `/status-pages/${first!.id}`, { is_default: false }, as(team))).body).toMatchObject({ code: "DEFAULT_PAGE", path: "/is_default" });
    expect((await auditOf(team.pageId)).at(-1)).toMatchObject({ action: "status_page.updated", changedFields: ["is_default"], before: { is_default: true }, after: { is_default: false } });
    expect(await make({ is_default: true }, team)).toMatchObject({ is_default: true });
    expect((await pagesOf(team)).filter((page) => page.is_default)).toHaveLength(1);
  });

  it("cannot be deleted, nor can the only page", async () => {
    const team = await plane.createOrganization("team");
    expect(await plane.call("DELETE", `/status-pages/${team.pageId}`, undefined, as(team))).toMatchObject({ status: 400, body: { code: "ONLY_PAGE" } });
    const { id } = await make({}, team);
    expect(await plane.call("DELETE", `/status-pages/${team.pageId}`, undefined, as(team))).toMatchObject({ status: 400, body: { code: "DEFAULT_PAGE" } });
    const [moved, ...deleted] = await Promise.all([
      plane.call("PATCH", `/status-pages/${id}`, { is_default: true }, as(team)),
      ...[id, team.pageId, id, team.pageId].map((each) => plane.call("DELETE", `/status-pages/${each}`, undefined, as(team))),
    ]);
    const left = await pagesOf(team);
    expect(left.filter((page) => page.is_default)).toHaveLength(1);
    expect(deleted.filter(({ status }) => status === 200).length).toBe(2 - left.length);
    expect([200, 404]).toContain(moved.status);
  });
});

describe("a plan", () => {
  it.each([
    { plan: "free", field: "status_page_visibility", value: "password", needs: "pro" }, { plan: "free", field: "status_page_visibility", value: "ip_restricted", needs: "pro" },
    { plan: "free", field: "status_page_visibility", value: "private", needs: "team" }, { plan: "pro", field: "status_page_visibility", value: "private", needs: "team" },
    { plan: "free", field: "custom_domain", value: "gated.example.com", needs: "pro" }, { plan: "free", field: "custom_css", value: "a{}", needs: "pro" }, { plan: "free", field: "custom_header_html", value: "a", needs: "pro" },
    { plan: "free", field: "custom_footer_html", value: "a", needs: "pro" }, { plan: "free", field: "custom_template", value: { html: "a" }, needs: "pro" }, { plan: "free", field: "hide_branding", value: true, needs: "pro" },
  ] as const)("$plan refuses $field and names the plan that has it", async ({ plan, field, value, needs }) => {
    const organization = await plane.createOrganization(plan);
    const refusal = { status: 403, body: { code: "PLAN_RESTRICTED", path: `/${field}`, error: expect.stringContaining(`needs the ${needs} plan`) as string } };
    expect(await plane.call("POST", "/status-pages", { name: "x", [field]: value }, as(organization))).toMatchObject(refusal);
    expect(await plane.call("PATCH", `/status-pages/${organization.pageId}`, { [field]: value }, as(organization))).toMatchObject(refusal);
  });

  it("that became smaller leaves what is there, and takes nothing new", async () => {
    const organization = await plane.createOrganization("pro");
    const path = `/status-pages/${organization.pageId}`;
    expect((await plane.call("PATCH", path, { custom_css: "a{}", hide_branding: true }, as(organization))).status).toBe(200);
    await plane.database.update(organizations).set({ plan: "free" }).where(eq(organizations.id, organization.organizationId));
    expect((await plane.call("PATCH", path, { custom_css: "a{}", hide_branding: true, name: "Still" }, as(organization))).status).toBe(200);
    expect((await plane.call("PATCH", path, { custom_css: "b{}" }, as(organization))).status).toBe(403);
    expect((await plane.call("PATCH", path, { custom_css: null }, as(organization))).status).toBe(200);
  });

  it("limits the number of pages, also when many are made at once", async () => {
    const pro = await plane.createOrganization("pro");
    const answers = await Promise.all(Array.from({ length: 10 }, () => plane.call("POST", "/status-pages", { name: "Page" }, as(pro))));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(4);
    expect(answers.find(({ status }) => status === 403)!.body).toMatchObject({ code: "PLAN_LIMIT", fix: expect.stringContaining("team plan allows 50") as string });
    expect(await pagesOf(pro)).toHaveLength(5);
  });
});

describe("who may", () => {
  it("not see another organization's page, which is one that does not exist", async () => {
    const other = await plane.createOrganization("team");
    for (const [method, body] of [["GET"], ["PATCH", { name: "mine" }], ["PATCH", { status_page_password: "open sesame" }], ["DELETE"]] as const) {
      const [foreign, unknown, malformed] = await Promise.all([plane.organization.pageId, UNKNOWN_ID, "nonsense"].map((id) => plane.call(method, `/status-pages/${id}`, body, { ...as(other), "x-request-id": "same" })));
      expect(foreign!.status).toBe(404);
      expect([foreign!.body, foreign!.body]).toEqual([unknown!.body, malformed!.body]);
    }
  });

  it("not write with a key that may read", async () => {
    const { body } = await plane.call("POST", "/api-keys", { name: "reader", scopes: ["status_pages:read"] });
    const reader = { "x-api-key": body.key as string };
    expect((await plane.call("GET", "/status-pages", undefined, reader)).status).toBe(200);
    for (const [method, path, given] of [["POST", "/status-pages", { name: "x" }], ["PATCH", `/status-pages/${UNKNOWN_ID}`, {}], ["DELETE", `/status-pages/${UNKNOWN_ID}`, undefined]] as const) {
      expect(await plane.call(method, path, given, reader)).toMatchObject({ status: 403, body: { code: "INSUFFICIENT_SCOPE", error: "Insufficient scope: status_pages:write required" } });
    }
  });

  it("not see in public what is not public", async () => {
    const access = { status_page_password: "open sesame", allowed_ips: ["10.0.0.0/8"] };
    for (const [visibility, status, named] of [["public", 200, true], ["unlisted", 200, false], ["password", 401, false], ["ip_restricted", 404, false], ["private", 404, false]] as const) {
      const { slug } = await make({ name: "0 Visible", status_page_visibility: visibility, ...access });
      expect((await listPublicPages(plane.database, 1_000)).some((page) => page.slug === slug), visibility).toBe(named);
      expect((await plane.app.inject({ method: "GET", url: `/pages/${slug}` })).statusCode, visibility).toBe(status);
    }
  });

  it("see a private page by its link alone, and only as long as that lasts", async () => {
    const page = await make({ name: "Partners", status_page_visibility: "private" });
    const made = await plane.call("POST", `/status-pages/${page.id}/access-links`, { expires_in_seconds: 3600 });
    expect(made.status).toBe(201);
    const { pathname, search } = new URL(made.body.url as string);
    expect(pathname).toBe(`/pages/${page.slug}`);
    const see = (url: string) => plane.app.inject({ method: "GET", url }).then(({ statusCode }) => statusCode);
    expect(await see(pathname + search)).toBe(200);
    expect(await see(pathname)).toBe(404);
    expect(await see(`${pathname}${search.slice(0, -1)}`)).toBe(404);
    expect((await auditOf(page.id)).map(({ after }) => JSON.stringify(after)).join()).not.toContain(search.slice(8));
    const open = await make({ name: "Open" });
    expect(await plane.call("POST", `/status-pages/${open.id}/access-links`, {})).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST" } });
  });
});
