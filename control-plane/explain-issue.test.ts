import { describe, expect, it } from "vitest";
import { z } from "zod";
import { CreateChannel } from "../schemas/api/channels.ts";
import { CreateHeartbeatMonitor } from "../schemas/api/heartbeat-monitors.ts";
import { CreateService } from "../schemas/api/services.ts";
import { CreateWorkflow } from "../schemas/api/workflows.ts";
import { explainIssues } from "./explain-issue.ts";

const Step = z.discriminatedUnion("type", [z.strictObject({ type: z.literal("wait"), seconds: z.int() }), z.strictObject({ type: z.literal("notify"), message: z.string() })]);
const Body = z.strictObject({
  status: z.enum(["degraded", "partial_outage"]).nullish(),
  events: z.array(z.enum(["incident.created", "incident.resolved"])).optional(),
  either: z.union([z.literal("always"), z.enum(["never", "sometimes"])]).optional(),
  limits: z.partialRecord(z.enum(["error_rate", "cpu_percent"]), z.number()).optional(),
  steps: z.array(Step).optional(),
});

function explain(body: unknown, schema: z.ZodType = Body) {
  const result = schema.safeParse(body, { reportInput: true });
  if (result.success) throw new Error("it is allowed");
  const { message, details } = explainIssues(schema, result.error.issues);
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

const NOTIFY = { type: "notify", channel_id: "c", message: "m" };
const inWorkflow = (...steps: object[]) => ({ name: "w", steps });
// oxlint-disable-next-line unicorn/no-thenable -- a list, never a function
const condition = (then: object[]) => ({ type: "condition", left: "a", op: "eq", right: 1, then });

describe("a body of the API", () => {
  it.each<{ name: string; schema: z.ZodType; body: object; error: string | RegExp; path: string; fix?: string | undefined }>([
    { name: "a step of an unknown type", schema: CreateWorkflow, body: inWorkflow({ ...NOTIFY, type: "notfy" }), error: /^steps\[0\]\.type must be one of http_request, /, path: "/steps/0/type", fix: 'Did you mean "notify"?' },
    { name: "a step without a type", schema: CreateWorkflow, body: inWorkflow({ seconds: 1 }), error: "steps[0].type is required.", path: "/steps/0/type" },
    { name: "a step that is none", schema: CreateWorkflow, body: { name: "w", steps: ["wait"] }, error: "steps[0] must be an object.", path: "/steps/0" },
    { name: "a step's mistyped field", schema: CreateWorkflow, body: inWorkflow({ type: "notify", chanel_id: "c", message: "m" }), error: 'There is no field "chanel_id".', path: "/steps/0/chanel_id", fix: 'Did you mean "channel_id"?' },
    { name: "a field of another type of step", schema: CreateWorkflow, body: inWorkflow({ ...NOTIFY, seconds: 1 }), error: 'There is no field "seconds".', path: "/steps/0/seconds", fix: "Its fields are type, name, channel_id, message." },
    { name: "a step's enumeration", schema: CreateWorkflow, body: inWorkflow({ type: "http_request", method: "PSOT", url: "https://a.example" }), error: /^steps\[0\]\.method must be one of GET, /, path: "/steps/0/method", fix: 'Did you mean "POST"?' },
    { name: "a mistyped field inside two conditions", schema: CreateWorkflow, body: inWorkflow(condition([condition([NOTIFY, { type: "wait", secnods: 1 }])])), error: 'There is no field "secnods".', path: "/steps/0/then/0/then/1/secnods", fix: 'Did you mean "seconds"?' },
    { name: "an unknown type inside a condition", schema: CreateWorkflow, body: inWorkflow(condition([{ type: "wiat", seconds: 1 }])), error: /^steps\[0\]\.then\[0\]\.type must be one of /, path: "/steps/0/then/0/type", fix: 'Did you mean "wait"?' },
    { name: "a condition's mistyped field", schema: CreateWorkflow, body: inWorkflow({ ...condition([]), esle: [] }), error: 'There is no field "esle".', path: "/steps/0/esle", fix: 'Did you mean "else"?' },
    { name: "a side that is of no type that it may have", schema: CreateWorkflow, body: inWorkflow({ ...condition([]), left: null }), error: "steps[0].left must be a text, a number or true or false.", path: "/steps/0/left" },
    { name: "a side that is missing", schema: CreateWorkflow, body: inWorkflow({ ...condition([]), left: undefined }), error: "steps[0].left is required.", path: "/steps/0/left" },
    { name: "a request's body of a wrong type", schema: CreateWorkflow, body: inWorkflow({ type: "http_request", method: "POST", url: "https://a.example", body: 5 }), error: "steps[0].body must be a text, an object or a list.", path: "/steps/0/body" },
    { name: "a request's header", schema: CreateWorkflow, body: inWorkflow({ type: "http_request", method: "POST", url: "https://a.example", headers: { Host: "a" } }), error: /^steps\[0\]\.headers\.Host is a header/, path: "/steps/0/headers/Host" },
    { name: "a trigger's event", schema: CreateWorkflow, body: { ...inWorkflow(NOTIFY), trigger: { type: "event", event: "incident.create" } }, error: /^trigger\.event must be one of /, path: "/trigger/event", fix: 'Did you mean "incident.created"?' },
    { name: "a field of another trigger", schema: CreateWorkflow, body: { ...inWorkflow(NOTIFY), trigger: { type: "schedule", corn: "0 3 * * *" } }, error: 'There is no field "corn".', path: "/trigger/corn", fix: 'Did you mean "cron"?' },
    { name: "a channel's mistyped configuration", schema: CreateChannel, body: { type: "slack", name: "c", config: { webhok_url: "https://a.example" } }, error: 'There is no field "webhok_url".', path: "/config/webhok_url", fix: 'Did you mean "webhook_url"?' },
    { name: "a channel's type", schema: CreateChannel, body: { type: "slak", name: "c", config: {} }, error: /^type must be one of /, path: "/type", fix: 'Did you mean "slack"?' },
    { name: "a monitor's schedule", schema: CreateHeartbeatMonitor, body: { name: "m", slug: "nightly", schedule_type: "intervall" }, error: /^schedule_type must be one of /, path: "/schedule_type", fix: 'Did you mean "interval"?' },
    { name: "a monitor's mistyped field", schema: CreateHeartbeatMonitor, body: { name: "m", slug: "nightly", schedule_type: "interval", intervall_seconds: 60 }, error: 'There is no field "intervall_seconds".', path: "/intervall_seconds", fix: 'Did you mean "interval_seconds"?' },
    { name: "a setting of thresholds", schema: CreateService, body: { name: "s", thresholds: { metrics: {}, create_incidnt: true } }, error: 'There is no field "create_incidnt".', path: "/thresholds/create_incidnt", fix: 'Did you mean "create_incident"?' },
  ])("with $name is told with its place", ({ schema, body, error, path, fix }) => {
    const told = explain(body, schema);
    expect(told.error).toMatch(error);
    expect({ path: told.path, fix: told.fix }).toEqual({ path, fix });
  });
});
