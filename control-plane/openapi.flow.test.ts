import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { FAILURE_STATUS } from "../platform/failures.ts";
import { startTestControlPlane, type TestControlPlane } from "../testing/control-plane.ts";
import { failureCodesOf, scopesOf } from "./openapi.ts";
import { ALL_ROUTES } from "./routes/all.ts";

interface Media {
  schema: object;
  example?: unknown;
}

interface Operation {
  summary: string;
  description: string;
  tags: string[];
  parameters?: { name?: string; $ref?: string }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { description: string; headers?: Record<string, { $ref: string }>; content: Record<string, Media> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; headers: Record<string, object>; parameters: Record<string, object> };
}

let plane: TestControlPlane;
let document: Document;
beforeAll(async () => {
  plane = await startTestControlPlane();
  document = (await plane.app.inject({ method: "GET", url: "/openapi.json" })).json();
});
afterAll(() => plane.stop());

const cases = ALL_ROUTES.map((route) => ({ route, name: `${route.method} ${route.path}` }));

function operationOf({ route }: (typeof cases)[number]): Operation {
  return document.paths[`/api/v1${route.path.replace(/:(\w+)/g, "{$1}")}`]![route.method.toLowerCase()]!;
}

describe.each(cases)("$name", (each) => {
  const { route } = each;

  it("says what it is for, and which scope it needs", () => {
    const { summary, description, tags } = operationOf(each);
    expect(summary).toMatch(/^[A-Z].{3,}[^.]$/);
    expect(tags).toEqual([route.tag]);
    for (const scope of scopesOf(route)) expect(description).toContain(`\`${scope}\``);
  });

  it("names every refusal that it can give, each with an example", () => {
    const { responses } = operationOf(each);
    for (const code of failureCodesOf(route)) {
      const answer = responses[FAILURE_STATUS[code]]!;
      expect(answer.description.split(", "), code).toContain(code);
      expect(answer.content["application/json"]!.example).toMatchObject({ error: expect.any(String) as string, code: expect.any(String) as string, request_id: expect.any(String) as string });
    }
  });

  it("says which headers its answers carry", () => {
    for (const [status, { headers }] of Object.entries(operationOf(each).responses)) {
      for (const name of ["X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]) expect(headers, status).toHaveProperty(name);
    }
    const takesKey = (operationOf(each).parameters ?? []).some(({ $ref }) => $ref === "#/components/parameters/IdempotencyKey");
    expect(takesKey).toBe(route.method === "POST");
  });

  it("shows examples that its own schemas allow", () => {
    const { requestBody, responses } = operationOf(each);
    expect(requestBody === undefined).toBe(route.body === undefined);
    if (requestBody && !route.form) expectAllowed(route.body as z.ZodType, requestBody.content["application/json"]!.example);
    // A file is sent as bytes, and comes as what is known of it.
    if (requestBody && route.form) expectAllowed((route.body as z.ZodObject).partial({ file: true }), { ...(requestBody.content["multipart/form-data"]!.example as object), file: undefined });
    expectAllowed(route.response as z.ZodType, responses[route.status ?? 200]!.content["application/json"]!.example);
  });
});

function expectAllowed(schema: z.ZodType, example: unknown): void {
  const { success, error } = schema.safeParse(example);
  expect({ success, issues: error?.issues, example: success ? null : example }).toEqual({ success: true, issues: undefined, example: null });
}

describe("the document", () => {
  it("holds only what it uses, and all of it", () => {
    const references = new Set([...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)].map(([, kind, name]) => `${kind}/${name}`));
    const held = Object.entries(document.components).flatMap(([kind, entries]) => (kind === "securitySchemes" ? [] : Object.keys(entries).map((name) => `${kind}/${name}`)));
    expect(held.toSorted()).toEqual([...references].toSorted());
  });

  it("is a megabyte at most", () => {
    expect(JSON.stringify(document).length).toBeLessThan(1_000_000);
  });
});
