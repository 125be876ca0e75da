import { and, asc, eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { showsPreview } from "../../../domain/designs/preview-link.ts";
import type { CreatedOrganization } from "../../../domain/organizations/create.ts";
import { newId } from "../../../platform/ids.ts";
import type { CompactDesignVersion, DesignVersion } from "../../../schemas/api/designs.ts";
import { auditEntries, designVersions, organizations, statusPages } from "../../../schemas/tables/all.ts";
import { startTestControlPlane, type Answer, type TestControlPlane } from "../../../testing/control-plane.ts";

let plane: TestControlPlane;
let stranger: CreatedOrganization;

beforeAll(async () => {
  plane = await startTestControlPlane();
  stranger = await plane.createOrganization("pro");
});
afterAll(() => plane.stop());

const TOKENS = { brand: { primary: "#1D4ED8", secondary: "#123" }, font: { family: "inter" } };
const STORED_TOKENS = { brand: { primary: "#1d4ed8", secondary: "#112233" }, font: { family: "inter" } };
const TEMPLATE = { html: "<main>{{header}}{{services_list}}</main>", css: "main { color: red }" };

/** A page without any design, straight in the table: what is tested here is its design. */
async function makePage(organizationId = plane.organization.organizationId): Promise<string> {
  const id = newId();
  await plane.database.insert(statusPages).values({ id, organizationId, name: "Acme", slug: `acme-${id}` });
  return id;
}

type Method = "GET" | "POST" | "PUT";
const design = (method: Method, page: string, path = "", body?: unknown, headers?: Record<string, string>): Promise<Answer> => plane.call(method, `/status-pages/${page}/design${path}`, body, headers);
const put = (page: string, body: unknown, headers?: Record<string, string>) => design("PUT", page, "/draft", body, headers);
const publish = (page: string, id: string, headers?: Record<string, string>) => design("POST", page, "/publish", { expected_draft_version_id: id }, headers);

async function putDraft(page: string, body: unknown): Promise<DesignVersion> {
  const answer = await put(page, body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.draft_version as DesignVersion;
}

async function publishNew(page: string, body: unknown): Promise<string> {
  const { id } = await putDraft(page, body);
  expect(await publish(page, id)).toMatchObject({ status: 200, body: { success: true, status_page_id: page, current_version_id: id } });
  return id;
}

const withoutRequestId = ({ status, body }: Answer) => ({ status, body: { ...body, request_id: undefined } });

describe("the life of a design", () => {
  it("ends when it is withdrawn; it can be restored", async () => {
    const page = await makePage();
    const remove = () => plane.call("DELETE", `/status-pages/${page}/design`);
    expect(await remove()).toMatchObject({ status: 404, body: { code: "NOT_FOUND", error: "No design of this page is published." } });
    const id = await publishNew(page, { theme_tokens: TOKENS });
    expect(await remove()).toMatchObject({ status: 200, body: { success: true } });
    expect((await design("GET", page)).body).toMatchObject({ current_version_id: null, current_version: null });
    expect((await design("GET", page, `/versions/${id}`)).body).toMatchObject({ version: { state: "archived" } });
    expect((await remove()).status).toBe(404);
    expect((await design("POST", page, `/versions/${id}/restore`)).status).toBe(200);
    const [entry] = await plane.database.select().from(auditEntries).where(and(eq(auditEntries.resourceId, id), eq(auditEntries.action, "design.withdrawn")));
    expect(entry).toMatchObject({ before: { state: "published" }, after: { state: "archived", current_version_id: null } });
  });

  it("goes from nothing by a draft to what is published, and on to the next", async () => {
    const page = await makePage();
    expect((await design("GET", page)).body).toEqual({ status_page_id: page, current_version_id: null, draft_version_id: null, current_version: null, draft_version: null, effective_design: null });

    const draft = await putDraft(page, { theme_tokens: TOKENS, summary: "Our colors" });
    expect(draft).toMatchObject({ status_page_id: page, version_number: 1, state: "draft", base_version_id: null, theme_tokens: STORED_TOKENS, template: null, template_mode: "default", summary: "Our colors", published_at: null });
    expect(draft.created_by).toMatch(/^api_key:./);
    expect(draft.layout.sections.find(({ type }) => type === "header")).toEqual({ type: "header", enabled: true });
    expect((await design("GET", page)).body).toEqual({ status_page_id: page, current_version_id: null, draft_version_id: draft.id, current_version: null, draft_version: draft, effective_design: draft });

    expect(await publish(page, draft.id.toUpperCase())).toMatchObject({ status: 200, body: { success: true, current_version_id: draft.id, warnings: [] } });
    const published = (await design("GET", page)).body;
    expect(published).toMatchObject({ current_version_id: draft.id, draft_version_id: null, draft_version: null, effective_design: { id: draft.id, state: "published", published_at: expect.any(String) } });

    const layout = { sections: [{ type: "header", enabled: true }, { type: "overall_status", enabled: true }] };
    const second = await putDraft(page, { layout });
    expect(second).toMatchObject({ version_number: 2, state: "draft", base_version_id: draft.id, theme_tokens: STORED_TOKENS, layout, summary: null });
    expect(await putDraft(page, { summary: "Less" })).toEqual({ ...second, summary: "Less" });
    expect((await design("GET", page)).body).toMatchObject({ effective_design: { id: draft.id } });

    await publish(page, second.id);
    expect((await design("GET", page, `/versions/${draft.id}`)).body.version).toMatchObject({ id: draft.id, state: "archived", layout: draft.layout });
    expect((await design("GET", page, "/versions")).body).toMatchObject({ current_version_id: second.id, draft_version_id: null, versions: [{ id: second.id, state: "published" }, { id: draft.id, state: "archived" }] });
  });

  it("begins with the page's own looks, and gives its looks to the page when published", async () => {
    const page = await makePage();
    await plane.database.update(statusPages).set({ primaryColor: "#7c2d12", secondaryColor: "#000000", fontFamily: "lato", customTemplate: TEMPLATE }).where(eq(statusPages.id, page));
    const draft = await putDraft(page, {});
    expect(draft).toMatchObject({ theme_tokens: { brand: { primary: "#7c2d12", secondary: "#000000" }, font: { family: "lato" } }, template: TEMPLATE, template_mode: "custom" });
    const looks = async () => (await plane.database.select({ primary: statusPages.primaryColor, secondary: statusPages.secondaryColor, font: statusPages.fontFamily, template: statusPages.customTemplate }).from(statusPages).where(eq(statusPages.id, page)))[0];
    await publish(page, draft.id);
    expect(await looks()).toEqual({ primary: "#7c2d12", secondary: "#000000", font: "lato", template: TEMPLATE });
    await publishNew(page, { theme_tokens: TOKENS, template: null, template_mode: "default" });
    expect(await looks()).toEqual({ primary: "#1d4ed8", secondary: "#112233", font: "inter", template: null });
  });

  it("is restored as a draft, replacing the one that is there", async () => {
    const page = await makePage();
    const first = await publishNew(page, { theme_tokens: TOKENS, summary: "First" });
    const second = await publishNew(page, { theme_tokens: { ...TOKENS, font: { family: "mono" } } });
    const restored = (await design("POST", page, `/versions/${first}/restore`)).body.draft_version as DesignVersion;
    expect(restored).toMatchObject({ version_number: 3, state: "draft", base_version_id: first, theme_tokens: STORED_TOKENS, summary: "First" });
    expect((await design("GET", page)).body).toMatchObject({ current_version_id: second, draft_version_id: restored.id });
    expect((await design("POST", page, `/versions/${second}/restore`)).body.draft_version).toMatchObject({ id: restored.id, version_number: 3, base_version_id: second, theme_tokens: { font: { family: "mono" } }, summary: null });
    expect((await design("POST", page, `/versions/${restored.id}/restore`)).body.draft_version).toMatchObject({ id: restored.id, base_version_id: second });
  });

  it("leaves one audit entry for each change, in the change's transaction", async () => {
    const page = await makePage();
    const first = await publishNew(page, { theme_tokens: TOKENS });
    await put(page, { theme_tokens: { brand: { primary: "red", secondary: "#000" }, font: { family: "inter" } } });
    await design("POST", page, `/versions/${first}/restore`);
    const entries = await plane.database.select().from(auditEntries).where(and(eq(auditEntries.organizationId, plane.organization.organizationId), eq(auditEntries.resourceType, "design_version"))).orderBy(asc(auditEntries.createdAt));
    const own = entries.filter(({ after }) => (after as { status_page_id: string }).status_page_id === page);
    expect(own.map(({ action }) => action)).toEqual(["design.draft_saved", "design.published", "design.restored"]);
    expect(own[0]).toMatchObject({ resourceId: first, before: null, after: { theme_tokens: STORED_TOKENS } });
    expect(own[1]!.changedFields).toEqual(["current_version_id", "published_at", "state"]);
  });
});

describe("validation", () => {
  it("tells errors and warnings and saves nothing", async () => {
    const page = await makePage();
    expect(await design("POST", page, "/draft/validate")).toMatchObject({ status: 404, body: { code: "NOT_FOUND", error: "The page has no draft." } });
    expect(await design("POST", page, "/draft/validate", { template_mode: "custom", theme_tokens: { ...TOKENS, brand: { primary: "#ff0", secondary: "blue" } } })).toMatchObject({
      status: 200,
      body: {
        valid: false,
        errors: [{ path: "/theme_tokens/brand/secondary", code: "INVALID_COLOR", severity: "error" }, { path: "/template", code: "TEMPLATE_REQUIRED", severity: "error" }],
        warnings: [{ path: "/theme_tokens/brand/primary", code: "LOW_CONTRAST", severity: "warning" }],
      },
    });
    expect((await design("GET", page)).body.draft_version_id).toBeNull();

    await putDraft(page, { layout: { sections: [{ type: "services_list", enabled: true }, { type: "header", enabled: true }] } });
    for (const headers of [undefined, { "content-type": "application/json" }]) {
      expect(await design("POST", page, "/draft/validate", undefined, headers)).toMatchObject({ status: 200, body: { valid: true, errors: [], warnings: [{ code: "SECTION_DISABLED" }] } });
    }
  });

  it("refuses to save errors, with all of them, and answers warnings beside the draft", async () => {
    const page = await makePage();
    const sections = [{ type: "header", enabled: true }, { type: "header", enabled: true }, { type: "overall_status", enabled: true }];
    expect(await put(page, { layout: { sections }, template: { html: "{{x}}<script></script>" } })).toMatchObject({
      status: 400,
      body: { code: "INVALID_DESIGN", path: "/layout/sections/1/type", issues: [{ code: "DUPLICATE_SECTION" }, { code: "UNKNOWN_PLACEHOLDER" }, { code: "UNSAFE_HTML" }] },
    });
    expect((await design("GET", page)).body.draft_version_id).toBeNull();
    expect(await put(page, { theme_tokens: { ...TOKENS, brand: { primary: "#fff", secondary: "#000" } } })).toMatchObject({ status: 200, body: { warnings: [{ code: "LOW_CONTRAST", path: "/theme_tokens/brand/primary" }] } });
  });

  it("refuses to publish a draft that has become invalid", async () => {
    const page = await makePage();
    const { id } = await putDraft(page, {});
    await plane.database.update(designVersions).set({ layout: { sections: [] } }).where(eq(designVersions.id, id));
    expect(await publish(page, id)).toMatchObject({ status: 400, body: { code: "INVALID_DESIGN", issues: [{ code: "NO_SECTION_ENABLED" }] } });
    expect((await design("GET", page)).body).toMatchObject({ current_version_id: null, draft_version_id: id });
  });

  it.each([
    { name: "an unknown field", body: { colour: 1 }, path: "/colour" },
    { name: "an unknown token", body: { theme_tokens: { ...TOKENS, radius: "md" } }, path: "/theme_tokens/radius" },
    { name: "an unknown brand color", body: { theme_tokens: { ...TOKENS, brand: { ...TOKENS.brand, accent: "#fff" } } }, path: "/theme_tokens/brand/accent" },
    { name: "tokens without a font", body: { theme_tokens: { brand: TOKENS.brand } }, path: "/theme_tokens/font" },
    { name: "an unknown font", body: { theme_tokens: { ...TOKENS, font: { family: "robotto" } } }, path: "/theme_tokens/font/family" },
    { name: "an unknown field of the layout", body: { layout: { sections: [], columns: 2 } }, path: "/layout/columns" },
    { name: "an unknown field of a section", body: { layout: { sections: [{ type: "header", enabled: true, title: "x" }] } }, path: "/layout/sections/0/title" },
    { name: "an unknown section", body: { layout: { sections: [{ type: "service_list", enabled: true }] } }, path: "/layout/sections/0/type" },
    { name: "an unknown mode", body: { template_mode: "html" }, path: "/template_mode" },
    { name: "a template with scripts of its own", body: { template: { html: "", js: "1" } }, path: "/template/js" },
    { name: "a base that is no version of the page", body: { base_version_id: newId() }, path: "/base_version_id" },
    { name: "a base that is no id", body: { base_version_id: "1" }, path: "/base_version_id" },
  ])("refuses $name as no draft at all", async ({ body, path }) => {
    const page = await makePage();
    for (const answer of [await put(page, body), await design("POST", page, "/draft/validate", body)]) expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path } });
  });

  it("refuses a body that is missing where it is needed", async () => {
    const page = await makePage();
    expect(await design("PUT", page, "/draft")).toMatchObject({ status: 400, body: { code: "INVALID_JSON" } });
    expect(await design("POST", page, "/publish", {})).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path: "/expected_draft_version_id" } });
    expect(await publish(page, "x")).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path: "/expected_draft_version_id" } });
  });
});

describe("publishing", () => {
  it("is done by one of twenty at once, and nobody ever reads a half-published design", async () => {
    const page = await makePage();
    const first = await publishNew(page, {});
    const { id } = await putDraft(page, { theme_tokens: TOKENS });
    const publishing = { done: false };
    const reader = (async () => {
      for (let reads = 0; !publishing.done || reads < 5; reads++) {
        const { body } = await design("GET", page);
        const [current, draft] = [body.current_version as DesignVersion, body.draft_version as DesignVersion | null];
        expect([current.id, current.state, draft?.id, draft?.state]).toEqual(body.current_version_id === first ? [first, "published", id, "draft"] : [id, "published", undefined, undefined]);
      }
    })();
    const answers = await Promise.all(Array.from({ length: 20 }, () => publish(page, id)));
    publishing.done = true;
    await reader;
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status, body }) => status === 404 && body.code === "NOT_FOUND")).toHaveLength(19);
    const rows = await plane.database.select({ state: designVersions.state }).from(designVersions).where(eq(designVersions.statusPageId, page)).orderBy(asc(designVersions.versionNumber));
    expect(rows).toEqual([{ state: "archived" }, { state: "published" }]);
  });

  it("refuses another draft, and any while there is none", async () => {
    const page = await makePage();
    expect(await publish(page, newId())).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    const first = await publishNew(page, {});
    for (const any of [first, newId()]) expect(await publish(page, any)).toMatchObject({ status: 404, body: { code: "NOT_FOUND", error: "The page has no draft." } });
    const { id } = await putDraft(page, {});
    for (const other of [first, newId()]) expect(await publish(page, other)).toMatchObject({ status: 409, body: { code: "DRAFT_MISMATCH", path: "/expected_draft_version_id" } });
    expect((await design("GET", page)).body).toMatchObject({ current_version_id: first, draft_version_id: id });
  });

  it("twenty saves at once make one draft", async () => {
    const page = await makePage();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => put(page, { summary: String(n) })));
    expect(new Set(answers.map(({ body }) => (body.draft_version as DesignVersion).id)).size).toBe(1);
  });
});

describe("the list of versions", () => {
  it("pages by version number, the same while versions are added", async () => {
    const page = await makePage();
    for (let n = 1; n <= 5; n++) await publishNew(page, { summary: `v${n}` });
    const numbers = (answer: Answer) => (answer.body.versions as CompactDesignVersion[]).map((version) => version.version_number);
    const one = await design("GET", page, "/versions?limit=2");
    expect([numbers(one), one.body.next_cursor]).toEqual([[5, 4], 4]);
    await publishNew(page, { summary: "meanwhile" });
    await putDraft(page, {});
    const two = await design("GET", page, `/versions?limit=2&cursor=${one.body.next_cursor as number}`);
    expect([numbers(two), two.body.next_cursor]).toEqual([[3, 2], 2]);
    const three = await design("GET", page, `/versions?limit=2&cursor=${two.body.next_cursor as number}`);
    expect([numbers(three), three.body.next_cursor]).toEqual([[1], null]);
    expect(numbers(await design("GET", page, "/versions"))).toEqual([7, 6, 5, 4, 3, 2, 1]);
    const [newest] = one.body.versions as CompactDesignVersion[];
    expect(Object.keys(newest!)).toEqual(["id", "status_page_id", "version_number", "state", "base_version_id", "template_mode", "summary", "created_by", "created_at", "published_at"]);
  });

  it.each([
    { query: "?limit=0", numbers: [2] },
    { query: "?limit=-5", numbers: [2] },
    { query: "?limit=99999999999", numbers: [2, 1] },
    { query: "?cursor=99999999999999999999", numbers: [2, 1] },
    { query: "?cursor=1", numbers: [] },
    { query: "?cursor=-1", numbers: [] },
  ])("clamps $query", async ({ query, numbers }) => {
    const page = await makePage();
    await publishNew(page, {});
    await putDraft(page, {});
    const { status, body } = await design("GET", page, `/versions${query}`);
    expect([status, (body.versions as CompactDesignVersion[]).map((version) => version.version_number)]).toEqual([200, numbers]);
  });

  it.each(["?limit=ten", "?cursor=1.5", "?cursor=", "?page=2"])("refuses %s", async (query) => {
    expect(await design("GET", await makePage(), `/versions${query}`)).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST" } });
  });

  it("of a page without any is empty", async () => {
    expect((await design("GET", await makePage(), "/versions")).body).toEqual({ versions: [], next_cursor: null, current_version_id: null, draft_version_id: null });
  });
});

describe("plans", () => {
  it("keep templates to those who have the pro plan, also those that were there before", async () => {
    const free = await plane.createOrganization("free");
    const headers = { "x-api-key": free.apiKey };
    const page = await makePage(free.organizationId);
    const restricted = { status: 403, body: { code: "PLAN_RESTRICTED", error: expect.stringContaining("pro") } };
    expect(await put(page, { template: TEMPLATE }, headers)).toMatchObject(restricted);
    expect(await put(page, { template_mode: "custom" }, headers)).toMatchObject(restricted);
    expect(await design("POST", page, "/draft/validate", { template: TEMPLATE, template_mode: "custom" }, headers)).toMatchObject({ status: 200, body: { valid: true } });

    const setPlan = (plan: "free" | "pro") => plane.database.update(organizations).set({ plan }).where(eq(organizations.id, free.organizationId));
    await setPlan("pro");
    const saved = await put(page, { template: TEMPLATE, template_mode: "custom" }, headers);
    expect(saved).toMatchObject({ status: 200, body: { draft_version: { template: TEMPLATE } } });
    await setPlan("free");
    const { id } = saved.body.draft_version as DesignVersion;
    expect(await publish(page, id, headers)).toMatchObject(restricted);
    expect(await put(page, { summary: "x" }, headers)).toMatchObject(restricted);
    await plane.database.update(designVersions).set({ state: "archived" }).where(eq(designVersions.id, id));
    await plane.database.update(statusPages).set({ draftVersionId: null }).where(eq(statusPages.id, page));
    expect(await design("POST", page, `/versions/${id}/restore`, undefined, headers)).toMatchObject(restricted);
    expect(await put(page, { template: null, template_mode: "default" }, headers)).toMatchObject({ status: 200 });
  });
});

describe("security", () => {
  it("foreign, unknown and malformed pages and versions are one 404", async () => {
    const own = await makePage();
    const version = await publishNew(own, {});
    const { id: draft } = await putDraft(own, {});
    const headers = { "x-api-key": stranger.apiKey };
    const requests: [Method, string, unknown?][] = [
      ["GET", ""],
      ["PUT", "/draft", {}],
      ["POST", "/draft/validate", {}],
      ["POST", "/draft/validate"],
      ["POST", "/publish", { expected_draft_version_id: draft }],
      ["GET", "/versions"],
      ["GET", `/versions/${version}`],
      ["POST", `/versions/${version}/restore`],
    ];
    for (const [method, path, body] of requests) {
      const answers = await Promise.all([own, newId(), "not-an-id"].map((page) => design(method, page, path, body, headers)));
      expect(answers.map(withoutRequestId), `${method} ${path}`).toEqual(answers.map(() => ({ status: 404, body: { error: "No such status page.", code: "NOT_FOUND" } })));
    }
    expect((await design("GET", own)).body).toMatchObject({ current_version_id: version, draft_version_id: draft });

    const other = await makePage();
    const theirs = await makePage(stranger.organizationId);
    const { body } = await put(theirs, {}, headers);
    for (const id of [version, (body.draft_version as DesignVersion).id, newId(), "x"]) {
      for (const [method, path] of [["GET", ""], ["POST", "/restore"]] as const) {
        expect(withoutRequestId(await design(method, other, `/versions/${id}${path}`))).toEqual({ status: 404, body: { error: "No such design version.", code: "NOT_FOUND" } });
      }
    }
    expect(await put(other, { base_version_id: version })).toMatchObject({ status: 400, body: { path: "/base_version_id" } });
  });
});

describe("a link to a draft", () => {
  const link = (page: string, body?: unknown, headers?: Record<string, string>) => design("POST", page, "/preview-links", body, headers);

  it("names the page and its end, a day from now unless told", async () => {
    const page = await makePage();
    await putDraft(page, {});
    const before = Date.now();
    const made = await link(page, {});
    expect(made.status).toBe(201);
    const { url, expires_at } = made.body as { url: string; expires_at: string };
    expect(new URL(url).pathname).toBe(`/pages/acme-${page}`);
    const [row] = await plane.database.select().from(statusPages).where(eq(statusPages.id, page));
    const end = Date.parse(expires_at);
    expect(end).toBeGreaterThanOrEqual(Math.floor(before / 1_000) * 1_000 + 86_400_000);
    expect(end).toBeLessThanOrEqual(Date.now() + 86_400_000);
    const token = new URL(url).searchParams.get("preview")!;
    expect([showsPreview(token, row!, end - 1), showsPreview(token, row!, end)]).toEqual([true, false]);
    expect(Date.parse((await link(page, { expires_in_seconds: 60 })).body.expires_at as string)).toBeLessThan(Date.now() + 61_000);
  });

  it("is audited without itself", async () => {
    const page = await makePage();
    const draft = await putDraft(page, {});
    const { body } = await link(page);
    const entries = await plane.database.select().from(auditEntries).where(and(eq(auditEntries.resourceId, draft.id), eq(auditEntries.action, "design.preview_link_created")));
    expect(entries.map(({ after }) => after)).toEqual([{ status_page_id: page, expires_at: body.expires_at }]);
    expect(JSON.stringify(entries)).not.toContain(new URL(body.url as string).searchParams.get("preview"));
  });

  it("is made of a draft, for as long as is allowed, by whom the page belongs to", async () => {
    const page = await makePage();
    expect(await link(page)).toMatchObject({ status: 404, body: { code: "NOT_FOUND", error: "There is no draft to preview." } });
    await publishNew(page, {});
    expect(await link(page)).toMatchObject({ status: 404, body: { error: "There is no draft to preview." } });
    await putDraft(page, {});
    for (const expires_in_seconds of [59, 2_592_001, 1.5, "60"]) expect(await link(page, { expires_in_seconds })).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path: "/expires_in_seconds" } });
    expect((await link(page, { expires_in_seconds: 2_592_000 })).status).toBe(201);
    const foreign = await link(page, {}, { "x-api-key": stranger.apiKey });
    expect(foreign).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    expect(withoutRequestId(foreign)).toEqual(withoutRequestId(await link(newId(), {}, { "x-api-key": stranger.apiKey })));
  });
});
