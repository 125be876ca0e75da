import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { incidents, organizations, services, serviceStatusHistory } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { findApiKeys } from "../api-keys/find.ts";
import { hashApiKey } from "../api-keys/format.ts";
import { makeFindPage } from "../status-pages/find-page.ts";
import { readPublicPage } from "../status-pages/read-public-page.ts";
import { createDemo } from "./create-demo.ts";
import { createOrganization } from "./create.ts";
import { planLimitRefusal } from "./require-room.ts";

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

const pageOf = async (slug: string) => readPublicPage(fresh.database, (await makeFindPage(fresh.database)({ slug }))!, new Date());

describe("the demo organization", () => {
  it("is made once, whoever starts at the same time, and is complete", async () => {
    const made = (await Promise.all([createDemo(fresh.database), createDemo(fresh.database), createDemo(fresh.database)])).filter((each) => each !== null);
    expect(made).toHaveLength(1);
    expect(await createDemo(fresh.database)).toBeNull();
    const [demo] = made;
    expect(demo!.pageSlug).toBe("demo");
    const [key] = await findApiKeys(fresh.database, [hashApiKey(demo!.apiKey)]);
    expect(key).toMatchObject({ plan: "team", scopes: ["*:*"], organizationId: demo!.organizationId });
    const page = await pageOf("demo");
    expect(page).toMatchObject({ overall: "degraded", services: [{ name: "Website", status: "operational" }, { name: "Checkout" }, { name: "Search", status: "degraded" }] });
    expect(page.incidents).toMatchObject([{ status: "investigating", services: [{ name: "Search" }], updates: [{ status: "investigating" }] }]);
    expect(await fresh.database.select().from(incidents)).toHaveLength(1);
  });
});

describe("an organization", () => {
  it("begins with a key, a service with its first status, a beacon key and a page", async () => {
    const made = await createOrganization(fresh.database, { name: "Café Acme", plan: "free" });
    expect(made).toMatchObject({ pageSlug: "cafe-acme", apiKey: expect.stringMatching(/^psk_/) as string, beaconKey: expect.stringMatching(/^bpk_/) as string });
    const history = await fresh.database.select().from(serviceStatusHistory).where(eq(serviceStatusHistory.serviceId, made.serviceId));
    expect(history.map(({ status }) => status)).toEqual(["operational"]);
    expect((await pageOf("cafe-acme")).services).toMatchObject([{ name: "Website", description: "", status: "operational" }]);
    expect(await fresh.database.select().from(services).where(eq(services.organizationId, made.organizationId))).toHaveLength(1);
  });

  it("gets a slug of its own when others have the same name, also at the same time", async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => createOrganization(fresh.database, { name: "Same", plan: "pro" })));
    const slugs = made.map(({ pageSlug }) => pageSlug);
    expect(new Set(slugs).size).toBe(5);
    expect(slugs).toContain("same");
    for (const slug of slugs) expect(slug).toMatch(/^same(-[a-z0-9]{6})?$/);
  });

  it("that cannot be made leaves nothing behind", async () => {
    const before = await fresh.database.$count(organizations);
    await expect(createOrganization(fresh.database, { name: "Bad\u0000", plan: "free" })).rejects.toThrow();
    expect(await fresh.database.$count(organizations)).toBe(before);
  });
});

describe("a plan's room", () => {
  it.each([
    { plan: "free", resource: "status_pages", existing: 0, refused: null },
    { plan: "free", resource: "status_pages", existing: 1, refused: "The free plan allows 1 status page." },
    { plan: "pro", resource: "webhooks", existing: 49, refused: null },
    { plan: "pro", resource: "webhooks", existing: 50, refused: "The pro plan allows 50 webhooks." },
    { plan: "team", resource: "monitors", existing: 2000, refused: "The team plan allows 2000 monitors." },
  ] as const)("with $existing $resource on $plan", ({ plan, resource, existing, refused }) => {
    expect(planLimitRefusal(plan, resource, existing)?.message ?? null).toBe(refused);
  });

  it("names the smallest plan that has more, or says to delete some", () => {
    expect(planLimitRefusal("free", "services", 25)?.details.fix).toMatch(/^The pro plan allows 250\./);
    expect(planLimitRefusal("free", "services", 400)?.details.fix).toMatch(/^The team plan allows 2500\./);
    expect(planLimitRefusal("team", "services", 2500)?.details.fix).toMatch(/^Delete/);
  });
});
