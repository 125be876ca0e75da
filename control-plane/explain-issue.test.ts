import { describe, expect, it } from "vitest";
import { z } from "zod";
import { explainIssues } from "./explain-issue.ts";

const Step = z.discriminatedUnion("type", [z.strictObject({ type: z.literal("wait"), seconds: z.int() }), z.strictObject({ type: z.literal("notify"), message: z.string() })]);
const Body = z.strictObject({
  status: z.enum(["degraded", "partial_outage"]).nullish(),
  events: z.array(z.enum(["incident.created", "incident.resolved"])).optional(),
  either: z.union([z.literal("always"), z.enum(["never", "sometimes"])]).optional(),
  limits: z.partialRecord(z.enum(["error_rate", "cpu_percent"]), z.number()).optional(),
  steps: z.array(Step).optional(),
});

function explain(body: unknown) {
  const result = Body.safeParse(body, { reportInput: true });
  if (result.success) throw new Error("it is allowed");
  const { message, details } = explainIssues(Body, result.error.issues);
  return { error: message, ...details };
}

describe("a value that is none of the allowed", () => {
  it.each([
    { name: "in a field", body: { status: "degrade" }, error: "status must be one of degraded, partial_outage.", path: "/status", fix: 'Did you mean "degraded"?' },
    { name: "in a field, written large", body: { status: "PARTIAL_OUTAGE" }, error: /^status/, path: "/status", fix: 'Did you mean "partial_outage"?' },
    { name: "in a list", body: { events: ["incident.created", "incident.resovled"] }, error: /^events\[1\] must be one of/, path: "/events/1", fix: 'Did you mean "incident.resolved"?' },
    { name: "in a union of values", body: { either: "alway" }, error: "either must be one of always, never, sometimes.", path: "/either", fix: 'Did you mean "always"?' },
    { name: "as a name", body: { limits: { eror_rate: 1 } }, error: 'There is no field "eror_rate".', path: "/limits/eror_rate", fix: 'Did you mean "error_rate"?' },
    { name: "as the kind of an object", body: { steps: [{ type: "wiat", seconds: 1 }] }, error: "steps[0].type must be one of wait, notify.", path: "/steps/0/type", fix: 'Did you mean "wait"?' },
  ])("$name is told with what was probably meant", ({ body, error, path, fix }) => {
    const told = explain(body);
    expect(told).toMatchObject({ path, fix });
    expect(told.error).toMatch(error);
  });

  it("that is near nothing, or no text, is told without a guess", () => {
    for (const status of ["on fire", 7, {}]) expect(explain({ status })).toEqual({ error: "status must be one of degraded, partial_outage.", path: "/status" });
  });

  it("is required where the kind of an object is missing", () => {
    expect(explain({ steps: [{ seconds: 1 }] })).toEqual({ error: "steps[0].type is required.", path: "/steps/0/type" });
  });
});

describe("an unknown field", () => {
  it("of one kind of an object is told with its place", () => {
    expect(explain({ steps: [{ type: "wait", seconds: 1, secnods: 2 }] })).toMatchObject({ error: 'There is no field "secnods".', path: "/steps/0/secnods", fix: 'Did you mean "seconds"?' });
  });
});
