import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { PLAN_LIMITS } from "../schemas/plans.ts";
import type { Route } from "./route.ts";
import { ALL_ROUTES } from "./routes/all.ts";

/** What answers a list and has no pages, each with what bounds it. */
const WITHOUT_PAGES: Record<string, string> = {
  "/status-pages/:id/services": "the order of a page is told and set as a whole; at most the services of a plan",
  "/vitals": "the vitals of a window of time, at most 200",
};

interface JsonSchema {
  type?: string;
  properties?: Record<string, JsonSchema>;
  anyOf?: JsonSchema[];
}

const schemaOf = (schema: unknown) => z.toJSONSchema(schema as z.ZodType, { io: "output", unrepresentable: "any", reused: "inline" }) as JsonSchema;

/** An object of which one field is a list, beside what tells of the list. */
function isList(route: Route): boolean {
  const { properties = {} } = schemaOf(route.response);
  const lists = Object.values(properties).filter(({ type }) => type === "array");
  return lists.length === 1 && properties["id"] === undefined;
}

const LISTS = ALL_ROUTES.filter((route) => route.method === "GET" && isList(route));
const PAGED = LISTS.filter(({ path }) => !(path in WITHOUT_PAGES));

test("what has no pages is a list, and has none", () => {
  const unpaged = LISTS.filter(({ query }) => !(query instanceof z.ZodObject) || !("limit" in query.shape)).map(({ path }) => path);
  expect(unpaged.toSorted()).toEqual(Object.keys(WITHOUT_PAGES).toSorted());
});

describe.each(PAGED.map((route) => ({ path: route.path, query: route.query as z.ZodObject })))("the list at $path", ({ path, query }) => {
  it("goes on by an offset or a cursor", () => {
    if (path === "/errors/export") return;
    expect(Object.keys(query.shape).filter((name) => name === "offset" || name === "cursor")).toHaveLength(1);
  });

  it("clamps its limit", () => {
    const limitOf = (limit: string): number => (query.parse({ limit }) as { limit: number }).limit;
    expect([limitOf("0"), limitOf("-7")]).toEqual([1, 1]);
    expect(limitOf("999999999")).toBeLessThanOrEqual(10_000);
    expect(query.safeParse({ limit: "many" }).success).toBe(false);
  });
});

it.each([
  ["/services", PLAN_LIMITS.services.team],
  ["/webhooks", PLAN_LIMITS.webhooks.team],
  ["/notifications/channels", PLAN_LIMITS.channels.team],
  ["/status-pages", PLAN_LIMITS.status_pages.team],
])("%s gives without a limit all that the largest plan allows", (path, most) => {
  const { query } = PAGED.find((route) => route.path === path)!;
  expect((query as z.ZodObject).parse({})).toEqual({ limit: expect.toSatisfy((limit: number) => limit >= most) as number, offset: 0 });
});
