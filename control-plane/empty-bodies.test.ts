import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { startTestControlPlane, type Answer, type TestControlPlane } from "../testing/control-plane.ts";
import { bodyIsOptional } from "./openapi.ts";
import { ALL_ROUTES } from "./routes/all.ts";

interface Document {
  paths: Record<string, Record<string, { requestBody?: { required?: boolean } }>>;
}

const optional = ALL_ROUTES.filter(bodyIsOptional);
const withBody = ALL_ROUTES.filter(({ body }) => body !== undefined);
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;

/** As clients send that have no body: they name a type all the same, or a length of 0. */
const HEADERS: readonly Record<string, string>[] = [{}, { "content-type": "application/json" }, { "content-length": "0" }];

let plane: TestControlPlane;
let document: Document;
let places: Record<string, string>;
beforeAll(async () => {
  plane = await startTestControlPlane();
  document = (await plane.app.inject({ method: "GET", url: "/openapi.json" })).json();
  const page = (await made("/status-pages", { name: "Shop", slug: "empty-bodies", status_page_visibility: "private" })).body.page as { id: string };
  const workflow = (await made("/workflows", { name: "w", steps: [{ type: "wait", seconds: 60 }] })).body as { id: string };
  const webhook = (await made("/webhooks", { name: "w", url: "https://hooks.example.com/", events: ["monitor.down"] })).body.webhook as { id: string };
  await plane.call("PUT", `/status-pages/${page.id}/design/draft`, {});
  places = { "status-pages": page.id, workflows: workflow.id, webhooks: webhook.id };
});
afterAll(() => plane.stop());

async function made(path: string, body: object): Promise<Answer> {
  const answer = await plane.call("POST", path, body);
  expect(answer).toMatchObject({ status: 201 });
  return answer;
}

/** The route's address with the id of something that exists. */
function addressOf(path: string): string {
  return path.replace(":id", places[path.split("/")[1]!]!);
}

/** What does not tell of when and by whom it was asked. */
function kindOf({ status, body }: Answer): object {
  return { status, code: body.code, fields: Object.keys(body).toSorted() };
}

describe("a POST of which nothing is required", () => {
  it("is one of these", () => {
    expect(optional.map(nameOf).toSorted()).toEqual(["POST /status-pages/:id/access-links", "POST /status-pages/:id/design/draft/validate", "POST /status-pages/:id/design/preview-links", "POST /webhooks/:id/rotate-secret", "POST /workflows/:id/trigger"]);
  });

  it.each(optional.map((route) => ({ route, name: nameOf(route) })))("$name does without a body what it does with {}", async ({ route }) => {
    const address = addressOf(route.path);
    const expected = await plane.call("POST", address, {});
    expect(expected.status).toBeLessThan(300);
    for (const headers of HEADERS) expect(kindOf(await plane.call("POST", address, undefined, headers)), JSON.stringify(headers)).toEqual(kindOf(expected));
  });

  it.each(optional.map((route) => ({ route, name: nameOf(route) })))("$name still refuses a body that is blank, null or no object", async ({ route }) => {
    for (const payload of [" ", "null", "[]", '"x"']) {
      const { statusCode } = await plane.app.inject({ method: "POST", url: `/api/v1${addressOf(route.path)}`, headers: { "x-api-key": plane.organization.apiKey, "content-type": "application/json" }, payload });
      expect(statusCode, payload).toBe(400);
    }
  });

  it("gives the same answer again for the same Idempotency-Key, with {} and without a body", async () => {
    const address = addressOf("/workflows/:id/trigger");
    const first = await plane.call("POST", address, undefined, { "idempotency-key": "empty" });
    const second = await plane.call("POST", address, {}, { "idempotency-key": "empty" });
    expect({ status: second.status, body: second.body, replayed: second.headers["idempotency-replayed"] }).toEqual({ status: first.status, body: first.body, replayed: "true" });
  });
});

describe("the document", () => {
  it.each(withBody.map((route) => ({ route, name: nameOf(route) })))("says of $name whether its body is required", ({ route }) => {
    const operation = document.paths[`/api/v1${route.path.replace(/:(\w+)/g, "{$1}")}`]![route.method.toLowerCase()]!;
    const accepted = route.method === "POST" && (route.body as z.ZodType).safeParse({}).success;
    expect(operation.requestBody?.required).toBe(!accepted);
    expect(Object.keys(operation).filter((name) => name.startsWith("x-"))).toEqual([]);
  });

  it.each(withBody.filter((route) => !route.form && !bodyIsOptional(route)).map((route) => ({ route, name: nameOf(route) })))("and $name is refused without one", async ({ route }) => {
    const { status, body } = await plane.call(route.method, route.path.replace(/:\w+/g, "5c1f8f6e-1111-4222-8333-444455556666"));
    expect({ status, code: body.code }).toEqual({ status: 400, code: "INVALID_JSON" });
  });
});
