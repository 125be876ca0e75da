import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { Failure } from "../platform/failures.ts";
import { ChangeManyErrors } from "../schemas/api/errors.ts";
import { CreateWebhook } from "../schemas/api/webhooks.ts";
import { CreateWorkflow } from "../schemas/api/workflows.ts";
import { requireFew } from "./require-few.ts";
import { ALL_ROUTES } from "./routes/all.ts";

function refusalOf(schema: z.ZodType, body: unknown): { error: string; path?: string | undefined } | null {
  try {
    requireFew(schema, body);
    return null;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { error: error.message, path: error.details.path };
  }
}

const entries = (count: number) => Array.from({ length: count }, (_, n) => [`X-${n}`, "é"] as const);
const headers = (count: number) => Object.fromEntries(entries(count));
const fifty = (make: () => object) => Array.from({ length: 50 }, make);
const request = (count: number) => ({ type: "http_request", headers: headers(count) });
// oxlint-disable-next-line unicorn/no-thenable -- a list, never a function
const condition = (then: unknown[]) => ({ type: "condition", then });

describe("a body", () => {
  it.each<[string, z.ZodType, unknown, string, string]>([
    ["a list of too many", ChangeManyErrors, { ids: entries(101) }, "ids must hold at most 100 entries.", "/ids"],
    ["too many headers", CreateWebhook, { headers: headers(21) }, "headers must hold at most 20 entries.", "/headers"],
    ["too many headers in a step", CreateWorkflow, { steps: [condition([request(51)])] }, "steps[0].then[0].headers must hold at most 50 entries.", "/steps/0/then/0/headers"],
    ["too many steps in a condition", CreateWorkflow, { steps: [condition(entries(51))] }, "steps[0].then must hold at most 50 entries.", "/steps/0/then"],
    ["many lists of many", CreateWorkflow, { steps: fifty(() => condition(fifty(() => condition(fifty(() => ({})))))) }, "steps[3].then[45].then must hold at most 10000 entries.", "/steps/3/then/45/then"],
  ])("with %s is refused before it is validated", (_, schema, body, error, path) => {
    expect(refusalOf(schema, body)).toEqual({ error, path });
  });

  it.each<[string, z.ZodType, unknown]>([
    ["as many as are allowed", CreateWebhook, { headers: headers(20), events: entries(100) }],
    ["many values that may be anything", CreateWorkflow, { steps: [{ type: "http_request", body: entries(20_000) }] }],
    ["another type in place of a list", ChangeManyErrors, { ids: { length: 1_000 } }],
    ["another type in place of all", ChangeManyErrors, "ids"],
  ])("with %s is left to the validation", (_, schema, body) => {
    expect(refusalOf(schema, body)).toBeNull();
  });
});

interface JsonSchema {
  type?: string;
  items?: object;
  maxItems?: number;
  additionalProperties?: object | boolean;
  maxProperties?: number;
}

/** Places of lists and records that have no bound and of whose entries each is looked at. */
function unbounded(schema: unknown, path = ""): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { type, items, maxItems, additionalProperties, maxProperties } = schema as JsonSchema;
  const looksAtEach = (inner: object | boolean | undefined) => typeof inner === "object" && Object.keys(inner).length > 0;
  const faulty = (type === "array" && maxItems === undefined && looksAtEach(items)) || (maxProperties === undefined && looksAtEach(additionalProperties));
  return [...(faulty ? [path] : []), ...Object.entries(schema).flatMap(([name, inner]) => unbounded(inner, `${path}/${name}`))];
}

test("every list and every record of a body has a bound", () => {
  const faulty = ALL_ROUTES.flatMap(({ method, path, body }) => (body ? unbounded(z.toJSONSchema(body as z.ZodType, { io: "input", unrepresentable: "any" })).map((place) => `${method} ${path}: ${place}`) : []));
  expect(faulty).toEqual([]);
});
