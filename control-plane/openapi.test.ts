import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FAILURE_STATUS } from "../platform/failures.ts";
import { SCOPES } from "../schemas/vocabulary.ts";
import { startTestControlPlane, type TestControlPlane } from "../testing/control-plane.ts";
import { ALL_ROUTES } from "./routes/all.ts";

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters?: { name: string; in: string; required?: boolean; schema: object }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
}

interface Document {
  openapi: string;
  info: { title: string; version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes: Record<string, object>; schemas: Record<string, { properties?: object }> };
}

let plane: TestControlPlane;
let document: Document;
let operations: (Operation & { method: string; path: string })[];
beforeAll(async () => {
  plane = await startTestControlPlane();
  const response = await plane.app.inject({ method: "GET", url: "/openapi.json" });
  expect(response.statusCode).toBe(200);
  document = response.json();
  operations = Object.entries(document.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => Object.assign(operation, { method, path })));
});
afterAll(() => plane.stop());

describe("the OpenAPI document", () => {
  it("is of version 3.1 and names the API's version", () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info).toMatchObject({ title: "Pharos", version: "1.0.0" });
    expect(document.servers).toEqual([{ url: "/" }]);
    expect(document.components.securitySchemes.apiKey).toMatchObject({ type: "apiKey", in: "header", name: "X-API-Key" });
  });

  it("describes every route, and nothing else below /api/v1", () => {
    const described = operations.filter(({ path }) => path.startsWith("/api/v1/")).map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(described.sort()).toEqual(ALL_ROUTES.map(({ method, path }) => `${method} /api/v1${path.replace(/:(\w+)/g, "{$1}")}`).sort());
  });

  it("describes the ingest endpoints, and what visitors of pages ask", () => {
    const described = operations.filter(({ path }) => !path.startsWith("/api/v1/")).map(({ method, path }) => `${method} ${path}`);
    const views = ["", "/badge.svg", "/feed.atom", "/feed.json", "/feed.rss", "/history", "/incidents/{id}", "/maintenance.ics", "/summary.json"].map((path) => `get /pages/{slug}${path}`);
    expect(described.sort()).toEqual(["get /api/heartbeat/{monitor}", ...views, "post /api/beacon", "post /api/heartbeat/{monitor}", "post /api/metrics/ingest", "post /pages/{slug}/subscribers"]);
  });

  it("gives each operation a tag, a summary and an id of its own", () => {
    for (const { tags, summary, operationId } of operations) {
      expect(tags, operationId).toHaveLength(1);
      expect(summary, operationId).toMatch(/^[A-Z].*[^.]$/);
      expect(operationId).toMatch(/^[a-z][A-Za-z]+$/);
    }
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("names the scope that each operation needs, and how it is authenticated", () => {
    for (const { operationId, description, security } of operations.filter(({ path }) => path !== "/api/beacon" && !path.startsWith("/pages/"))) {
      const named = /Needs the scope (.*)\.$/.exec(description)?.[1]?.split(" or ").map((each) => each.replaceAll("`", "")) ?? [];
      expect(named.length, operationId).toBeGreaterThan(0);
      for (const scope of named) expect(SCOPES).toContain(scope);
      expect(security[0], operationId).toEqual({ apiKey: [] });
    }
  });

  it("describes each path parameter, each answer and each refusal", () => {
    const statuses = new Set(Object.values(FAILURE_STATUS).map(String));
    for (const { operationId, path, method, parameters = [], responses } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(parameters.filter((each) => each.in === "path" && each.required).map(({ name }) => name), operationId).toEqual(inPath);
      expect(Object.keys(responses).filter((status) => status.startsWith("2")).length, operationId).toBeGreaterThan(0);
      for (const [status, { description, content }] of Object.entries(responses)) {
        expect(description.length, `${method} ${path} ${status}`).toBeGreaterThan(3);
        // Pages are no JSON, nor is what refuses them.
        if (method === "get" && path.startsWith("/pages/")) {
          if (status === "200") expect(Object.values(content!)[0]!.schema, path).toBeDefined();
          continue;
        }
        expect(content?.["application/json"]?.schema, `${method} ${path} ${status}`).toBeDefined();
        if (statuses.has(status)) expect(content!["application/json"]!.schema).toEqual({ $ref: "#/components/schemas/Failure" });
      }
    }
  });

  it("refers to nothing that it does not hold", () => {
    const text = JSON.stringify(document);
    const references = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference!));
    expect(references.size).toBeGreaterThan(5);
    for (const reference of references) {
      expect(reference).toMatch(/^#\/components\/(schemas|headers|parameters)\/[A-Za-z-]+$/);
      expect(document, reference).toHaveProperty(reference.slice("#/".length).split("/"));
    }
    expect(document.components.schemas.Failure?.properties).toHaveProperty("request_id");
  });
});

describe("the reference at /docs", () => {
  it("is served with its script from here, and may load nothing from elsewhere", async () => {
    const redirect = await plane.app.inject({ method: "GET", url: "/docs" });
    expect(redirect.statusCode).toBe(301);
    const page = await plane.app.inject({ method: "GET", url: "/docs/" });
    expect(page.statusCode).toBe(200);
    expect(page.headers["content-security-policy"]).toContain("connect-src 'self'");
    const scripts = [...page.body.matchAll(/<script[^>]+src="([^"]+)"/g)].map(([, source]) => source);
    expect(scripts).toEqual(["js/scalar.js"]);
    const script = await plane.app.inject({ method: "GET", url: "/docs/js/scalar.js" });
    expect(script.headers["content-type"]).toMatch(/javascript/);
    expect(script.body.length).toBeGreaterThan(100_000);
  });

  it("does not stumble over a Host header that is none", async () => {
    expect((await plane.app.inject({ method: "GET", url: "/docs", headers: { host: "a b<c" } })).statusCode).toBe(400);
  });
});
