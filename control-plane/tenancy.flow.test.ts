import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CreatedOrganization } from "../domain/organizations/create.ts";
import { newSecret } from "../domain/subscribers/tokens.ts";
import { newId } from "../platform/ids.ts";
import { errorSignatures, events, sourceMapFiles, sourceMaps, sslMonitors, subscribers, webhookDeliveries } from "../schemas/tables/all.ts";
import { startTestControlPlane, type Answer, type TestControlPlane } from "../testing/control-plane.ts";
import type { Route } from "./route.ts";
import { ALL_ROUTES } from "./routes/all.ts";

const UNKNOWN_ID = "5c1f8f6e-1111-4222-8333-444455556666";
const AT = new Date("2026-01-31T12:00:00Z");

let plane: TestControlPlane;
let other: CreatedOrganization;
/** An id of the first organization for each place in an address where an id stands. */
let ids: Record<string, string>;
/** Example bodies of the API description, by method and path. */
let examples: Record<string, Record<string, unknown>>;

beforeAll(async () => {
  plane = await startTestControlPlane();
  other = await plane.createOrganization("team");
  examples = await readExamples();
  ids = await makeOneOfEach();
});
afterAll(() => plane.stop());

async function readExamples(): Promise<typeof examples> {
  const { paths } = (await plane.app.inject({ method: "GET", url: "/openapi.json" })).json<{ paths: Record<string, Record<string, { requestBody?: { content: Record<string, { example: Record<string, unknown> }> } }>> }>();
  return Object.fromEntries(ALL_ROUTES.map(({ method, path }) => [`${method} ${path}`, paths[`/api/v1${path.replace(/:(\w+)/g, "{$1}")}`]![method.toLowerCase()]!.requestBody?.content ?? {}]).map(([name, content]) => [name, Object.values(content as Record<string, { example: Record<string, unknown> }>)[0]?.example ?? {}]));
}

async function makeOneOfEach(): Promise<Record<string, string>> {
  const { serviceId, pageId, organizationId } = plane.organization;
  const create = async (path: string, more: Record<string, unknown> = {}): Promise<Record<string, unknown>> => {
    const { status, body } = await plane.call("POST", path, { ...examples[`POST ${path}`], ...more });
    expect({ path, status, body: status < 300 ? null : body }).toEqual({ path, status: expect.any(Number) as number, body: null });
    return body;
  };
  const idOf = (value: unknown) => (value as { id: string }).id;
  const webhook = idOf((await create("/webhooks")).webhook);
  const workflow = idOf(await create("/workflows", { steps: [{ type: "wait", seconds: 1 }] }));
  const run = (await plane.call("POST", `/workflows/${workflow}/trigger`, {})).body.run_id as string;
  const draft = (await plane.call("PUT", `/status-pages/${pageId}/design/draft`, { theme_tokens: { brand: { primary: "#112233", secondary: "#445566" }, font: { family: "inter" } } })).body.draft_version;
  const apiKey = idOf((await create("/api-keys")).api_key);
  const signature = newId();
  await plane.database.insert(errorSignatures).values({
    id: signature, organizationId, serviceId, groupingVersion: "v1", fingerprint: "f", type: "TypeError", message: "m", category: "javascript", priority: "low",
    handled: false, occurrences: 1, firstSeen: AT, lastSeen: AT, release: "1", environment: "production",
  });
  const event = newId();
  const delivery = newId();
  await plane.database.insert(events).values({ id: event, organizationId, type: "webhook.test", data: {}, createdAt: AT, fannedOutAt: AT });
  await plane.database.insert(webhookDeliveries).values({ id: delivery, organizationId, webhookId: webhook, eventId: event, attempt: 1, trigger: "test", status: "delivered", dueAt: AT, createdAt: AT });
  const sourceMap = newId();
  await plane.database.insert(sourceMapFiles).values({ organizationId, hash: "00", sizeBytes: 2, index: Buffer.from("{}"), createdAt: AT });
  await plane.database.insert(sourceMaps).values({ id: sourceMap, organizationId, serviceId, release: "1", url: "~/app.js", hash: "00", uploadedAt: AT });
  const sslMonitor = newId();
  await plane.database.insert(sslMonitors).values({ id: sslMonitor, organizationId, domain: "shop.example.com", port: 443, alertDays: 30, dueAt: AT, createdAt: AT, updatedAt: AT });
  const subscriber = newId();
  await plane.database.insert(subscribers).values({ id: subscriber, organizationId, statusPageId: pageId, kind: "email", address: "ada@example.com", addressKey: "ada@example.com", target: "ada@example.com", secret: newSecret(), asksSince: AT, lastAskedAt: AT, createdAt: AT, updatedAt: AT });
  return {
    "/services/:id": serviceId,
    "/status-pages/:id": pageId,
    "/status-pages/:id/subscribers/:subscriberId": subscriber,
    "/status-pages/:id/design/versions/:versionId": idOf(draft),
    "/incidents/:id": idOf(await create("/incidents", { services: [] })),
    "/maintenance-windows/:id": idOf(await create("/maintenance-windows", { services: [], starts_at: "2999-01-01T00:00:00Z", ends_at: "2999-01-01T01:00:00Z" })),
    "/heartbeat-monitors/:id": idOf(await create("/heartbeat-monitors", { service_id: null })),
    "/uptime-monitors/:id": idOf(await create("/uptime-monitors")),
    "/ssl-monitors/:id": sslMonitor,
    "/domain-monitors/:id": idOf(await create("/domain-monitors")),
    "/errors/:id": signature,
    "/webhooks/:id": webhook,
    "/webhooks/:id/deliveries/:deliveryId": delivery,
    "/notifications/channels/:id": idOf(await create("/notifications/channels")),
    "/workflows/:id": workflow,
    "/workflows/runs/:runId": run,
    "/beacon-keys/:id": idOf(await create("/beacon-keys", { service_id: serviceId })),
    "/api-keys/:id": apiKey,
    "/sourcemaps/:id": sourceMap,
    "/releases/:id": idOf(await create("/releases", { service_id: serviceId })),
  };
}

/** The address with an id in each place for one. */
function addressOf(path: string, idAt: (place: string) => string): string {
  let place = "";
  return path.split("/").slice(1).reduce((address, step) => {
    place += `/${step}`;
    return `${address}/${step.startsWith(":") ? idAt(place) : step}`;
  }, "");
}

function firstId(place: string): string {
  const id = ids[place];
  if (id === undefined) throw new Error(`This test makes nothing for ${place}: add it to makeOneOfEach.`);
  return id;
}

const asOther = (method: Route["method"], path: string, body?: unknown): Promise<Answer> => plane.call(method, path, body, { "x-api-key": other.apiKey, "x-request-id": "same" });

const addressed = ALL_ROUTES.filter(({ path }) => path.includes(":")).map(({ method, path, body }) => ({ name: `${method} ${path}`, method, path, body }));

describe("with another organization's key", () => {
  it.each(addressed)("$name answers as if the thing did not exist", async ({ name, method, path, body }) => {
    const { services: _none, ...example } = examples[name]!;
    const sent = body === undefined ? undefined : example;
    const foreign = await asOther(method, addressOf(path, firstId), sent);
    const unknown = await asOther(method, addressOf(path, () => UNKNOWN_ID), sent);
    const malformed = await asOther(method, addressOf(path, () => "nonsense"), sent);
    expect({ status: foreign.status, body: foreign.body }).toEqual({ status: 404, body: { error: expect.any(String) as string, code: "NOT_FOUND", request_id: "same" } });
    expect(unknown.body).toEqual(foreign.body);
    expect(malformed.body).toEqual(foreign.body);
  });

  it("no list shows anything of the first", async () => {
    const all = Object.values(ids);
    for (const { path } of ALL_ROUTES.filter(({ method, path }) => method === "GET" && !path.includes(":"))) {
      const { body } = await asOther("GET", path === "/errors/export" ? `${path}?format=json` : path);
      for (const id of all) expect(JSON.stringify(body), path).not.toContain(id);
    }
  });

  it("a service of the first in a body or a query is a service that does not exist", async () => {
    // What takes a form is tried by its own test.
    const naming = ALL_ROUTES.filter(({ method, path, form }) => !path.includes(":") && !form && "service_id" in examples[`${method} ${path}`]!);
    expect(naming.length).toBeGreaterThanOrEqual(1);
    for (const { method, path } of naming) {
      const ask = (id: string) => asOther(method, path, { ...examples[`${method} ${path}`], service_id: id });
      const [foreign, unknown] = [await ask(plane.organization.serviceId), await ask(UNKNOWN_ID)];
      expect(foreign.status, path).toBeGreaterThanOrEqual(400);
      expect(foreign.body, path).toEqual(unknown.body);
    }
    for (const path of ["/errors", "/incidents", "/releases"]) {
      const [foreign, unknown] = [await asOther("GET", `${path}?service_id=${plane.organization.serviceId}`), await asOther("GET", `${path}?service_id=${UNKNOWN_ID}`)];
      expect({ path, status: foreign.status, body: foreign.body }).toEqual({ path, status: unknown.status, body: unknown.body });
    }
  });

  it("nothing of the first was changed or written down", async () => {
    const { rows } = await plane.database.execute(sql`select count(*)::int as entries from audit_entries where organization_id = ${plane.organization.organizationId} and actor_id in (select id from api_keys where organization_id = ${other.organizationId})`);
    expect(rows).toEqual([{ entries: 0 }]);
  });
});

describe("with its own key", () => {
  it("each of these addresses exists, so the refusals above are about the key", async () => {
    for (const { path } of addressed.filter(({ method, path }) => method === "GET" && !/metrics|occurrences|results|domain-monitors|ssl-monitors|\/errors\//.test(path))) {
      const { status, body } = await plane.call("GET", addressOf(path, firstId));
      expect({ path, status, body: status === 200 ? null : body }).toEqual({ path, status: 200, body: null });
    }
  });
});
