import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CreatedOrganization } from "../../../domain/organizations/create.ts";
import { auditEntries } from "../../../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";

const UNKNOWN_ID = "5c1f8f6e-1111-4222-8333-444455556666";

let plane: TestControlPlane;
let other: CreatedOrganization;
let serviceId: string;
beforeAll(async () => {
  plane = await startTestControlPlane();
  other = await plane.createOrganization("team");
  ({ serviceId } = plane.organization);
});
afterAll(() => plane.stop());

const asOther = () => ({ "x-api-key": other.apiKey });
const create = (body: object, headers?: Record<string, string>) => plane.call("POST", "/releases", { service_id: serviceId, ...body }, headers);
const auditOf = async (id: unknown) => (await plane.database.select().from(auditEntries).where(eq(auditEntries.resourceId, String(id)))).map(({ action, changedFields }) => [action, changedFields.length]);

describe("a release", () => {
  it("is made once, and told more of later", async () => {
    const made = await create({ version: " 1.0.0 ", environment: "production" });
    expect(made).toMatchObject({
      status: 201,
      body: { service_id: serviceId, version: "1.0.0", environment: "production", url: null, commits: [], released_at: null, new_errors: 0, regressed_errors: 0, sourcemap_count: 0 },
    });
    expect(await create({ version: "1.0.0" })).toMatchObject({ status: 200, body: made.body });
    const more = { version: "1.0.0", url: "https://example.com/1", commits: [{ id: "9fceb02" }], released_at: "2026-01-31T13:00:00+01:00" };
    const told = await create(more);
    expect(told).toMatchObject({ status: 200, body: { ...made.body, url: more.url, commits: more.commits, released_at: "2026-01-31T12:00:00.000Z" } });
    expect(await create(more)).toMatchObject({ status: 200, body: told.body });
    expect((await plane.call("GET", `/releases/${String(made.body.id)}`)).body).toEqual(told.body);
    expect((await auditOf(made.body.id)).sort()).toEqual([["release.created", 8], ["release.updated", 3]]);
  });

  it("is made by one of many at once", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ version: "2.0.0" })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const { body } = await plane.call("GET", `/releases?service_id=${serviceId}&limit=1`);
    expect(body.releases).toMatchObject([{ version: "2.0.0" }]);
  });

  it.each<[string, object, string]>([
    ["without a version", {}, "/version"],
    ["with an empty version", { version: "  " }, "/version"],
    ["with a version that no beacon could name", { version: "1".repeat(201) }, "/version"],
    ["with an address that is no web page", { version: "3", url: "javascript:alert(1)" }, "/url"],
    ["with a commit that is no object", { version: "3", commits: ["9fceb02"] }, "/commits/0"],
    ["with commits of more than 64 KiB", { version: "3", commits: Array.from({ length: 70 }, () => ({ message: "x".repeat(1_000) })) }, "/commits"],
    ["with an unknown field", { version: "3", name: "x" }, "/name"],
  ])("%s is refused", async (_, body, path) => {
    expect(await create(body)).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path } });
  });

  it("of another organization is as good as none", async () => {
    const { body } = await create({ version: "4" });
    const ask = async (id: string) => (await plane.call("GET", `/releases/${id}`, undefined, { ...asOther(), "x-request-id": "same" })).body;
    expect(await ask(String(body.id))).toEqual(await ask(UNKNOWN_ID));
    expect(await ask("nonsense")).toMatchObject({ code: "NOT_FOUND", error: "No such release." });
    expect((await plane.call("GET", "/releases", undefined, asOther())).body).toEqual({ releases: [] });
    expect((await plane.call("GET", `/releases?service_id=${serviceId}`, undefined, asOther())).body).toEqual({ releases: [] });
    for (const id of [serviceId, UNKNOWN_ID, "nonsense"]) expect(await create({ service_id: id, version: "5" }, asOther())).toMatchObject({ status: 404, body: { error: "No such service." } });
  });
});
