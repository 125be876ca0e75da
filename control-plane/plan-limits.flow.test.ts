import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PLAN_LIMITS, type LimitedResource } from "../schemas/plans.ts";
import type { Plan } from "../schemas/vocabulary.ts";
import { startTestControlPlane, type TestControlPlane } from "../testing/control-plane.ts";
import { ALL_ROUTES } from "./routes/all.ts";

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

interface LimitCase {
  path: string;
  resource: LimitedResource;
  plan: Plan;
  /** The list's field. */
  list: string;
  body(number: number, serviceId: string): object;
}

const CASES: LimitCase[] = [
  { path: "/services", resource: "services", plan: "free", list: "services", body: (n) => ({ name: `Service ${n}` }) },
  { path: "/heartbeat-monitors", resource: "monitors", plan: "free", list: "heartbeat_monitors", body: (n) => ({ name: `Job ${n}`, interval_seconds: 3_600 }) },
  { path: "/uptime-monitors", resource: "monitors", plan: "free", list: "monitors", body: (n) => ({ name: `Shop ${n}`, url: `https://example.com/${n}` }) },
  { path: "/domain-monitors", resource: "monitors", plan: "free", list: "domain_monitors", body: (n) => ({ domain: `example-${n}.com` }) },
  { path: "/webhooks", resource: "webhooks", plan: "free", list: "webhooks", body: (n) => ({ name: `Hook ${n}`, url: `https://example.com/${n}`, events: ["incident.created"] }) },
  { path: "/notifications/channels", resource: "channels", plan: "free", list: "channels", body: (n) => ({ type: "webhook", name: `Channel ${n}`, config: { url: `https://example.com/${n}` } }) },
  { path: "/api-keys", resource: "api_keys", plan: "free", list: "api_keys", body: (n) => ({ name: `Key ${n}`, scopes: ["services:read"] }) },
  { path: "/beacon-keys", resource: "beacon_keys", plan: "free", list: "beacon_keys", body: (n, serviceId) => ({ name: `Shop ${n}`, service_id: serviceId }) },
  { path: "/workflows", resource: "workflows", plan: "free", list: "workflows", body: (n) => ({ name: `Workflow ${n}`, steps: [{ type: "wait", seconds: 1 }] }) },
  { path: "/status-pages", resource: "status_pages", plan: "pro", list: "pages", body: (n) => ({ name: `Page ${n} of ${Math.random()}` }) },
];

/** Connects to what it is given before anything is made. */
const CONNECTS_FIRST = "/ssl-monitors";

/** Bounds that are no number of a plan's; their tests stand beside what they bound. */
const NOT_COUNTED = ["/sourcemaps", "/incidents/:id/updates", "/maintenance-windows/:id/updates"];

describe("a plan's limit", () => {
  it("is tested for every endpoint that has one", () => {
    const limited = ALL_ROUTES.filter(({ method, failures }) => method === "POST" && failures?.includes("PLAN_LIMIT")).map(({ path }) => path);
    expect(limited.toSorted()).toEqual([CONNECTS_FIRST, ...NOT_COUNTED, ...CASES.map(({ path }) => path)].toSorted());
  });

  it.each(CASES)("of $resource holds when 20 are made at once and one has room", async ({ path, resource, plan, list, body }) => {
    const { apiKey, serviceId } = await plane.createOrganization(plan);
    const key = { "x-api-key": apiKey };
    const existing = async () => ((await plane.call("GET", path, undefined, key)).body[list] as unknown[]).length;
    const limit = PLAN_LIMITS[resource][plan];
    for (let number = await existing(); number < limit - 1; number++) expect((await plane.call("POST", path, body(number, serviceId), key)).status).toBe(201);

    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => plane.call("POST", path, body(1_000 + n, serviceId), key)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 403);
    expect(refused).toHaveLength(19);
    for (const { body } of refused) expect(body).toMatchObject({ code: "PLAN_LIMIT", error: expect.stringContaining(`The ${plan} plan allows ${limit} `) as string, fix: expect.stringMatching(/^The (pro|team) plan allows \d+\./) as string });
    expect(await existing()).toBe(limit);
  });

  it("of monitors counts all kinds, and refuses before anything is connected to", async () => {
    const { apiKey } = await plane.createOrganization("free");
    const post = (path: string, body: object) => plane.call("POST", path, body, { "x-api-key": apiKey });
    const mixed = CASES.filter(({ resource }) => resource === "monitors");
    for (let n = 0; n < PLAN_LIMITS.monitors.free; n++) {
      const { path, body } = mixed[n % mixed.length]!;
      expect((await post(path, body(n, ""))).status).toBe(201);
    }
    for (const { path, body } of mixed) expect((await post(path, body(1_000, ""))).body).toMatchObject({ code: "PLAN_LIMIT" });
    expect((await post(CONNECTS_FIRST, { domain: "www.example.com" })).body).toMatchObject({ code: "PLAN_LIMIT" });
  });
});
